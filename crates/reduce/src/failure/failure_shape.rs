//! The forms in which tools report a failure: how a line begins, and how it ends.

use super::line_prefix;

/// Returns whether a line reports a success, whatever its words are: `✓ handles errors`, `test fails ... ok`.
pub(super) fn is_success(line: &str) -> bool {
    let text = line.trim();
    if text.starts_with(['✓', '√', '✔', '✅', '☑', '·']) || text.starts_with("ok ") || text.starts_with("--- PASS")
    {
        return true;
    }
    const STARTS: [&str; 6] = ["PASS ", "PASSED ", "SKIPPED ", "SKIP ", "XFAIL ", "XPASS "];
    const ENDS: [&str; 6] = ["... ok", " PASSED", " PASS", " passed", "... expected failure", "... skipped"];
    ENDS.iter().any(|end| text.ends_with(end)) && !counts_failures(text)
        || STARTS.iter().any(|start| text.starts_with(start))
        || text.ends_with(']') && text.contains(" PASSED  ")
        || text.ends_with("%]") && text.contains(" PASSED ")
}

fn counts_failures(text: &str) -> bool {
    super::failure_words::find(text.as_bytes()).counted
}

/// Returns whether a line reports a failure by its form. `rest` is the line's text without times and tags.
pub(super) fn is_failure(line: &str, rest: &str, is_source: bool) -> bool {
    if line.starts_with("E  ") && line.trim_start_matches(['E', ' ']).len() > 1 {
        return true;
    }
    // ESLint puts the sign before warnings, too.
    if line_prefix::after_sign(rest).is_some_and(|said| !said.contains("(0 errors")) {
        return true;
    }
    if begins_with_failure(rest) || line_prefix::after_place(rest).is_some_and(is_failure_behind_place) {
        return true;
    }
    !is_source
        && (ends_with_failure(rest)
            || is_raised_error(line.trim())
            || is_program_failure(rest)
            || has_level(line)
            || is_linted(line.trim_start()))
}

/// Returns whether a text looks like `12:5  error  'x' is not defined  no-undef`.
fn is_linted(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let line = digits(text);
    let Some(rest) = text[line..].strip_prefix(':').filter(|_| line > 0) else { return false };
    let column = digits(rest);
    column > 0 && rest[column..].trim_start().starts_with("error") && rest[column..].starts_with(' ')
}

/// Returns whether a line has the level of a log: a word in capitals near the start of the line.
fn has_level(line: &str) -> bool {
    const LEVELS: [&str; 7] = ["ERROR", "FATAL", "CRITICAL", "SEVERE", "PANIC", "EMERG", "ALERT"];
    let head = &line[..line.floor_char_boundary(line.len().min(80))];
    let is_capital = |pair: &[u8]| pair.iter().all(u8::is_ascii_uppercase);
    head.as_bytes().windows(2).any(is_capital)
        && head
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')))
            .any(|word| LEVELS.contains(&word))
}

/// `src/a.c:12:5: error: …`, `a.py:12: AssertionError`.
fn is_failure_behind_place(text: &str) -> bool {
    let lower = lowered(text);
    const STARTS: [&str; 8] =
        ["error", "fatal", "undefined", "failed", "failure", "syntax error", "cannot ", "undeclared"];
    STARTS.iter().any(|start| lower.starts_with(start))
        || kind_at_start(text)
        || lower.contains("expected ")
        || lower.starts_with("got ") && lower.contains("want ")
        || lower.contains(" error:")
        || lower.contains(" error ")
        || [
            " is not ",
            " undefined",
            "too many errors",
            " not found",
            "not declared",
            "no required module",
            "imported and not used",
            "declared and not used",
            "cannot use",
        ]
        .iter()
        .any(|phrase| lower.contains(phrase))
}

/// Returns the start of a text in lower case, long enough for any phrase.
fn lowered(text: &str) -> String {
    text[..text.floor_char_boundary(text.len().min(300))].to_ascii_lowercase()
}

