//! Text with globs, and scripts of which only parts are known.

use crate::verdict::AnalysisConfidence;
use crate::word_alternatives::{PARTING, alternatives, is_choice};
use crate::word_value::{ValuePiece, WordValue};

/// The sign for unknown text in a script. No command contains this character.
pub const UNKNOWN: char = '\u{f8ff}';

/// Longest `[…]` that is read as a glob, characters.
const MAX_BRACKET: usize = 128;

/// Appends unquoted text: globs in it count.
pub fn push_open(value: &mut WordValue, text: &str) {
    if !text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[') || !byte.is_ascii()) {
        value.push_text(text);
        return;
    }
    let mut rest = text;
    while let Some(at) = rest.find(['*', '?', '[', UNKNOWN]) {
        push_closed(value, &rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with(UNKNOWN) {
            value.push(ValuePiece::Unknown(true));
            rest = &rest[UNKNOWN.len_utf8()..];
            continue;
        } else if rest.starts_with('[') {
            match bracket_length(rest) {
                Some(length) => length,
                None => {
                    value.push_text("[");
                    rest = &rest[1..];
                    continue;
                }
            }
        } else {
            1
        };
        value.push(ValuePiece::Glob(rest[..length].to_owned()));
        rest = &rest[length..];
    }
    push_closed(value, rest);
}

/// Appends quoted text.
pub fn push_closed(value: &mut WordValue, text: &str) {
    if text.is_ascii() || !text.contains(UNKNOWN) {
        value.push_text(text);
        return;
    }
    for (index, part) in text.split(UNKNOWN).enumerate() {
        if index > 0 {
            value.push(ValuePiece::Unknown(false));
        }
        value.push_text(part);
    }
}

/// The length of `[…]`.
fn bracket_length(text: &str) -> Option<usize> {
    let end = text.char_indices().take(MAX_BRACKET).last().map_or(0, |(at, last)| at + last.len_utf8());
    let inside = text.get(1..end)?;
    let inside = inside.strip_prefix(['!', '^']).unwrap_or(inside);
    let skipped = end - inside.len();
    let first = inside.chars().next()?.len_utf8();
    let close = inside[first..].find(']')?;
    let length = skipped + first + close + 1;
    // A slash ends it: globs fit within a component of a path.
    (!text[..length].contains('/')).then_some(length)
}

/// The script of a value, with a sign for each unknown part. `None` if nothing of it is known.
fn script(value: &WordValue) -> Option<String> {
    let mut text = String::new();
    let mut known = value.pieces().is_empty();
    for piece in value.pieces() {
        match piece {
            ValuePiece::Text(part) | ValuePiece::Glob(part) => {
                known |= !part.trim().is_empty();
                text.push_str(part);
            }
            ValuePiece::OneOf(texts) if texts.iter().all(|text| text.bytes().all(|byte| byte.is_ascii_digit())) => {
                text.push_str(texts.first().map_or("", String::as_str));
            }
            ValuePiece::OneOf(_) | ValuePiece::Unknown(_) => text.push(UNKNOWN),
        }
    }
    known.then_some(text)
}

/// The scripts that a value may be. Empty if nothing of it is known.
pub fn possible_scripts(value: &WordValue) -> Vec<(String, AnalysisConfidence)> {
    if !is_choice(value) {
        return script(value).map(|script| (script, AnalysisConfidence::Exact)).into_iter().collect();
    }
    let some = alternatives(value).into_iter().filter_map(|text| script(&text)).filter(|text| !text.trim().is_empty());
    some.map(|text| (text.replace(PARTING, " "), AnalysisConfidence::Partial)).collect()
}

#[cfg(test)]
mod tests {
    use super::{UNKNOWN, possible_scripts, push_closed, push_open};
    use crate::verdict::AnalysisConfidence;
    use crate::word_value::{ValuePiece, WordValue};

    #[test]
    fn globs_count_in_unquoted_text_only() {
        let glob = |text: &str| ValuePiece::Glob(text.to_owned());
        let text = |text: &str| ValuePiece::Text(text.to_owned());
        let mut open = WordValue::default();
        push_open(&mut open, "a*b?[c-d]e[f");
        assert_eq!(open.pieces(), [text("a"), glob("*"), text("b"), glob("?"), glob("[c-d]"), text("e[f")]);
        let mut closed = WordValue::default();
        push_closed(&mut closed, &format!("a*{UNKNOWN}b"));
        assert_eq!(closed.pieces(), [text("a*"), ValuePiece::Unknown(false), text("b")]);
    }

    #[test]
    fn a_script_keeps_a_sign_for_each_unknown_part() {
        let mut value = WordValue::of("rm ");
        value.push(ValuePiece::Unknown(true));
        assert_eq!(possible_scripts(&value), [(format!("rm {UNKNOWN}"), AnalysisConfidence::Exact)]);
        assert_eq!(possible_scripts(&WordValue::unknown()), []);
        let mut either = WordValue::default();
        either.push(ValuePiece::OneOf(vec!["a".to_owned(), " ".to_owned(), "b".to_owned()]));
        assert_eq!(
            possible_scripts(&either),
            [("a".to_owned(), AnalysisConfidence::Partial), ("b".to_owned(), AnalysisConfidence::Partial)]
        );
    }
}
