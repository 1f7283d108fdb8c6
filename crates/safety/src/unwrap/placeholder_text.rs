//! Turns a word into plain text, which can be taken apart and put together again.

use crate::word_value::{ValuePiece, WordValue};

/// The first placeholder for a part that is not text. It is in the last plane for private use.
const FIRST: u32 = 0x10_0000;
/// Most parts that have a placeholder of their own.
const MAX_PLACEHOLDERS: usize = 0xFFFD;

/// A word's text, with a placeholder for each part that is not text.
#[derive(Clone, Debug)]
pub(super) struct PlaceholderText {
    /// The text.
    pub(super) text: String,
    pieces: Vec<ValuePiece>,
}

impl PlaceholderText {
    /// Flattens a word.
    pub(super) fn of(value: &WordValue) -> Self {
        let mut flat = Self { text: String::new(), pieces: Vec::new() };
        for piece in value.pieces() {
            match piece {
                ValuePiece::Text(text) => flat
                    .text
                    .extend(text.chars().map(|letter| if is_placeholder(letter) { '\u{FFFD}' } else { letter })),
                piece => {
                    let index = flat.pieces.len().min(MAX_PLACEHOLDERS);
                    flat.text.extend(u32::try_from(index).ok().and_then(|index| char::from_u32(FIRST + index)));
                    if index < MAX_PLACEHOLDERS {
                        flat.pieces.push(piece.clone());
                    }
                }
            }
        }
        flat
    }

    /// Returns a part of the text as a word.
    pub(super) fn value(&self, text: &str) -> WordValue {
        let mut value = WordValue::default();
        let mut from = 0;
        for (at, letter) in text.char_indices().filter(|(_, letter)| is_placeholder(*letter)) {
            value.push(ValuePiece::Text(text[from..at].to_owned()));
            let index = usize::try_from(u32::from(letter) - FIRST).unwrap_or(MAX_PLACEHOLDERS);
            value.push(self.pieces.get(index).cloned().unwrap_or(ValuePiece::Unknown(false)));
            from = at + letter.len_utf8();
        }
        value.push(ValuePiece::Text(text[from..].to_owned()));
        value
    }
}

/// Returns whether a character stands for a part that is not text.
pub(super) fn is_placeholder(letter: char) -> bool {
    u32::from(letter) >= FIRST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_flattened_comes_back() {
        let mut value = WordValue::of("a b");
        value.push(ValuePiece::Unknown(true));
        value.push(ValuePiece::Text("c".to_owned()));
        value.push(ValuePiece::Glob("*".to_owned()));
        let flat = PlaceholderText::of(&value);
        assert_eq!(flat.value(&flat.text), value);
        assert_eq!(flat.value(&flat.text[..3]), WordValue::of("a b"));
    }
}
