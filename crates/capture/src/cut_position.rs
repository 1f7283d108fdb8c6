//! Chooses where to cut: pure functions over text.

use serde::{Deserialize, Serialize};

use super::capture_policy::{KeptTextLimits, to_usize};

/// The limit that made the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TruncationLimit {
    /// `max_lines`.
    Lines,
    /// `max_bytes`, or the default of 16 MiB.
    Bytes,
    /// `max_chars`.
    Chars,
}

impl TruncationLimit {
    /// 'lines', 'bytes' or 'chars'.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Bytes => "bytes",
            Self::Chars => "chars",
        }
    }
}

/// A cut of a text in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextCut {
    /// Byte index, on a character boundary.
    pub at: usize,
    pub by: TruncationLimit,
    /// Whether the line beside the cut is not shown whole. A line that only lacks its newline is whole.
    pub partial: bool,
}

/// Returns where the kept end of a text starts: with whole lines, or within the last line if the last line alone does
/// not fit. `None` if all of the text is kept. The named limit is the limit that is exceeded first on the way back from
/// the end. Lines take precedence on a tie. The newline at the end of a line counts.
///
/// `text` may be the end of a longer stream, if it is longer than the limits allow.
pub(super) fn cut_tail(text: &str, limits: &KeptTextLimits) -> Option<TextCut> {
    let bytes = text.ceil_char_boundary(text.len().saturating_sub(to_usize(limits.bytes())));
    let chars = limits.max_chars.map_or(0, |max| last_chars(text, max));
    let (fits, by) = if chars > bytes { (chars, TruncationLimit::Chars) } else { (bytes, TruncationLimit::Bytes) };
    let whole = if fits == 0 || text[..fits].ends_with('\n') {
        Some(fits)
    } else {
        memchr::memchr(b'\n', &text.as_bytes()[fits..]).map(|newline| fits + newline + 1).filter(|&at| at < text.len())
    };
    // The last line alone is too long, so as much of its end as fits is kept.
    let Some(whole) = whole else { return Some(TextCut { at: fits, by, partial: true }) };
    let lines = limits.max_lines.map_or(0, |max| last_lines(text, max));
    let (at, by) = if lines >= whole { (lines, TruncationLimit::Lines) } else { (whole, by) };
    (at > 0).then_some(TextCut { at, by, partial: false })
}

/// Returns the start of the last `max` UTF-16 units.
fn last_chars(text: &str, max: u64) -> usize {
    let mut units = 0;
    let over = text.char_indices().rev().find(|(_, c)| {
        units += c.len_utf16() as u64;
        units > max
    });
    over.map_or(0, |(at, c)| at + c.len_utf8())
}

/// Returns the start of the last `max` lines.
fn last_lines(text: &str, max: u64) -> usize {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let nth = usize::try_from(max - 1).ok();
    nth.and_then(|nth| memchr::memrchr_iter(b'\n', body.as_bytes()).nth(nth)).map_or(0, |newline| newline + 1)
}

/// Returns where the kept start of a text ends, or `None` if all of the text is kept. The named limit is the most
/// restrictive one. On a tie it is the first of lines, bytes and chars.
///
/// `text` may be the start of a longer stream, if it is longer than the limits allow.
pub(super) fn cut_head(text: &str, limits: &KeptTextLimits) -> Option<TextCut> {
    let bytes = text.floor_char_boundary(to_usize(limits.bytes()));
    let mut cut = (bytes, TruncationLimit::Bytes);
    if let Some(max) = limits.max_chars {
        let mut units = 0;
        let chars = text[..bytes].char_indices().find(|(_, c)| {
            units += c.len_utf16() as u64;
            units > max
        });
        if let Some((at, _)) = chars {
            cut = (at, TruncationLimit::Chars);
        }
    }
    if let Some(max) = limits.max_lines {
        let nth = usize::try_from(max - 1).ok();
        let newline = nth.and_then(|nth| memchr::memchr_iter(b'\n', &text.as_bytes()[..cut.0]).nth(nth));
        if let Some(newline) = newline {
            cut = (newline + 1, TruncationLimit::Lines);
        }
    }
    let (at, by) = cut;
    (at < text.len()).then(|| TextCut { at, by, partial: !whole_at(text, at) })
}

