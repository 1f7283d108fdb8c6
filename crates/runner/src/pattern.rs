//! A regular expression that is searched in output as it arrives.
//!
//! Patterns come from JavaScript and mean the same here, lookbehind and back references included. So regress matches
//! them, and not the crate regex, which has neither.

use std::fs::File;
use std::io;

use regress::Regex;

use protocol::task::TaskLogReader;

/// The longest distance that a match may reach back, bytes.
pub const WINDOW: usize = 64 * 1024;

/// An ECMAScript regular expression.
#[derive(Debug)]
pub struct JsPattern(Regex);

/// A pattern that is no regular expression.
#[derive(Debug, thiserror::Error)]
#[error("pattern: {}", self.reason())]
pub struct JsPatternError {
    pattern: String,
    source: regress::Error,
}

impl JsPatternError {
    /// Returns the pattern and its fault, without the name of an option.
    pub fn reason(&self) -> String {
        format!("{:?} is not a regular expression: {}", self.pattern, self.source)
    }
}

impl JsPattern {
    /// Compiles a pattern with `flags` of JavaScript. `g` and `y`, which say where a match may begin, make no
    /// difference here.
    ///
    /// # Errors
    /// [`JsPatternError`]
    pub fn new(source: &str, flags: &str) -> Result<Self, JsPatternError> {
        let flags: String = flags.chars().filter(|flag| !matches!(flag, 'g' | 'y' | 'd')).collect();
        let invalid = |error| JsPatternError { pattern: source.to_owned(), source: error };
        Regex::with_flags(source, flags.as_str()).map(Self).map_err(invalid)
    }

    /// Returns the first match in a text, as a range of bytes.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<std::ops::Range<usize>> {
        self.0.find(text).map(|found| found.range())
    }
}

/// Searches the part of a log that was not searched yet.
pub(super) struct LogSearch {
    pattern: JsPattern,
    window: String,
    /// Whether the window begins after the start of the output. Its first character then only serves as context.
    cut: bool,
    /// The end of the part of the log that was searched.
    pub at: u64,
}

impl LogSearch {
    pub fn new(pattern: JsPattern, start: u64) -> Self {
        Self { pattern, window: String::new(), cut: false, at: start }
    }

    /// Returns whether the pattern matches in the log up to `end`.
    pub fn matches_log(&mut self, file: File, end: u64) -> io::Result<bool> {
        if self.at >= end {
            return Ok(self.at == 0 && self.matches_with(""));
        }
        let mut text = TaskLogReader::of(file, self.at, end)?;
        while let Some(piece) = text.piece()? {
            self.at += piece.len() as u64;
            self.window.push_str(&piece);
            if self.matches_with("") {
                return Ok(true);
            }
            let start = self.window.floor_char_boundary(self.window.len().saturating_sub(WINDOW));
            if start > 0 {
                self.window.drain(..start);
                self.cut = true;
            }
        }
        self.at = end;
        Ok(false)
    }

    /// Returns whether the pattern matches together with one of these unfinished lines.
    pub fn matches_pending(&self, pending: &[String]) -> bool {
        pending.iter().any(|line| !line.is_empty() && self.matches_with(line))
    }

    fn matches_with(&self, more: &str) -> bool {
        let joined;
        let text = if more.is_empty() {
            &self.window
        } else {
            joined = format!("{}{more}", self.window);
            &joined
        };
        let start = if self.cut { text.chars().next().map_or(0, char::len_utf8) } else { 0 };
        self.pattern.0.find_from(text, start).next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn found(source: &str, flags: &str, pieces: &[&str]) -> bool {
        let named = tempfile::NamedTempFile::new().expect("a file");
        let mut search = LogSearch::new(JsPattern::new(source, flags).expect("valid"), 0);
        let mut found = false;
        for piece in pieces {
            named.as_file().write_all(piece.as_bytes()).expect("written");
            let end = named.as_file().metadata().expect("length").len();
            found |= search.matches_log(File::open(named.path()).expect("there"), end).expect("read");
        }
        found
    }

    #[test]
    fn matches_are_those_of_javascript() {
        assert!(found(r"listening on \d+", "", &["server listening o", "n 3000\n"]));
        assert!(found("^ready$", "m", &["one\n", "ready\n"]));
        assert!(!found("^ready", "", &["one\n", "ready\n"]));
        assert!(found("READY", "gi", &["it is ready"]));
        assert!(found("(?<=port )3000(?!0)", "", &["port 3000 "]));
        let message = JsPattern::new("(", "").expect_err("unbalanced").to_string();
        assert!(message.starts_with("pattern: \"(\" is not a regular expression: "), "{message}");
    }

    #[test]
    fn the_start_of_the_window_is_not_the_start_of_the_output() {
        assert!(!found("^a", "", &["b", &"a".repeat(2 * WINDOW), "a"]));
        assert!(found("^b", "", &["b", "a"]));
    }

    #[test]
    fn unfinished_lines_are_searched_too() {
        let search = LogSearch::new(JsPattern::new("Password: $", "").expect("valid"), 0);
        assert!(search.matches_pending(&[String::new(), "Password: ".into()]));
        assert!(!search.matches_pending(&["Pass".into()]));
    }

    proptest! {
        #[test]
        fn a_match_is_found_however_the_output_is_split(before in "[a日\n]{0,40}", cut in 0_usize..6, long in any::<bool>()) {
            let before = if long { before.repeat(4000) } else { before };
            let word = "néedle";
            let at = word.floor_char_boundary(cut);
            prop_assert!(found(word, "", &[&before, &word[..at], &word[at..], "after"]));
        }
    }
}
