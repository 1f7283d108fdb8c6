//! Text that is open to globs, and scripts that are known only in parts.

use crate::safety::level::Confidence;
use crate::safety::value::{Piece, Value};

/// Stands in a script for text that cannot be known; a character that no command has.
pub const UNKNOWN: char = '\u{f8ff}';

/// Parts the words of one of several texts that was not quoted.
pub const PARTING: &str = "\u{1f}";

/// The longest `[…]` that is looked for, characters.
const MAX_BRACKET: usize = 128;

/// Appends text in which globs mean something.
pub fn push_open(value: &mut Value, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(['*', '?', '[', UNKNOWN]) {
        push_closed(value, &rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with(UNKNOWN) {
            value.push(Piece::Hole(true));
            rest = &rest[UNKNOWN.len_utf8()..];
            continue;
        } else if rest.starts_with('[') {
            match bracket(rest) {
                Some(length) => length,
                None => {
                    value.push(Piece::Text("[".to_owned()));
                    rest = &rest[1..];
                    continue;
                }
            }
        } else {
            1
        };
        value.push(Piece::Glob(rest[..length].to_owned()));
        rest = &rest[length..];
    }
    push_closed(value, rest);
}

/// Appends text that is quoted.
pub fn push_closed(value: &mut Value, text: &str) {
    if !text.contains(UNKNOWN) {
        value.push(Piece::Text(text.to_owned()));
        return;
    }
    for (index, part) in text.split(UNKNOWN).enumerate() {
        if index > 0 {
            value.push(Piece::Hole(false));
        }
        value.push(Piece::Text(part.to_owned()));
    }
}

/// The length of `[…]`.
fn bracket(text: &str) -> Option<usize> {
    let end = text.char_indices().take(MAX_BRACKET).last().map_or(0, |(at, last)| at + last.len_utf8());
    let inside = text.get(1..end)?;
    let inside = inside.strip_prefix(['!', '^']).unwrap_or(inside);
    let skipped = end - inside.len();
    let first = inside.chars().next()?.len_utf8();
    let close = inside[first..].find(']')?;
    let length = skipped + first + close + 1;
    // A path's component ends it.
    (!text[..length].contains('/')).then_some(length)
}

/// A script from a value, with signs for what is not known; `None` where nothing of it is.
fn script(value: &Value) -> Option<String> {
    let mut text = String::new();
    let mut known = value.pieces().is_empty();
    for piece in value.pieces() {
        match piece {
            Piece::Text(part) | Piece::Glob(part) => {
                known |= !part.trim().is_empty();
                text.push_str(part);
            }
            Piece::OneOf(texts) if texts.iter().all(|text| text.bytes().all(|byte| byte.is_ascii_digit())) => {
                text.push_str(texts.first().map_or("", String::as_str));
            }
            Piece::OneOf(_) | Piece::Hole(_) => text.push(UNKNOWN),
        }
    }
    known.then_some(text)
}

/// The scripts that a value may be: one, or one of several, or none that can be known.
pub fn scripts(value: &Value) -> Vec<(String, Confidence)> {
    match value.pieces() {
        [Piece::OneOf(texts)] => {
            let some = texts.iter().filter(|text| !text.trim().is_empty());
            some.map(|text| (text.replace(PARTING, " "), Confidence::Partial)).collect()
        }
        _ => script(value).map(|script| (script, Confidence::Exact)).into_iter().collect(),
    }
}
