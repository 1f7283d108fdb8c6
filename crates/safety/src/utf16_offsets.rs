//! Offsets as JavaScript counts them.

use std::ops::Range;

/// Converts byte offsets of a text into UTF-16 offsets. `None` for ASCII, where both offsets are equal.
pub struct Utf16Offsets(Option<Vec<u32>>);

impl Utf16Offsets {
    /// Counts the offsets of this text.
    pub fn new(text: &str) -> Self {
        if text.is_ascii() {
            return Self(None);
        }
        let mut units = Vec::with_capacity(text.len() + 1);
        let mut count = 0;
        for next in text.chars() {
            units.extend(std::iter::repeat_n(count, next.len_utf8()));
            count += u32::try_from(next.len_utf16()).unwrap_or(1);
        }
        units.push(count);
        Self(Some(units))
    }

    /// Returns a span of bytes in UTF-16 units. An offset behind the text becomes its end.
    pub fn span(&self, span: &Range<usize>) -> (usize, usize) {
        let at = |byte: usize| match &self.0 {
            None => byte,
            Some(units) => units.get(byte).or(units.last()).map_or(0, |unit| *unit as usize),
        };
        (at(span.start), at(span.end))
    }
}

#[cfg(test)]
mod tests {
    use super::Utf16Offsets;

    #[test]
    fn offsets_count_utf16_units() {
        assert_eq!(Utf16Offsets::new("abc").span(&(1..3)), (1, 3));
        let units = Utf16Offsets::new("é😀x");
        assert_eq!(units.span(&(2..6)), (1, 3));
        assert_eq!(units.span(&(6..7)), (3, 4));
        assert_eq!(units.span(&(7..99)), (4, 4));
    }
}
