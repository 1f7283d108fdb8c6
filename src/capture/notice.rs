//! The sentence that tells a reader what is missing and where it is.

use std::path::Path;

use super::policy::Truncate;
use super::truncate::By;

/// Bytes of a notice, the place not counted.
const MAX_NOTICE: usize = 200;
/// Bytes of an error inside a notice, and of `spill_error`.
pub(super) const MAX_ERROR: usize = 80;

/// Where the whole stream is, if anywhere.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whereabouts<'a> {
    pub path: Option<&'a Path>,
    /// Stands for the path in the notice, as `artifact://ID`.
    pub artifact_id: Option<&'a str>,
    /// Why the file is incomplete or missing.
    pub error: Option<&'a str>,
}

impl Whereabouts<'_> {
    fn place(&self) -> Option<String> {
        match self.artifact_id {
            Some(id) => Some(format!("artifact://{id}")),
            None => self.path.map(|path| path.display().to_string()),
        }
    }

    /// The words after the figures; `None` when nothing was written and nothing failed.
    fn words(&self, place: Option<&str>, max_error: usize) -> Option<String> {
        match (place, self.error) {
            (None, None) => None,
            (Some(place), None) => Some(format!("Full output: {place}")),
            (Some(place), Some(error)) => {
                Some(format!("Full output file may be incomplete: {place} ({})", short(error, max_error)))
            }
            (None, Some(error)) => Some(format!("({})", short(error, max_error))),
        }
    }
}

/// What a notice says in figures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    pub by: By,
    /// Of what `by` counts: characters for `Chars`, else lines.
    pub shown: u64,
    pub total: u64,
    pub total_bytes: u64,
}

/// A notice in its two parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Notice {
    /// Line before the text; '' but for `Ends`.
    pub first: String,
    /// Lines after the text; '' for `Ends` without a place or an error.
    pub last: String,
}

impl Notice {
    pub(super) fn new(name: &str, policy: &Truncate, figures: &Figures, whereabouts: &Whereabouts<'_>) -> Self {
        let place = whereabouts.place();
        let with = |max_error| {
            let words = whereabouts.words(place.as_deref(), max_error);
            Self::build(name, policy, figures, words)
        };
        let notice = with(MAX_ERROR);
        // Only figures of many digits ever need this: the error gives way.
        let over = (notice.joined().len() - place.as_ref().map_or(0, String::len)).saturating_sub(MAX_NOTICE);
        if over == 0 { notice } else { with(MAX_ERROR.saturating_sub(over)) }
    }

    fn build(name: &str, policy: &Truncate, figures: &Figures, words: Option<String>) -> Self {
        let side = match policy {
            Truncate::Tail(_) => "last",
            Truncate::Head(_) => "first",
            Truncate::Ends { max_bytes, .. } => {
                let (got, max) = (kilobytes(figures.total_bytes), kilobytes(*max_bytes));
                return Self {
                    first: format!("[output truncated in middle: got {got}kB, max is {max}kB]"),
                    last: words.map_or_else(String::new, |words| format!("[{name}: {words}]")),
                };
            }
        };
        let mark = if side == "first" { "[truncated]\n" } else { "" };
        let unit = if figures.by == By::Chars { "characters" } else { "lines" };
        let words = words.map_or_else(String::new, |words| format!(". {words}"));
        let (shown, total) = (figures.shown, figures.total);
        let last = format!("{mark}[{name}: Showing {side} {shown} of {total} {unit}{words}]");
        Self { first: String::new(), last }
    }

    /// Both parts, one after the other.
    pub(super) fn joined(&self) -> String {
        let between = if self.first.is_empty() || self.last.is_empty() { "" } else { "\n" };
        format!("{}{between}{}", self.first, self.last)
    }
}

/// 1,024 bytes each, rounded to the nearest.
fn kilobytes(bytes: u64) -> u64 {
    bytes.saturating_add(512) / 1024
}

/// An error in one line of at most so many bytes.
pub(super) fn short(error: &str, max: usize) -> String {
    let mut line: String = error.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.truncate(line.floor_char_boundary(max));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::policy::Limits;

    const LINES: Figures = Figures { by: By::Lines, shown: 2000, total: 8500, total_bytes: 312 * 1024 };
    const CHARS: Figures = Figures { by: By::Chars, shown: 30000, total: 912_345, total_bytes: 912_345 };
    const NO_LIMITS: Limits = Limits { max_lines: None, max_bytes: None, max_chars: None };
    const ENDS: Truncate = Truncate::Ends { max_bytes: 131_072, head_bytes: 4096, tail_bytes: 4096 };

    fn file() -> Whereabouts<'static> {
        Whereabouts { path: Some(Path::new("/tmp/x.log")), ..Whereabouts::default() }
    }

    fn text(policy: Truncate, figures: &Figures, whereabouts: &Whereabouts<'_>) -> String {
        Notice::new("stdout", &policy, figures, whereabouts).joined()
    }

    #[test]
    fn each_policy_has_its_words() {
        let tail = Truncate::Tail(NO_LIMITS);
        let head = Truncate::Head(NO_LIMITS);
        assert_eq!(text(tail, &LINES, &file()), "[stdout: Showing last 2000 of 8500 lines. Full output: /tmp/x.log]");
        assert_eq!(text(tail, &LINES, &Whereabouts::default()), "[stdout: Showing last 2000 of 8500 lines]");
        assert_eq!(
            text(head, &CHARS, &file()),
            "[truncated]\n[stdout: Showing first 30000 of 912345 characters. Full output: /tmp/x.log]"
        );
        assert_eq!(
            text(ENDS, &LINES, &file()),
            "[output truncated in middle: got 312kB, max is 128kB]\n[stdout: Full output: /tmp/x.log]"
        );
        assert_eq!(
            text(ENDS, &LINES, &Whereabouts::default()),
            "[output truncated in middle: got 312kB, max is 128kB]"
        );
    }

    #[test]
    fn a_failed_spill_says_so() {
        let tail = Truncate::Tail(NO_LIMITS);
        let failed = Whereabouts { error: Some("disk\nfull"), ..file() };
        assert_eq!(
            text(tail, &LINES, &failed),
            "[stdout: Showing last 2000 of 8500 lines. Full output file may be incomplete: /tmp/x.log (disk full)]"
        );
        let nowhere = Whereabouts { error: Some("disk full"), ..Whereabouts::default() };
        assert_eq!(text(tail, &LINES, &nowhere), "[stdout: Showing last 2000 of 8500 lines. (disk full)]");
        let stored = Whereabouts { artifact_id: Some("a1"), ..file() };
        assert_eq!(
            text(tail, &LINES, &stored),
            "[stdout: Showing last 2000 of 8500 lines. Full output: artifact://a1]"
        );
    }

    #[test]
    fn two_hundred_bytes_and_the_path() {
        let error = "é".repeat(100);
        let failed = Whereabouts { error: Some(&error), ..file() };
        let most = Figures { by: By::Chars, shown: u64::MAX, total: u64::MAX, total_bytes: u64::MAX };
        for policy in [Truncate::Tail(NO_LIMITS), Truncate::Head(NO_LIMITS), ENDS] {
            let notice = Notice::new("later output", &policy, &most, &failed).joined();
            assert!(notice.len() <= 200 + "/tmp/x.log".len(), "{} bytes", notice.len());
        }
    }
}