fn begins_with_failure(text: &str) -> bool {
    if kind_at_start(text) {
        return true;
    }
    let first = text.bytes().next().map(|byte| byte.to_ascii_lowercase());
    if !first.is_some_and(|first| FIRST[usize::from(first)]) {
        return false;
    }
    let lower = lowered(text);
    let has_start = |(start, next): &(&str, RequiredFollowingText)| {
        lower.strip_prefix(start).is_some_and(|rest| !counts_none(rest) && next.allows(&text[..start.len()], rest))
    };
    is_error_doing(&lower) || STARTS.iter().any(has_start)
}

/// `a.rb:3:in 'f': no orders (RuntimeError)`, `** (RuntimeError) no orders`, `Failed Orders.Sum [4 ms]`.
fn is_raised_error(text: &str) -> bool {
    let kind = match text.strip_prefix("** (") {
        Some(rest) => rest.split(')').next(),
        None => text.strip_suffix(')').and_then(|head| head.rsplit_once(" (")).map(|(_, kind)| kind),
    };
    kind.is_some_and(kind_at_start) || text.starts_with("Failed ") && text.ends_with("s]")
}

/// `Error processing line 3`
fn is_error_doing(lower: &str) -> bool {
    lower
        .strip_prefix("error ")
        .and_then(|rest| rest.split(' ').next())
        .is_some_and(|word| word.ends_with("ing") && word != "handling")
}

