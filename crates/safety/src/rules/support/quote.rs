//! Words as one would type them.

use crate::value::{Piece, Value};

/// Quotes a text as a word of the shell.
pub fn quote(text: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "_-./:=@%+,^".contains(char);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns a word as one would type it. `None` if a part of it is not known.
pub fn word(value: &Value) -> Option<String> {
    if value.pieces().is_empty() {
        return Some("''".to_owned());
    }
    let mut text = String::new();
    for piece in value.pieces() {
        match piece {
            Piece::Text(part) => text += &quote(part),
            Piece::Glob(part) => text += part,
            Piece::OneOf(_) | Piece::Unknown(_) => return None,
        }
    }
    Some(text)
}

/// Joins words to a line. `None` if a word is not known, or if the line would be too long to read.
pub fn line<'a>(words: impl IntoIterator<Item = &'a Value>) -> Option<String> {
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
        let mut glob = Value::of("a b/");
        glob.push(Piece::Glob("*".to_owned()));
        assert_eq!(
            line(&[Value::of("git"), Value::of("it's"), Value::of(""), glob]).as_deref(),
            Some(r"git 'it'\''s' '' 'a b/'*")
        );
        assert_eq!(line(&[Value::unknown()]), None);
        assert_eq!(quote("~"), "'~'");
    }
}