/// Returns whether the text before `at` consists of whole lines.
pub(super) fn whole_at(text: &str, at: usize) -> bool {
    at == 0 || text[..at].ends_with('\n') || text[at..].starts_with('\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain_text_scan::{count_lines, utf16_len};
    use proptest::prelude::*;

    fn limits(lines: u64, bytes: u64, chars: u64) -> KeptTextLimits {
        let some = |max| (max > 0).then_some(max);
        KeptTextLimits { max_lines: some(lines), max_bytes: some(bytes), max_chars: some(chars) }
    }

    fn tail(text: &str, max: KeptTextLimits) -> (&str, Option<TruncationLimit>, bool) {
        cut_tail(text, &max).map_or((text, None, false), |cut| (&text[cut.at..], Some(cut.by), cut.partial))
    }

    fn head(text: &str, max: KeptTextLimits) -> (&str, Option<TruncationLimit>, bool) {
        cut_head(text, &max).map_or((text, None, false), |cut| (&text[..cut.at], Some(cut.by), cut.partial))
    }

    #[test]
    fn tail_keeps_whole_lines() {
        assert_eq!(tail("a\nb\nc\n", limits(2, 0, 0)), ("b\nc\n", Some(TruncationLimit::Lines), false));
        assert_eq!(tail("a\nb\nc", limits(2, 0, 0)), ("b\nc", Some(TruncationLimit::Lines), false));
        assert_eq!(tail("aaa\nb\nc\n", limits(0, 7, 0)), ("b\nc\n", Some(TruncationLimit::Bytes), false));
        assert_eq!(tail("aaa\nb\nc\n", limits(2, 5, 0)), ("b\nc\n", Some(TruncationLimit::Lines), false));
        assert_eq!(tail("é\né\n", limits(0, 0, 3)), ("é\n", Some(TruncationLimit::Chars), false));
        assert_eq!(tail("a\nb\n", limits(2, 4, 4)), ("a\nb\n", None, false));
        assert_eq!(tail("\n\n\n", limits(1, 0, 0)), ("\n", Some(TruncationLimit::Lines), false));
    }

    #[test]
    fn tail_of_one_long_line_is_its_own_tail() {
        assert_eq!(tail("a\nbcdef\n", limits(0, 4, 0)), ("def\n", Some(TruncationLimit::Bytes), true));
        assert_eq!(tail("abcdef", limits(0, 4, 3)), ("def", Some(TruncationLimit::Chars), true));
        assert_eq!(tail("ab😀", limits(0, 5, 0)), ("b😀", Some(TruncationLimit::Bytes), true));
        assert_eq!(tail("ab😀", limits(0, 3, 0)), ("", Some(TruncationLimit::Bytes), true));
        assert_eq!(tail("ab😀", limits(0, 0, 1)), ("", Some(TruncationLimit::Chars), true));
    }

    #[test]
    fn head_cuts_inside_a_line() {
        assert_eq!(head("a\nb\nc\n", limits(2, 0, 0)), ("a\nb\n", Some(TruncationLimit::Lines), false));
        assert_eq!(head("abc\ndef\n", limits(0, 5, 0)), ("abc\nd", Some(TruncationLimit::Bytes), true));
        assert_eq!(head("abc\ndef\n", limits(0, 3, 0)), ("abc", Some(TruncationLimit::Bytes), false));
        assert_eq!(head("a😀b", limits(0, 0, 2)), ("a", Some(TruncationLimit::Chars), true));
        assert_eq!(head("a😀b", limits(0, 4, 0)), ("a", Some(TruncationLimit::Bytes), true));
        assert_eq!(head("a\nb\n", limits(2, 4, 4)), ("a\nb\n", None, false));
    }

    proptest! {
        #[test]
        fn limits_are_never_exceeded(
            text in "([aé日😀]{0,9}\n?){0,12}",
            max in (0u64..6, 0u64..30, 0u64..20).prop_map(|(l, b, c)| limits(l, b, c)),
        ) {
            for kept in [tail(&text, max), head(&text, max)] {
                prop_assert!(count_lines(kept.0) <= max.max_lines.unwrap_or(u64::MAX));
                prop_assert!(kept.0.len() as u64 <= max.max_bytes.unwrap_or(u64::MAX));
                prop_assert!(utf16_len(kept.0) <= max.max_chars.unwrap_or(u64::MAX));
                prop_assert_eq!(kept.1.is_none(), kept.0 == text);
            }
            prop_assert!(text.ends_with(tail(&text, max).0));
            prop_assert!(text.starts_with(head(&text, max).0));
        }

        #[test]
        fn an_excerpt_is_cut_like_the_whole(
            text in "([aé日😀]{0,9}\n?){0,12}",
            max in (0u64..6, 1u64..20, 0u64..12).prop_map(|(l, b, c)| limits(l, b, c)),
        ) {
            let reach = max.bytes_to_decide_cut();
            let end = &text[text.floor_char_boundary(text.len().saturating_sub(reach))..];
            prop_assert_eq!(tail(end, max), tail(&text, max));
            prop_assert_eq!(head(&text[..text.ceil_char_boundary(reach)], max), head(&text, max));
        }
    }
}