/// `Failures: 0`
fn counts_none(behind: &str) -> bool {
    let count = behind.trim_start_matches([':', '=', ' ']);
    count.len() < behind.len()
        && count.starts_with('0')
        && count.trim_start_matches('0').bytes().next().is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// The text that must follow a start.
#[derive(Clone, Copy)]
enum RequiredFollowingText {
    Any,
    /// A sign that ends the word of a message.
    Sign,
    /// The end of the word if the word is in capitals, otherwise a colon.
    Capital,
}

impl RequiredFollowingText {
    /// Returns whether `rest`, in lower case, may follow a start.
    fn allows(self, start: &str, rest: &str) -> bool {
        let ends_word = |byte: u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-' | b'.' | b'/');
        match self {
            Self::Any => true,
            Self::Sign => rest.is_empty() || rest.starts_with([':', '[', '(', '!', '=', ']']),
            Self::Capital => {
                !start.bytes().any(|byte| byte.is_ascii_lowercase()) && rest.bytes().next().is_none_or(ends_word)
                    || rest.starts_with([':', '!'])
            }
        }
    }
}

const STARTS: [(&str, RequiredFollowingText); 84] = [
    ("failed asserting ", RequiredFollowingText::Any),
    ("error [", RequiredFollowingText::Any),
    ("fatal runtime", RequiredFollowingText::Any),
    ("rake aborted", RequiredFollowingText::Any),
    ("unknown flag", RequiredFollowingText::Any),
    ("unknown option", RequiredFollowingText::Any),
    ("unrecognized ", RequiredFollowingText::Any),
    ("invalid option", RequiredFollowingText::Any),
    ("terminate called", RequiredFollowingText::Any),
    ("automatic merge failed", RequiredFollowingText::Any),
    ("failure/error", RequiredFollowingText::Any),
    ("what went wrong", RequiredFollowingText::Any),
    ("rspec ./", RequiredFollowingText::Any),
    ("http/1.1 4", RequiredFollowingText::Any),
    ("http/1.1 5", RequiredFollowingText::Any),
    ("http/2 4", RequiredFollowingText::Any),
    ("http/2 5", RequiredFollowingText::Any),
    ("< http/1.1 4", RequiredFollowingText::Any),
    ("< http/1.1 5", RequiredFollowingText::Any),
    ("< http/2 4", RequiredFollowingText::Any),
    ("< http/2 5", RequiredFollowingText::Any),
    ("error", RequiredFollowingText::Sign),
    ("error", RequiredFollowingText::Capital),
    ("error ts", RequiredFollowingText::Any),
    ("error in ", RequiredFollowingText::Any),
    ("error while ", RequiredFollowingText::Any),
    ("error when ", RequiredFollowingText::Any),
    ("error response", RequiredFollowingText::Any),
    ("errors", RequiredFollowingText::Sign),
    ("err", RequiredFollowingText::Sign),
    ("[error", RequiredFollowingText::Any),
    ("[fatal", RequiredFollowingText::Any),
    ("[fail", RequiredFollowingText::Any),
    ("[err", RequiredFollowingText::Sign),
    ("fatal", RequiredFollowingText::Sign),
    ("fatal", RequiredFollowingText::Capital),
    ("fatal error", RequiredFollowingText::Any),
    ("fail", RequiredFollowingText::Capital),
    ("failed", RequiredFollowingText::Capital),
    ("failed to ", RequiredFollowingText::Any),
    ("failures", RequiredFollowingText::Capital),
    ("failure", RequiredFollowingText::Capital),
    ("--- fail", RequiredFollowingText::Any),
    ("panic", RequiredFollowingText::Sign),
    ("panicked", RequiredFollowingText::Any),
    ("critical", RequiredFollowingText::Capital),
    ("severe", RequiredFollowingText::Capital),
    ("exception", RequiredFollowingText::Sign),
    ("exception in ", RequiredFollowingText::Any),
    ("exception caught", RequiredFollowingText::Any),
    ("unhandled", RequiredFollowingText::Any),
    ("uncaught", RequiredFollowingText::Any),
    ("traceback (most recent", RequiredFollowingText::Any),
    ("caused by", RequiredFollowingText::Sign),
    ("not ok", RequiredFollowingText::Any),
    ("cannot ", RequiredFollowingText::Any),
    ("can't ", RequiredFollowingText::Any),
    ("could not ", RequiredFollowingText::Any),
    ("couldn't ", RequiredFollowingText::Any),
    ("unable to ", RequiredFollowingText::Any),
    ("no such ", RequiredFollowingText::Any),
    ("no matching ", RequiredFollowingText::Any),
    ("permission denied", RequiredFollowingText::Any),
    ("access denied", RequiredFollowingText::Any),
    ("segmentation fault", RequiredFollowingText::Any),
    ("bus error", RequiredFollowingText::Any),
    ("aborted", RequiredFollowingText::Sign),
    ("abort", RequiredFollowingText::Sign),
    ("killed", RequiredFollowingText::Sign),
    ("oomkilled", RequiredFollowingText::Any),
    ("out of memory", RequiredFollowingText::Any),
    ("syntax error", RequiredFollowingText::Any),
    ("syntaxerror", RequiredFollowingText::Any),
    ("assertion", RequiredFollowingText::Sign),
    ("assertion failed", RequiredFollowingText::Any),
    ("assertion `", RequiredFollowingText::Any),
    ("npm err", RequiredFollowingText::Any),
    ("err_", RequiredFollowingText::Any),
    ("cmake error", RequiredFollowingText::Any),
    ("compilation failed", RequiredFollowingText::Any),
    ("compile error", RequiredFollowingText::Any),
    ("build failed", RequiredFollowingText::Any),
    ("conflict (", RequiredFollowingText::Any),
    ("e: ", RequiredFollowingText::Any),
];

/// First bytes of the starts. Most texts begin with another byte.
static FIRST: [bool; 256] = {
    let mut first = [false; 256];
    let mut at = 0;
    while at < STARTS.len() {
        first[STARTS[at].0.as_bytes()[0] as usize] = true;
        at += 1;
    }
    first
};

/// `TypeError: …`, `java.lang.NullPointerException`, `pkg.CustomError`, `AssertionError [ERR_ASSERTION]: …`.
fn kind_at_start(text: &str) -> bool {
    let end =
        text.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b':')));
    let word = text[..end.unwrap_or(text.len())].trim_end_matches([':', '.']);
    let ended = end.is_none_or(|end| text[..end].ends_with(':') || text[end..].starts_with(['[', '(', ' ']));
    let name = word.rsplit(['.', ':', '$']).next().unwrap_or(word);
    ended
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase())
        && ["Error", "Exception", "Panic", "Failure"].iter().any(|kind| name.ends_with(kind))
        && (text.len() == word.len() || text[word.len()..].starts_with([':', ' ', '[']))
        && (name.len() >= "KeyError".len() || text[word.len()..].starts_with(':') || word.contains('.'))
}

