//! The places of a text that are taken out.

use std::ops::Range;

/// The text in place of a secret.
pub const MARKER: &str = "[redacted]";

/// Places of a text, in any order.
#[derive(Debug, Default)]
pub struct Spans(Vec<Range<usize>>);

impl Spans {
    /// Adds a place.
    pub fn add(&mut self, span: Range<usize>) {
        if !span.is_empty() {
            self.0.push(span);
        }
    }

    /// Returns all places as they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Range<usize>> {
        self.0.iter()
    }

    /// Returns the text with the marker in each place. `None` if there is no place.
    pub fn apply(mut self, text: &str) -> Option<String> {
        self.0.sort_unstable_by_key(|span| (span.start, span.end));
        let mut result = String::with_capacity(text.len());
        let mut at = 0;
        let mut spans = self.0.into_iter().peekable();
        while let Some(span) = spans.next() {
            let start = text.floor_char_boundary(span.start).max(at);
            let mut end = span.end;
            while let Some(next) = spans.next_if(|next| next.start <= end) {
                end = end.max(next.end);
            }
            let end = text.ceil_char_boundary(end.min(text.len())).max(start);
            if start == end || &text[start..end] == MARKER {
                continue;
            }
            result.push_str(&text[at..start]);
            result.push_str(MARKER);
            at = end;
        }
        if at == 0 && result.is_empty() {
            return None;
        }
        result.push_str(&text[at..]);
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(spans: &[Range<usize>]) -> Option<String> {
        let mut all = Spans::default();
        spans.iter().for_each(|span| all.add(span.clone()));
        all.apply("a bc é de")
    }

    #[test]
    fn places_that_touch_or_overlap_are_one() {
        assert_eq!(applied(&[]), None);
        #[expect(clippy::single_range_in_vec_init, reason = "a list of one place")]
        let (one, empty) = ([2..4], [2..2]);
        assert_eq!(applied(&one).as_deref(), Some("a [redacted] é de"));
        assert_eq!(applied(&empty), None);
        assert_eq!(applied(&[3..4, 2..3]).as_deref(), Some("a [redacted] é de"));
        assert_eq!(applied(&[0..1, 8..10]).as_deref(), Some("[redacted] bc é [redacted]"));
    }

    #[test]
    fn a_place_within_a_character_takes_the_whole_of_it() {
        assert_eq!(applied(&[6..7, 6..7]).as_deref(), Some("a bc [redacted] de"));
    }
}
