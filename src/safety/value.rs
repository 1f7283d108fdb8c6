//! What a word is worth: known, known in parts, or unknown.

use std::borrow::Cow;

/// A part of a word after its expansion.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Exactly this text.
    Text(String),
    /// What an unquoted glob stands for, as it is written: `*`, `?`, `[a-z]`, `@(a|b)`. Without a match the shell leaves it as it is.
    Glob(String),
    /// One of these texts, depending on what happens before.
    OneOf(Vec<String>),
    /// Some text that cannot be known. Unquoted it may also be several words, or none (`true`).
    Hole(bool),
}

/// A word after its expansion. No two texts stand beside each other, and none is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Value(Vec<Piece>);

impl Value {
    /// A word that is known.
    pub fn of(text: impl Into<String>) -> Self {
        let mut value = Self::default();
        value.push(Piece::Text(text.into()));
        value
    }

    /// A word of which nothing is known.
    pub fn unknown() -> Self {
        Self(vec![Piece::Hole(false)])
    }

    /// Its parts in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// How long it is, bytes.
    pub fn weight(&self) -> usize {
        let length = |piece: &Piece| match piece {
            Piece::Text(text) | Piece::Glob(text) => text.len(),
            Piece::OneOf(texts) => texts.iter().map(String::len).sum(),
            Piece::Hole(_) => 1,
        };
        self.0.iter().map(length).sum()
    }

    /// Appends a part.
    pub fn push(&mut self, piece: Piece) {
        match (self.0.last_mut(), piece) {
            (_, Piece::Text(text)) if text.is_empty() => {}
            (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
            (_, piece) => self.0.push(piece),
        }
    }

    /// Appends another word's parts.
    pub fn extend(&mut self, other: &Self) {
        for piece in &other.0 {
            self.push(piece.clone());
        }
    }

    /// The whole text, where it is known. A glob is not: it stands for names.
    pub fn known(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text, with globs as they are written; `None` with a part that is not known.
    pub fn pattern(&self) -> Option<Cow<'_, str>> {
        if let Some(text) = self.known() {
            return Some(Cow::Borrowed(text));
        }
        let parts = self.0.iter().map(|piece| match piece {
            Piece::Text(text) | Piece::Glob(text) => Some(text.as_str()),
            Piece::OneOf(_) | Piece::Hole(_) => None,
        });
        parts.collect::<Option<String>>().map(Cow::Owned)
    }

    /// The text that it surely begins with.
    pub fn prefix(&self) -> &str {
        match self.0.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// The text that it surely ends with.
    pub fn suffix(&self) -> &str {
        match self.0.last() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// The word from this byte of its known beginning on: the value of `NAME=value` or `--name=value`.
    pub fn after(&self, from: usize) -> Self {
        let mut rest = Self::default();
        for (index, piece) in self.0.iter().enumerate() {
            match piece {
                Piece::Text(text) if index == 0 => {
                    rest.push(Piece::Text(text.get(from..).unwrap_or_default().to_owned()));
                }
                piece => rest.push(piece.clone()),
            }
        }
        rest
    }

    /// The path that it is, seen from a folder: `b` in `/a` is `/a/b`.
    pub fn seen_from(&self, folder: &Self) -> Self {
        if self.prefix().starts_with('/') {
            return self.clone();
        }
        let mut path = folder.clone();
        if !self.0.is_empty() {
            path.push(Piece::Text("/".to_owned()));
            path.extend(self);
        }
        path
    }

    /// Whether a part of it is an unquoted glob.
    pub fn has_glob(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    /// Whether a part of it is not known.
    pub fn has_hole(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Hole(_) | Piece::OneOf(_)))
    }

    /// The last component of the path that it is, where that is known: `$(npm bin)/eslint` is `eslint`.
    pub fn base_name(&self) -> Option<&str> {
        match self.known() {
            Some(text) => Some(text.rsplit('/').next().unwrap_or(text)),
            None => self.suffix().rsplit_once('/').map(|(_, name)| name),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::of(text)
    }
}
