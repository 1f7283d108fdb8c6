//! Reads the request of a model for the lines that a view left out: `12:40-95`, `12:40`, `12 /pattern/`.

use serde::{Deserialize, Serialize};

use super::earlier_results::lines_of;
use super::rules::{self, LineDfa, RuleFault};

/// Most bytes that one recall gives.
pub const LARGEST: usize = 50 << 10;

/// A request for lines of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallRequest {
    /// The number of the output.
    pub id: u64,
    /// The lines.
    pub wanted: RecallSelection,
}

/// The lines that a recall asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecallSelection {
    /// From a line to a line, both included, from 1, through both streams.
    Lines(usize, usize),
    /// Lines that match a regular expression.
    Pattern(String),
}

/// A recall that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("recall {0:?} is neither lines, \"12:40-95\", nor a pattern, \"12 /pattern/\"")]
pub struct MalformedRecall(String);

/// A pattern that cannot be searched for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern {pattern:?} cannot be searched for: {reason}")]
pub struct UnsearchablePattern {
    pattern: String,
    reason: RuleFault,
}

impl RecallRequest {
    /// Reads a recall.
    ///
    /// # Errors
    /// [`MalformedRecall`]
    pub fn parse(text: &str) -> Result<Self, MalformedRecall> {
        Self::read(text.trim()).ok_or_else(|| MalformedRecall(text.to_owned()))
    }

    fn read(text: &str) -> Option<Self> {
        // A model may copy the number from the closing line: `#12`.
        let text = text.strip_prefix('#').unwrap_or(text);
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let id = text[..digits].parse().ok()?;
        let rest = text[digits..].trim_start();
        if let Some(pattern) = rest.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            return (!pattern.is_empty()).then(|| Self { id, wanted: RecallSelection::Pattern(pattern.to_owned()) });
        }
        let lines = rest.strip_prefix(':')?.trim();
        let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
        let number =
            |text: &str| text.trim().trim_start_matches('L').parse::<usize>().ok().filter(|number| *number > 0);
        let (from, to) = (number(from)?, number(to)?);
        (from <= to).then_some(Self { id, wanted: RecallSelection::Lines(from, to) })
    }
}

/// Returns the lines `from` … `to`, unchanged, and at most [`LARGEST`] bytes of whole lines. A range past the end gives
/// the existing lines.
pub fn lines(text: &str, from: usize, to: usize) -> &str {
    let mut start = 0;
    let mut end = 0;
    for (at, line) in text.split_inclusive('\n').enumerate().take(to) {
        if at + 1 < from {
            start += line.len();
        } else if at + 1 > from && end + line.len() - start > LARGEST {
            break;
        }
        end += line.len();
    }
    let part = &text[start.min(end)..end];
    &part[..part.floor_char_boundary(LARGEST)]
}

/// A search for the lines of an output that match a regular expression: unchanged, and at most [`LARGEST`] bytes of
/// whole lines.
pub struct RecallSearch {
    automaton: LineDfa,
    found: String,
    is_full: bool,
}

impl RecallSearch {
    /// Begins a search. A model wrote the expression, so the search takes one step per byte for any expression.
    ///
    /// # Errors
    /// [`UnsearchablePattern`]
    pub fn new(pattern: &str) -> Result<Self, UnsearchablePattern> {
        let unsearchable = |reason| UnsearchablePattern { pattern: pattern.to_owned(), reason };
        let automaton = rules::compile_pattern(pattern).map_err(unsearchable)?;
        Ok(Self { automaton, found: String::new(), is_full: false })
    }

    /// Searches whole lines, but none that is too long to be given. Returns whether more can be found.
    pub fn push(&mut self, text: &str) -> bool {
        for line in lines_of(text).filter(|line| line.len() < LARGEST && rules::matches(&self.automaton, line)) {
            self.is_full |= self.found.len() + line.len() >= LARGEST;
            if self.is_full {
                break;
            }
            self.found.push_str(line);
            self.found.push('\n');
        }
        !self.is_full
    }

