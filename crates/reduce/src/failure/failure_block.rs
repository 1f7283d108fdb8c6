//! The block of the first failure: the lines around it that explain it.
//!
//! A block begins with a failure, or with the header of a failed test, which may have blank lines in its text. A
//! failure that nothing explains, such as `test a ... FAILED` in a list, leaves the block to the next one. Behind a
//! block without a header, the first block with one counts, too.

use super::FailureSeverity;
use super::lines_above::{LinesAboveFailure, is_pointer_line};

/// Longest block, in lines and bytes.
const LINES: usize = 60;
const BYTES: usize = 6 << 10;
/// Most blank lines in a row within a block.
const BLANKS: usize = 2;
/// Most lines of no known form within the text below a header.
const STRANGE: usize = 3;
/// Most blocks that begin.
const BLOCKS: usize = 16;

/// Follows the lines of an output and finds the block of its first failure.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub struct FirstFailureBlock {
    open: Option<OpenFailureBlock>,
    /// Number of blocks so far.
    blocks: usize,
    /// Whether the block of a failure is over, and whether that of a failed test is.
    is_past: bool,
    is_past_headed: bool,
}

/// A block that has begun.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct OpenFailureBlock {
    headed: bool,
    /// The indentation of the first line.
    indent: usize,
    lines: usize,
    bytes: usize,
    /// Lines that belong to the block once another one does: the first, and those above it.
    held: usize,
    /// Blank lines that belong to the block if it goes on.
    blanks: usize,
    strange: usize,
    /// Whether a line tells more than the first one.
    is_explained: bool,
    /// The indentation of the traceback whose frames are read. The error follows them.
    frames: Option<usize>,
    /// Whether the last line announces the next one.
    announces: bool,
    /// Whether the calls of a goroutine are read.
    is_goroutine: bool,
    /// Whether the last line is of the block only if the next one points at it.
    is_doubtful: bool,
}

/// A line as a block sees it.
#[derive(Clone, Copy, Debug)]
pub struct FailureBlockLine<'l> {
    /// The line.
    pub line: &'l str,
    /// How much the line tells about a failure.
    pub severity: FailureSeverity,
    /// Whether the line names the failed test whose text follows.
    pub is_header: bool,
}

impl FirstFailureBlock {
    /// Takes the next line that does not repeat the one before. `above`: the lines before, the last first. Returns how
    /// many lines belong to the block: this line and those right before it, or 0.
    pub fn add_line<'l>(&mut self, seen: FailureBlockLine, above: impl Iterator<Item = &'l str>) -> usize {
        if self.open.is_some() {
            if let Some(taken) = self.continue_block(seen) {
                return taken;
            }
        } else if self.is_past_headed || !may_open(seen) {
            return 0;
        }
        let text = seen.line.trim();
        let above = LinesAboveFailure::of(above);
        let opens = seen.is_header
            || !self.is_past && (seen.severity == FailureSeverity::Failure || above.is_place_of_finding(text));
        if !opens || self.is_past_headed {
            return 0;
        }
        self.blocks += 1;
        let mut open =
            OpenFailureBlock { headed: seen.is_header, indent: indent(seen.line), ..OpenFailureBlock::default() };
        open.take(seen, text);
        open.is_explained = false;
        open.held = 1 + above.leading_lines(text);
        self.open = Some(open);
        0
    }

    /// Takes a line within a block. Returns how many lines belong to the block, or `None` if the block is over.
    fn continue_block(&mut self, seen: FailureBlockLine) -> Option<usize> {
        let open = self.open.as_mut()?;
        let text = seen.line.trim();
        if text.is_empty() && !open.is_doubtful {
            open.blanks += 1;
            open.is_goroutine = false;
            return Some(0);
        }
        if std::mem::take(&mut open.is_doubtful) {
            if is_pointer_line(text) {
                return Some(1 + open.take(seen, text));
            }
        } else if open.belongs(seen, text) {
            return Some(open.take(seen, text));
        } else if open.blanks == 0 && !seen.is_header && !super::test_headers::is_behind_blocks(seen.line) {
            open.is_doubtful = true;
            return Some(0);
        }
        self.close();
        None
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.is_past |= open.lines > 1 && (open.is_explained || !open.headed);
        self.is_past_headed |= open.headed && open.is_explained || self.blocks >= BLOCKS;
    }
}

/// Returns whether a line may be the first of a block, as far as it tells alone.
fn may_open(FailureBlockLine { line, severity, is_header }: FailureBlockLine) -> bool {
    let first = || line.bytes().find(|byte| *byte != b' ');
    is_header || severity == FailureSeverity::Failure || first() == Some(b'-') && line.trim_start().starts_with("--> ")
}

impl OpenFailureBlock {
    /// Adds a line. Returns how many lines belong to the block: this line and the blank ones before it, or 0 if the
    /// block is full.
    fn take(&mut self, FailureBlockLine { line, severity, is_header }: FailureBlockLine, text: &str) -> usize {
        let taken = 1 + std::mem::take(&mut self.blanks);
        self.is_explained |= self.lines == 1 && indent(line) > self.indent;
        self.lines += taken;
        self.bytes += line.len() + taken;
        let has_frames = text.ends_with("(most recent call last):");
        self.is_explained |= !is_header && (severity >= FailureSeverity::Mention || explains_failure(text));
        self.frames = if has_frames { Some(indent(line)) } else { self.frames.filter(|&frames| indent(line) > frames) };
        self.announces = text.ends_with(':');
        self.is_goroutine |= text.starts_with("goroutine ");
        if self.lines > LINES || self.bytes > BYTES { 0 } else { taken + std::mem::take(&mut self.held) }
    }

