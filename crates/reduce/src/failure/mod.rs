//! Tells which lines report a failure. Each line is judged by itself, by its words and by their place in the line.
//!
//! A *failure* has a form that tools use: at the start of the line or behind a place, as the outcome at the line's end,
//! or in a set phrase. A *mention* only has a word of failure. Source code that quotes such a word is neither.

mod failure_block;
mod failure_context;
mod failure_phrases;
mod failure_shape;
mod failure_words;
mod line_prefix;
mod lines_above;
mod source_code;
mod test_headers;
mod test_names;

pub use failure_block::{FailureBlockLine, FirstFailureBlock};
pub use failure_context::FailureContext;
pub use test_headers::TestHeaders;
pub use test_names::RecentTestNames;

/// How much a line tells about a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureSeverity {
    /// Nothing.
    #[default]
    None,
    /// A warning.
    Warning,
    /// A word of failure.
    Mention,
    /// A failure.
    Failure,
}

/// Longest part of a line that is judged, at each of its ends, in bytes.
const JUDGED: usize = 600;

/// The judgement of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineJudgement {
    /// The severity.
    pub severity: FailureSeverity,
    /// Whether the line may be a summary.
    pub summary: bool,
    /// Whether the line may have a number.
    pub digit: bool,
    /// Whether the line may begin with a place.
    pub place: bool,
    /// Whether the line may be a mark in brackets.
    pub bracket: bool,
}

/// Judges a line.
pub fn severity(line: &str) -> FailureSeverity {
    judge_line(line).severity
}

/// Judges a line, and tells whether it contains a word of a summary.
pub fn judge_line(line: &str) -> LineJudgement {
    if line.len() > 2 * JUDGED {
        let start = severity(&line[..line.floor_char_boundary(JUDGED)]);
        let end = line.ceil_char_boundary(line.len() - JUDGED);
        return LineJudgement {
            severity: start.max(of_end(&line[end..])),
            summary: false,
            digit: true,
            place: true,
            bracket: true,
        };
    }
    let words = failure_words::find(line.as_bytes());
    let failure_words::FailureWords { digit, place, bracket, .. } = words;
    LineJudgement { severity: of_words(line, words), summary: words.summary || words.any, digit, place, bracket }
}

fn of_words(line: &str, words: failure_words::FailureWords) -> FailureSeverity {
    if words.digit && is_numbered(line) {
        let is_outcome = line.ends_with(") Failure:") || line.ends_with(") Error:");
        return if is_outcome { FailureSeverity::Failure } else { FailureSeverity::Mention };
    }
    let may_fail = words.any || line.starts_with('E') || words.foreign && line_prefix::has_sign(line);
    if !may_fail {
        return FailureSeverity::None;
    }
    if failure_shape::is_success(line) {
        return FailureSeverity::None;
    }
    if is_probe(line) {
        return FailureSeverity::Mention;
    }
    if line_prefix::is_search_row(line) {
        // A row of a search, `path:12:text`, holds code or prose. Tools write a blank behind the place.
        return FailureSeverity::None;
    }
    let is_source = source_code::is_source(line);
    let rest = line_prefix::strip_prefixes(line);
    if failure_shape::is_failure(line, rest, is_source) || !is_source && failure_phrases::is_failure(line, &words) {
        return FailureSeverity::Failure;
    }
    if is_source {
        return FailureSeverity::None;
    }
    match words {
        failure_words::FailureWords { failure: true, .. } => FailureSeverity::Mention,
        failure_words::FailureWords { warning: true, .. } => FailureSeverity::Warning,
        _ => FailureSeverity::None,
    }
}

/// Returns whether a line is the title of a failed test as mocha, rspec and PHPUnit number it: `  1) orders stay
/// sorted`, `1) OrdersTest::testSorted`.
fn is_numbered(line: &str) -> bool {
    let text = line.trim_start_matches(' ');
    let lead = line.len() - text.len();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    lead <= 8 && digits > 0 && text[digits..].starts_with(") ") && (lead > 0 || text.contains("::"))
}

/// Returns whether a line is the outcome of a check of CMake. A build looks for much that it does not need.
fn is_probe(line: &str) -> bool {
    let Some(check) = line.strip_prefix("-- ") else { return false };
    ["Looking for ", "Performing Test ", "Check "].iter().any(|start| check.starts_with(start))
}

/// Returns whether a line has the form of a message of a program. No row of a search or a list has this form.
pub fn is_program_message(line: &str) -> bool {
    const PROGRAMS: [&str; 14] =
        ["grep", "rg", "egrep", "ls", "find", "fd", "git", "bash", "sh", "zsh", "fatal", "error", "xargs", "du"];
    let Some((name, rest)) = line.split_once(':') else { return false };
    rest.starts_with(' ') && PROGRAMS.contains(&name.rsplit('/').next().unwrap_or(name))
}

/// Returns whether a line begins with a place in a file.
pub fn is_place(line: &str) -> bool {
    line_prefix::after_place(line.trim_start()).is_some()
}

/// Judges the end of a long line, which has no start of its own.
fn of_end(end: &str) -> FailureSeverity {
    let words = failure_words::find(end.as_bytes());
    if words.failure { FailureSeverity::Mention } else { FailureSeverity::None }
}

#[cfg(test)]
mod tests;
