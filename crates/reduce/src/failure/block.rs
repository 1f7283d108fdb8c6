//! The block of the first failure: the lines behind it that explain it.

use super::Severity;

/// Longest block, in lines and bytes.
const LINES: usize = 40;
const BYTES: usize = 4 << 10;

/// Follows the lines of an output and finds the block of its first failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    state: State,
    lines: usize,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Before,
    Inside,
    /// In the frames of a traceback. The error follows them.
    Frames,
    After,
}

impl Block {
    /// Takes the next line. Returns whether the line belongs to the block of the first failure, including the failure
    /// itself.
    pub fn next(&mut self, line: &str, severity: Severity) -> bool {
        match self.state {
            State::After => return false,
            State::Before if severity < Severity::Failure => return false,
            State::Before => {
                let has_frames = line.trim_end().ends_with("(most recent call last):");
                self.state = if has_frames { State::Frames } else { State::Inside };
            }
            State::Frames if !line.starts_with([' ', '\t']) && !line.is_empty() => self.state = State::Inside,
            State::Frames => {}
            State::Inside if continues(line, severity) => {}
            State::Inside => self.state = State::After,
        }
        self.lines += 1;
        self.bytes += line.len() + 1;
        if self.lines > LINES || self.bytes > BYTES {
            self.state = State::After;
        }
        self.state != State::After
    }
}

/// Returns whether a line continues the message of the line before.
fn continues(line: &str, severity: Severity) -> bool {
    let text = line.trim_start();
    if text.is_empty() {
        return false;
    }
    text.len() < line.len()
        || severity >= Severity::Mention
        || text.starts_with(['|', '>', '+', '-', '^', '~', '=', '│', '╰', '╭'])
        || ["at ", "note:", "help:", "hint:", "left:", "right:", "expected", "got", "caused by", "goroutine "]
            .iter()
            .any(|start| text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start)))
        || text.bytes().take_while(u8::is_ascii_digit).count() > 0 && text.contains(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::severity;

    fn block_of(text: &str) -> Vec<&str> {
        let mut block = Block::default();
        text.lines().filter(|line| block.next(line, severity(line))).collect()
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
    fn a_block_is_bounded() {
        let text = format!("error: a\n{}", "  b\n".repeat(100));
        assert_eq!(block_of(&text).len(), LINES);
    }
}
