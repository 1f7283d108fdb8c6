//! Small helpers for words.

use crate::word_value::{ValuePiece, WordValue};

/// Returns whether a word is exactly this text.
pub(super) fn is_text(word: &WordValue, text: &str) -> bool {
    word.known() == Some(text)
}

/// Estimates the work of copying these words.
pub(super) fn weight(words: &[WordValue]) -> usize {
    let piece = |piece: &ValuePiece| match piece {
        ValuePiece::Text(text) | ValuePiece::Glob(text) => text.len(),
        ValuePiece::OneOf(texts) => texts.iter().map(String::len).sum(),
        ValuePiece::Unknown(_) => 1,
    };
    words.iter().map(|word| 8 + word.pieces().iter().map(piece).sum::<usize>()).sum()
}

/// Joins words with blanks.
pub(super) fn joined(words: &[WordValue]) -> WordValue {
    let mut all = WordValue::default();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            all.push(ValuePiece::Text(" ".to_owned()));
        }
        all.extend(word);
    }
    all
}

/// Returns the name and value of a word like `NAME=value`.
pub(super) fn split_assignment(word: &WordValue) -> Option<(String, WordValue)> {
    let (name, _) = word.prefix().split_once('=')?;
    // An exported function: `BASH_FUNC_name%%=() { …; }`
    let mut letters = name.strip_suffix("%%").filter(|name| name.starts_with("BASH_FUNC_")).unwrap_or(name).chars();
    let first = letters.next()?;
    let plain = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    if !(first == '_' || first.is_ascii_alphabetic()) || !letters.all(plain) {
        return None;
    }
    Some((name.to_owned(), word.after(name.len() + 1)))
}

/// Returns whether a word names standard input.
pub(super) fn is_stdin(word: &WordValue) -> bool {
    matches!(word.known(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// Returns whether a word stands for a process substitution.
pub(super) fn is_substitution(word: &WordValue) -> bool {
    word.prefix().starts_with("/dev/fd/") && word.has_unknown()
}
