//! The sentence that tells a reader which part of a stream is missing, and where the whole stream is.

use std::path::Path;

use super::capture_policy::{KeptStreamPart, TruncationPolicy};
use super::cut_position::TruncationLimit;

/// Longest notice, in bytes. The place does not count.
const MAX_NOTICE: usize = 200;
/// Longest error inside a notice and in `spill_error`, in bytes.
pub(super) const MAX_ERROR: usize = 80;

/// The place of the whole stream, if it was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholeStreamLocation<'a> {
    /// The file.
    pub path: Option<&'a Path>,
    /// The id that the notice names instead of the path, as `artifact://ID`.
    pub artifact_id: Option<&'a str>,
    /// Why the file is incomplete or missing.
    pub error: Option<&'a str>,
}

impl WholeStreamLocation<'_> {
    fn shown_place(&self) -> Option<String> {
        match self.artifact_id {
            Some(id) => Some(format!("artifact://{id}")),
            None => self.path.map(|path| path.display().to_string()),
        }
    }

    /// Returns the words after the figures. `None` if nothing was written and nothing failed.
    fn words_after_figures(&self, place: Option<&str>, max_error: usize) -> Option<String> {
        match (place, self.error) {
            (None, None) => None,
            (Some(place), None) => Some(format!("Full output: {place}")),
            (Some(place), Some(error)) => {
                Some(format!("Full output file may be incomplete: {place} ({})", shorten_error(error, max_error)))
            }
            (None, Some(error)) => {
                Some(format!("The full output could not be kept: {}", shorten_error(error, max_error)))
            }
        }
    }
}

/// The figures of a notice.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoticeFigures {
    pub by: TruncationLimit,
    /// The shown number in the unit of `by`: characters for `Chars`, otherwise lines.
    pub shown: u64,
    pub total: u64,
    pub total_bytes: u64,
}

/// The part of a stream that is shown after a cut at one or both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownRange {
    /// A range of lines.
    Lines {
        /// The first line, from 1.
        first: u64,
        /// The last line, from 1.
        last: u64,
        /// The lines of the whole stream.
        total: u64,
    },
    /// A number of characters of one end.
    Chars {
        /// The number of shown UTF-16 units.
        count: u64,
        /// The number in the whole stream. `None` for a part of the text that another cut has kept.
        total: Option<u64>,
    },
}

/// Returns the notice of a stream that keeps one end: `[stdout: Showing last 3 of 100 lines. Full output: /tmp/x.log]`.
/// If the beginning was kept, a line `[truncated]` comes first.
pub fn cut_notice(
    name: &str,
    keep: KeptStreamPart,
    shown: ShownRange,
    whereabouts: &WholeStreamLocation<'_>,
) -> String {
    one_sided(name, keep, shown, whereabouts.words_after_figures(whereabouts.shown_place().as_deref(), MAX_ERROR))
}

fn one_sided(name: &str, keep: KeptStreamPart, shown: ShownRange, whereabouts: Option<String>) -> String {
    let side = if keep == KeptStreamPart::Head { "first" } else { "last" };
    let is_share = matches!(shown, ShownRange::Chars { total: None, .. });
    let mark = if keep == KeptStreamPart::Head && !is_share { "[truncated]\n" } else { "" };
    let what = match shown {
        ShownRange::Lines { first, last, total }
            if (keep == KeptStreamPart::Head && first == 1) || (keep != KeptStreamPart::Head && last == total) =>
        {
            format!("{side} {} of {total} lines", (last + 1).saturating_sub(first))
        }
        ShownRange::Lines { first, last, total } => format!("lines {first} to {last} of {total}"),
        ShownRange::Chars { count, total: Some(total) } => format!("{side} {count} of {total} characters"),
        ShownRange::Chars { count, total: None } => format!("{side} {count} characters"),
    };
    let whereabouts = whereabouts.map_or_else(String::new, |words| format!(". {words}"));
    format!("{mark}[{name}: Showing {what}{whereabouts}]")
}