    /// Returns whether a line belongs to the block.
    fn belongs(&mut self, FailureBlockLine { line, severity, is_header }: FailureBlockLine, text: &str) -> bool {
        let (indent, behind_blank) = (indent(line), self.blanks > 0);
        if self.lines >= LINES || self.bytes >= BYTES || self.blanks > BLANKS {
            return false;
        }
        if is_header {
            return indent > self.indent;
        }
        if self.headed && super::test_headers::is_behind_blocks(line) {
            return false;
        }
        if indent > self.indent || !behind_blank && (self.is_goroutine || self.announces || self.frames.is_some()) {
            return true;
        }
        if behind_blank {
            let is_chained = self.announces && text.starts_with("Traceback (");
            return is_chained || explains_failure(text) || is_row(text) || self.headed && resumes(text, severity);
        }
        if continues(line, text, severity) {
            return true;
        }
        self.strange += 1;
        self.headed && self.strange <= STRANGE
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns whether a line continues the message of the line before.
fn continues(line: &str, text: &str, severity: FailureSeverity) -> bool {
    line.starts_with([' ', '\t'])
        || severity >= FailureSeverity::Mention
        || text.starts_with(['|', '>', '+', '-', '^', '~', '=', '│', '╰', '╭', '❯', '}'])
        || text.starts_with("[signal ")
        || text.starts_with("#") && text[1..].starts_with(|c: char| c.is_ascii_digit())
        || explains_failure(text)
        || is_row(text)
}

/// Returns whether a line begins like one that explains a failure.
fn explains_failure(text: &str) -> bool {
    const STARTS: [&str; 23] = [
        "at ",
        "note:",
        "help:",
        "hint:",
        "left:",
        "right:",
        "expected",
        "received",
        "actual",
        "got",
        "caused by",
        "goroutine ",
        "stack ",
        "stacktrace",
        "during handling of",
        "the above exception",
        "created by ",
        "thrown in ",
        "- expected",
        "+ received",
        "(fail) ",
        "❯ ",
        "from ",
    ];
    text.starts_with("- ") || text.starts_with("+ ") || STARTS.iter().any(|start| begins(text, start))
}

fn begins(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Returns whether a line is a row of the source in a message: `3 | let x`, `3   let x`.
fn is_row(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    (1..6).contains(&digits) && (rest.trim_start().starts_with("| ") || rest.trim() == "|" || rest.starts_with("  "))
}

/// Returns whether a paragraph that begins like this belongs to the text below a header: `tests/a.py:3: ValueError`,
/// `client = <Client>`, `_ _ _ _ _`.
fn resumes(text: &str, severity: FailureSeverity) -> bool {
    let name = text.bytes().take_while(|&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    severity >= FailureSeverity::Mention
        || text.starts_with('>')
        || text.starts_with("_ _")
        || super::lines_above::is_bare_place(text)
        || super::is_place(text)
        || name > 0 && text[name..].starts_with(" = ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{severity, test_headers};

    fn block_of(text: &str) -> Vec<&str> {
        let mut block = FirstFailureBlock::default();
        let lines: Vec<&str> = text.lines().collect();
        let mut inside = vec![false; lines.len()];
        for (at, line) in lines.iter().enumerate() {
            let seen = FailureBlockLine { line, severity: severity(line), is_header: test_headers::is_header(line) };
            let taken = block.add_line(seen, lines[..at].iter().rev().copied());
            inside[at + 1 - taken..=at].fill(true);
        }
        lines.iter().zip(inside).filter(|(_, inside)| *inside).map(|(line, _)| *line).collect()
    }

    #[test]
    fn a_block_ends_with_the_paragraph_of_its_failure() {
        let text = "building\nerror[E0308]: mismatched types\n --> src/a.rs:3:5\n  |\n3 |     1\n  |     ^ expected\n\nwarning: x";
        assert_eq!(block_of(text), text.lines().skip(1).take(5).collect::<Vec<_>>());
    }

    #[test]
    fn a_traceback_ends_with_its_error() {
        let text =
            "run\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nValueError: no\nnext";
        assert_eq!(block_of(text), text.lines().skip(1).take(4).collect::<Vec<_>>());
    }

    #[test]
    fn only_the_first_failure_has_a_block() {
        assert_eq!(block_of("error: a\n  b\n\nerror: c\n  d"), ["error: a", "  b"]);
    }

    #[test]
    fn a_failure_without_an_explanation_leaves_the_block_to_the_next() {
        let text = "test a ... FAILED\ntest b ... ok\n\n---- a stdout ----\nwrong: no\n";
        assert_eq!(block_of(text), ["---- a stdout ----", "wrong: no"]);
    }

    #[test]
    fn the_source_above_an_error_belongs_to_it() {
        let text = "x\n/srv/a.js:3\n  throw new TypeError('no');\n  ^\n\nTypeError: no\n    at f (/srv/a.js:3:9)\n";
        assert_eq!(block_of(text), text.lines().skip(1).collect::<Vec<_>>());
    }

    #[test]
    fn a_block_is_bounded() {
        let text = format!("error: a\n{}", "  b\n".repeat(100));
        assert_eq!(block_of(&text).len(), LINES);
    }
}
