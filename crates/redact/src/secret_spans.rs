//! The places of a text that are taken out.

use std::ops::Range;

use crate::secret_names::is_distinctive;
use crate::step_count;
use crate::unquoted_word::{UnquotedWord, VariableReference};

/// The text in place of a secret.
pub const MARKER: &str = "[redacted]";

/// Places of a text, in any order.
#[derive(Debug, Default)]
pub struct SecretSpans {
    places: Vec<Range<usize>>,
    /// The variables that stand in the place of a secret.
    pub references: Vec<VariableReference>,
}

impl SecretSpans {
    /// Adds a place.
    pub fn add(&mut self, span: Range<usize>) {
        if !span.is_empty() {
            self.places.push(span);
        }
    }

    /// Adds a part of a word, unless it is all expansions, and the variables in it.
    pub fn add_secret(&mut self, word: &UnquotedWord<'_>, part: Range<usize>) {
        self.references.extend(word.references(part.clone()));
        if !part.is_empty() && !word.is_reference(part.clone()) {
            self.add(word.span_in_script(part));
        }
    }

    /// Returns all places as they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Range<usize>> {
        self.places.iter()
    }

    /// Returns the text with the marker in each place, and wherever else the text of a place stands. `None` if there is
    /// no place.
    pub fn apply(mut self, text: &str) -> Option<String> {
        let mut places = self.merge(text);
        let again = repeated_secrets(text, &places);
        if !again.is_empty() {
            self.places.extend(again);
            places = self.merge(text);
        }
        if places.is_empty() {
            return None;
        }
        let mut result = String::with_capacity(text.len());
        let mut at = 0;
        for place in places {
            result.push_str(&text[at..place.start]);
            result.push_str(MARKER);
            at = place.end;
        }
        result.push_str(&text[at..]);
        Some(result)
    }

    /// Returns the places in order, as whole characters, without those that are taken out already.
    fn merge(&mut self, text: &str) -> Vec<Range<usize>> {
        self.places.sort_unstable_by_key(|span| (span.start, span.end));
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(self.places.len());
        for span in &self.places {
            let start = text.floor_char_boundary(span.start);
            let end = text.ceil_char_boundary(span.end.min(text.len()));
            // The text behind a marker was no secret before, unless the same word goes on.
            let behind = text[start..end.max(start)].strip_prefix(MARKER);
            if behind.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)) {
                continue;
            }
            match merged.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => merged.push(start..end),
            }
        }
        merged.retain(|span| !span.is_empty());
        merged
    }
}

/// Values that are looked for elsewhere, at most. Each takes a pass over the text.
const MAX_VALUES: usize = 32;

/// Returns the places where the texts of other places stand as words.
fn repeated_secrets(text: &str, places: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut values: Vec<_> =
        places.iter().map(|place| &text[place.clone()]).filter(|value| is_distinctive(value)).collect();
    values.sort_unstable();
    values.dedup();
    values.truncate(MAX_VALUES);
    let is_part = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let mut found = Vec::new();
    for value in values {
        step_count::add(text.len());
        let places = memchr::memmem::find_iter(text.as_bytes(), value).map(|at| at..at + value.len());
        found.extend(places.filter(|place| !is_part(place.start.checked_sub(1)) && !is_part(Some(place.end))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(spans: &[Range<usize>]) -> Option<String> {
        let mut all = SecretSpans::default();
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
