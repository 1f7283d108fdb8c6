//! A word as plain text, to be taken apart and put together again.

use crate::safety::value::{Piece, Value};

/// The first letter that stands for a part which is no text: the last private plane, which nobody writes in.
const FIRST: u32 = 0x10_0000;
/// How many parts have a letter of their own.
const MOST: usize = 0xFFFD;

/// A word's text, with a letter for each part that is not text.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    /// The text.
    pub(super) text: String,
    pieces: Vec<Piece>,
}

impl Flat {
    /// Flattens a word.
    pub(super) fn of(value: &Value) -> Self {
        let mut flat = Self { text: String::new(), pieces: Vec::new() };
        for piece in value.pieces() {
            match piece {
                Piece::Text(text) => {
                    flat.text.extend(text.chars().map(|letter| if stands_in(letter) { '\u{FFFD}' } else { letter }))
                }
                piece => {
                    let index = flat.pieces.len().min(MOST);
                    flat.text.extend(u32::try_from(index).ok().and_then(|index| char::from_u32(FIRST + index)));
                    if index < MOST {
                        flat.pieces.push(piece.clone());
                    }
                }
            }
        }
        flat
    }

    /// A part of the text as a word.
    pub(super) fn value(&self, text: &str) -> Value {
        let mut value = Value::default();
        let mut from = 0;
        for (at, letter) in text.char_indices().filter(|(_, letter)| stands_in(*letter)) {
            value.push(Piece::Text(text[from..at].to_owned()));
            let index = usize::try_from(u32::from(letter) - FIRST).unwrap_or(MOST);
            value.push(self.pieces.get(index).cloned().unwrap_or(Piece::Hole(false)));
            from = at + letter.len_utf8();
        }
        value.push(Piece::Text(text[from..].to_owned()));
        value
    }
}

/// Whether a letter stands for a part that is no text.
pub(super) fn stands_in(letter: char) -> bool {
    u32::from(letter) >= FIRST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_flattened_comes_back() {
        let mut value = Value::of("a b");
        value.push(Piece::Hole(true));
        value.push(Piece::Text("c".to_owned()));
        value.push(Piece::Glob("*".to_owned()));
        let flat = Flat::of(&value);
        assert_eq!(flat.value(&flat.text), value);
        assert_eq!(flat.value(&flat.text[..3]), Value::of("a b"));
    }
}