    /// Returns the lines.
    pub fn end(self) -> String {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matching(text: &str, pattern: &str) -> Result<String, UnsearchablePattern> {
        let mut search = RecallSearch::new(pattern)?;
        search.push(text);
        Ok(search.end())
    }

    #[test]
    fn lines_and_patterns_are_read() {
        let lines = |id, from, to| Ok(RecallRequest { id, wanted: RecallSelection::Lines(from, to) });
        assert_eq!(RecallRequest::parse("12:40-95"), lines(12, 40, 95));
        assert_eq!(RecallRequest::parse(" #12: L40-L95 "), lines(12, 40, 95));
        assert_eq!(RecallRequest::parse("12:40"), lines(12, 40, 40));
        assert_eq!(
            RecallRequest::parse("12 /a b/c/"),
            Ok(RecallRequest { id: 12, wanted: RecallSelection::Pattern("a b/c".into()) })
        );
        for text in ["", "12", "12:", "x:1-2", "12:0", "12:5-4", "12 //", "12:1-2-3", "-1:1", "12 pattern"] {
            assert_eq!(RecallRequest::parse(text), Err(MalformedRecall(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn a_range_past_the_end_gives_the_lines_that_are_there() {
        assert_eq!(lines("a\nb\nc", 2, 9), "b\nc");
        assert_eq!(lines("a\nb\n", 3, 9), "");
        assert_eq!(lines("a\nb\n", 1, 1), "a\n");
    }

    #[test]
    fn lines_that_match_a_pattern_are_given() {
        for (pattern, expected) in [
            ("^a", "ab\nae\n"),
            ("e$|d", "cd\nae\n"),
            ("(?i)AB", "ab\n"),
            ("é", "é1\n"),
            (r"\d", "é1\n"),
            ("", "ab\ncd\nae\né1\n"),
        ] {
            assert_eq!(matching("ab\ncd\nae\né1", pattern).as_deref(), Ok(expected), "{pattern}");
        }
        for (pattern, reason) in [
            ("a)(b", "unopened group"),
            ("(?=a)", "look-around, including look-ahead and look-behind, is not supported"),
            ("(a|b)*a(a|b){30}", "it takes too much memory: simplify the patterns"),
            (&"a".repeat(1_001), "a pattern has more than 1000 bytes"),
        ] {
            let expected = format!("the pattern {pattern:?} cannot be searched for: {reason}");
            assert_eq!(matching("ab", pattern).map_err(|error| error.to_string()), Err(expected));
        }
    }

    #[test]
    fn no_pattern_of_a_model_takes_long() {
        let text = format!("{}b", "a".repeat(49_000));
        assert_eq!(matching(&text, "^(a+)+$").as_deref(), Ok(""));
        assert_eq!(matching(&text, "(a|aa)+c").as_deref(), Ok(""));
    }

    #[test]
    fn a_line_that_is_too_long_is_not_searched() {
        let text = format!("a1\n{}\nb1\n", "1".repeat(LARGEST));
        assert_eq!(matching(&text, "1").as_deref(), Ok("a1\nb1\n"));
    }

    #[test]
    fn a_recall_is_bounded() {
        let text = format!("{}\n", "x".repeat(1_000)).repeat(100);
        assert_eq!(lines(&text, 1, 100).len(), 51 * 1_001);
        assert!(matching(&text, "x").is_ok_and(|found| found.len() <= LARGEST));
        assert!(lines(&"x".repeat(100_000), 1, 1).len() <= LARGEST);
    }

    proptest! {
        #[test]
        fn a_recall_is_byte_for_byte_the_original(text in "[a-c\\n]{0,60}", from in 1usize..20, count in 0usize..20) {
            let wanted: String = text.split_inclusive('\n').skip(from - 1).take(count + 1).collect();
            prop_assert_eq!(lines(&text, from, from + count), wanted);
        }
    }
}