/// A notice in its two parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TruncationNotice {
    /// The line before the text. Only `Ends` has one.
    pub first: String,
    /// The lines after the text. Empty for `Ends` without a place or an error.
    pub last: String,
}

impl TruncationNotice {
    pub(super) fn new(
        name: &str,
        policy: &TruncationPolicy,
        figures: &NoticeFigures,
        whereabouts: &WholeStreamLocation<'_>,
    ) -> Self {
        let place = whereabouts.shown_place();
        let with = |max_error| {
            let words = whereabouts.words_after_figures(place.as_deref(), max_error);
            Self::build(name, policy, figures, words)
        };
        let notice = with(MAX_ERROR);
        // Only figures of many digits reach this code: the error is cut already.
        let over = (notice.joined().len() - place.as_ref().map_or(0, String::len)).saturating_sub(MAX_NOTICE);
        if over == 0 { notice } else { with(MAX_ERROR.saturating_sub(over)) }
    }

    fn build(name: &str, policy: &TruncationPolicy, figures: &NoticeFigures, words: Option<String>) -> Self {
        let keep = policy.keep();
        if let TruncationPolicy::Ends { max_bytes, .. } = policy {
            let (got, max) = (kilobytes(figures.total_bytes), kilobytes(*max_bytes));
            return Self {
                first: format!("[output truncated in middle: got {got}kB, max is {max}kB]"),
                last: words.map_or_else(String::new, |words| format!("[{name}: {words}]")),
            };
        }
        let NoticeFigures { by, shown, total, .. } = *figures;
        let shown = match (by, keep) {
            (TruncationLimit::Chars, _) => ShownRange::Chars { count: shown, total: Some(total) },
            (_, KeptStreamPart::Head) => ShownRange::Lines { first: 1, last: shown, total },
            _ => ShownRange::Lines { first: (total - shown) + 1, last: total, total },
        };
        Self { first: String::new(), last: one_sided(name, keep, shown, words) }
    }

    /// Joins both parts.
    pub(super) fn joined(&self) -> String {
        let between = if self.first.is_empty() || self.last.is_empty() { "" } else { "\n" };
        format!("{}{between}{}", self.first, self.last)
    }
}

/// Converts bytes to units of 1,024 bytes, rounded to the nearest integer.
fn kilobytes(bytes: u64) -> u64 {
    bytes.saturating_add(512) / 1024
}

