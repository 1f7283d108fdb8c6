//! The output of a terminal's program as text for pattern searches, from the start or the last match on.

use std::ops::Range;

use capture::{OutputCleaner, ProgressLineHandling, SanitizeRules};

/// The most bytes of text that are kept.
const KEPT: usize = 1024 * 1024;
/// Colours and movements are left out, and every drawn line is kept.
const RULES: Option<SanitizeRules> = Some(SanitizeRules { ansi: true, progress: ProgressLineHandling::Keep });

/// The text since the start or the last match.
pub(super) struct UnmatchedText {
    /// Bytes as they arrived. They become text when a search needs it, which is seldom.
    fresh: Vec<u8>,
    cleaner: OutputCleaner,
    text: String,
    /// Offset of `text` from the start of all text.
    at: u64,
}

impl Default for UnmatchedText {
    fn default() -> Self {
        Self { fresh: Vec::new(), cleaner: OutputCleaner::new(RULES), text: String::new(), at: 0 }
    }
}

impl UnmatchedText {
    pub fn push(&mut self, bytes: &[u8]) {
        if self.fresh.len() + bytes.len() > 2 * KEPT {
            let cut = self.fresh.len().saturating_sub(KEPT);
            self.fresh.drain(..cut);
        }
        self.fresh.extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT)..]);
    }

    /// Returns the text from `from` on, or from its beginning if that is later, and the offset of that place.
    pub fn text_since(&mut self, from: u64) -> (u64, &str) {
        let Self { fresh, cleaner, text, at } = self;
        if !fresh.is_empty() {
            cleaner.push(fresh, &mut |clean| text.push_str(clean));
            fresh.clear();
            fresh.shrink_to(64 * 1024);
            let cut = text.ceil_char_boundary(text.len().saturating_sub(KEPT));
            text.drain(..cut);
            *at += cut as u64;
        }
        let from = usize::try_from(from.saturating_sub(*at)).unwrap_or(usize::MAX).min(text.len());
        let from = text.floor_char_boundary(from);
        (*at + from as u64, &text[from..])
    }

    /// Takes a match: the next search begins after it. Returns `false` if another wait has taken the match meanwhile.
    pub fn take_match(&mut self, found: &Range<u64>) -> bool {
        if found.start < self.at {
            return false;
        }
        let end = usize::try_from(found.end - self.at).unwrap_or(usize::MAX).min(self.text.len());
        let end = self.text.ceil_char_boundary(end);
        self.text.drain(..end);
        self.at += end as u64;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_found_once() {
        let mut text = UnmatchedText::default();
        text.push(b"\x1b[1mone\x1b[0m\r");
        assert_eq!(text.text_since(0), (0, "one"));
        text.push(b"\ntwo");
        assert_eq!(text.text_since(0), (0, "one\ntwo"));
        assert!(text.take_match(&(0..3)));
        assert!(!text.take_match(&(0..3)), "taken already");
        assert_eq!(text.text_since(0), (3, "\ntwo"));
        text.push(b" three");
        assert_eq!(text.text_since(7), (7, " three"));
    }

    #[test]
    fn a_flood_is_not_kept() {
        let mut text = UnmatchedText::default();
        for _ in 0..100 {
            text.push(&[b'x'; 64 * 1024]);
        }
        assert!(text.fresh.len() <= 2 * KEPT);
        text.push(b"end");
        let (at, kept) = text.text_since(0);
        assert!(kept.ends_with("xend") && kept.len() <= KEPT && at > 0);
    }
}
