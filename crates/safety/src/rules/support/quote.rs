//! Words as one would type them.

use crate::word_value::{ValuePiece, WordValue};

/// Quotes a text as a word of the shell.
pub fn quote(text: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "_-./:=@%+,^".contains(char);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns a word as one would type it. `None` if a part of it is not known.
pub fn word(value: &WordValue) -> Option<String> {
    if value.pieces().is_empty() {
        return Some("''".to_owned());
    }
    let mut text = String::new();
    for piece in value.pieces() {
        match piece {
            ValuePiece::Text(part) => text += &quote(part),
            ValuePiece::Glob(part) => text += part,
            ValuePiece::OneOf(_) | ValuePiece::Unknown(_) => return None,
        }
    }
    Some(text)
}

/// Joins words to a line. `None` if a word is not known, or if the line would be too long to read.
pub fn line<'a>(words: impl IntoIterator<Item = &'a WordValue>) -> Option<String> {
    let mut line = String::new();
    for value in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line += &word(value)?;
        if line.len() > 400 {
            return None;
        }
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_as_they_were() {
        let mut glob = WordValue::of("a b/");
        glob.push(ValuePiece::Glob("*".to_owned()));
        assert_eq!(
            line(&[WordValue::of("git"), WordValue::of("it's"), WordValue::of(""), glob]).as_deref(),
            Some(r"git 'it'\''s' '' 'a b/'*")
        );
        assert_eq!(line(&[WordValue::unknown()]), None);
        assert_eq!(quote("~"), "'~'");
    }
}