/// Returns an error in one line of at most `max` bytes.
pub(super) fn shorten_error(error: &str, max: usize) -> String {
    let mut line: String = error.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.truncate(line.floor_char_boundary(max));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture_policy::KeptTextLimits;

    const LINES: NoticeFigures =
        NoticeFigures { by: TruncationLimit::Lines, shown: 2000, total: 8500, total_bytes: 312 * 1024 };
    const CHARS: NoticeFigures =
        NoticeFigures { by: TruncationLimit::Chars, shown: 30000, total: 912_345, total_bytes: 912_345 };
    const NO_LIMITS: KeptTextLimits = KeptTextLimits { max_lines: None, max_bytes: None, max_chars: None };
    const ENDS: TruncationPolicy = TruncationPolicy::Ends { max_bytes: 131_072, head_bytes: 4096, tail_bytes: 4096 };

    fn file() -> WholeStreamLocation<'static> {
        WholeStreamLocation { path: Some(Path::new("/tmp/x.log")), ..WholeStreamLocation::default() }
    }

    fn text(policy: TruncationPolicy, figures: &NoticeFigures, whereabouts: &WholeStreamLocation<'_>) -> String {
        TruncationNotice::new("stdout", &policy, figures, whereabouts).joined()
    }

    #[test]
    fn each_policy_has_its_words() {
        let tail = TruncationPolicy::Tail(NO_LIMITS);
        let head = TruncationPolicy::Head(NO_LIMITS);
        assert_eq!(text(tail, &LINES, &file()), "[stdout: Showing last 2000 of 8500 lines. Full output: /tmp/x.log]");
        assert_eq!(text(tail, &LINES, &WholeStreamLocation::default()), "[stdout: Showing last 2000 of 8500 lines]");
        assert_eq!(
            text(head, &CHARS, &file()),
            "[truncated]\n[stdout: Showing first 30000 of 912345 characters. Full output: /tmp/x.log]"
        );
        assert_eq!(
            text(ENDS, &LINES, &file()),
            "[output truncated in middle: got 312kB, max is 128kB]\n[stdout: Full output: /tmp/x.log]"
        );
        assert_eq!(
            text(ENDS, &LINES, &WholeStreamLocation::default()),
            "[output truncated in middle: got 312kB, max is 128kB]"
        );
    }

    #[test]
    fn a_failed_spill_says_so() {
        let tail = TruncationPolicy::Tail(NO_LIMITS);
        let failed = WholeStreamLocation { error: Some("disk\nfull"), ..file() };
        assert_eq!(
            text(tail, &LINES, &failed),
            "[stdout: Showing last 2000 of 8500 lines. Full output file may be incomplete: /tmp/x.log (disk full)]"
        );
        let nowhere = WholeStreamLocation { error: Some("disk full"), ..WholeStreamLocation::default() };
        assert_eq!(
            text(tail, &LINES, &nowhere),
            "[stdout: Showing last 2000 of 8500 lines. The full output could not be kept: disk full]"
        );
        assert_eq!(
            text(ENDS, &LINES, &nowhere),
            "[output truncated in middle: got 312kB, max is 128kB]\n[stdout: The full output could not be kept: disk full]"
        );
        let stored = WholeStreamLocation { artifact_id: Some("a1"), ..file() };
        assert_eq!(
            text(tail, &LINES, &stored),
            "[stdout: Showing last 2000 of 8500 lines. Full output: artifact://a1]"
        );
    }

    #[test]
    fn a_second_cut_counts_in_the_whole_stream() {
        let notice =
            |keep, first, last| cut_notice("stdout", keep, ShownRange::Lines { first, last, total: 100 }, &file());
        assert_eq!(
            notice(KeptStreamPart::Tail, 98, 100),
            "[stdout: Showing last 3 of 100 lines. Full output: /tmp/x.log]"
        );
        assert_eq!(
            notice(KeptStreamPart::Tail, 49, 50),
            "[stdout: Showing lines 49 to 50 of 100. Full output: /tmp/x.log]"
        );
        assert_eq!(
            notice(KeptStreamPart::Head, 51, 53),
            "[truncated]\n[stdout: Showing lines 51 to 53 of 100. Full output: /tmp/x.log]"
        );
        let part = ShownRange::Chars { count: 9, total: None };
        assert_eq!(
            cut_notice("stderr", KeptStreamPart::Tail, part, &WholeStreamLocation::default()),
            "[stderr: Showing last 9 characters]"
        );
    }

    #[test]
    fn two_hundred_bytes_and_the_path() {
        let error = "é".repeat(100);
        let failed = WholeStreamLocation { error: Some(&error), ..file() };
        let nowhere = WholeStreamLocation { path: None, ..failed };
        let most =
            NoticeFigures { by: TruncationLimit::Chars, shown: u64::MAX, total: u64::MAX, total_bytes: u64::MAX };
        for policy in [TruncationPolicy::Tail(NO_LIMITS), TruncationPolicy::Head(NO_LIMITS), ENDS] {
            for (whereabouts, place) in [(&failed, "/tmp/x.log"), (&nowhere, "")] {
                let notice = TruncationNotice::new("later output", &policy, &most, whereabouts).joined();
                assert!(notice.len() <= 200 + place.len(), "{} bytes", notice.len());
            }
        }
    }
}