/// `tests/a.py::b FAILED`, `> Task :x FAILED`, `build (3) failed`.
fn ends_with_failure(text: &str) -> bool {
    let text = text.trim_end();
    let text = text.strip_suffix("%]").map_or(text, |head| {
        head.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ').trim_end_matches('[').trim_end()
    });
    const CAPITALS: [&str; 9] =
        ["[FAIL]", "[FAILED]", "[ERROR]", " FAILED", " FAIL", " ERROR", " FAILURE", "\tFAIL", "...FAILED"];
    const ANY: [&str; 22] = [
        " failed",
        " failed.",
        " failed!",
        "command not found",
        "no such file or directory",
        "permission denied",
        "(core dumped)",
        "segmentation fault",
        " killed",
        "connection refused",
        "access denied",
        " not found",
        " not found.",
        " timed out",
        " unreachable",
        "not a directory",
        "is a directory",
        "file exists",
        "broken pipe",
        "not permitted",
        " aborted",
        " does not exist",
    ];
    if text.contains(" FAILED in ") {
        return true;
    }
    if CAPITALS.iter().any(|end| text.ends_with(end))
        || matches!(text, "FAILED" | "FAIL" | "ERROR" | "Killed" | "Aborted" | "Terminated")
    {
        return true;
    }
    let tail = text[text.ceil_char_boundary(text.len().saturating_sub(40))..].to_ascii_lowercase();
    ANY.iter().any(|end| tail.ends_with(end)) && !tail.ends_with("0 failed")
}

/// Returns whether a program puts its name before a failure: `ld: symbol(s) not found`, `make: *** …`, `curl: (7) …`,
/// `git: …`.
fn is_program_failure(text: &str) -> bool {
    let Some(end) = text.bytes().take(80).position(|byte| byte == b':') else { return false };
    let name = &text[..end];
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '[' | ']');
    if name.is_empty() || !name.chars().all(plain) {
        return false;
    }
    let rest = text[end + 1..].trim_start();
    if rest.starts_with("*** ") || line_prefix::after_place(rest).is_some_and(is_failure_behind_place) {
        return true;
    }
    if let Some(code) = rest.strip_prefix('(').filter(|_| name == "curl") {
        return code.starts_with(|c: char| c.is_ascii_digit());
    }
    let lower = lowered(rest);
    if lower.contains(" not found") && !["warning", "note", "info", "debug", "hint"].contains(&name) {
        return true;
    }
    const STARTS: [&str; 25] = [
        "bad ",
        "error",
        "fatal",
        "cannot ",
        "can't ",
        "could not ",
        "unable to ",
        "failed",
        "invalid ",
        "unknown ",
        "unrecognized ",
        "no such ",
        "not found",
        "permission denied",
        "command not found",
        "missing ",
        "symbol(s) not found",
        "undefined ",
        "syntax error",
        "no rule to make",
        "unexpected ",
        "illegal ",
        "unsupported ",
        "no match",
        "too many ",
    ];
    STARTS.iter().any(|start| lower.starts_with(start))
        && !lower.starts_with("failed: 0")
        && !lower.starts_with("error-")
}
