//! The tokens of SQL.

use crate::queries::unknown_mark::UNKNOWN;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SqlToken<'a> {
    /// The kind.
    pub kind: SqlTokenKind,
    /// The text, without the quotes around it.
    pub text: &'a str,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SqlTokenKind {
    /// A keyword, or a name without quotes.
    Word,
    /// A name in quotes.
    Name,
    /// A string.
    Text,
    /// A number.
    Number,
    /// A sign such as `(` or `<>`.
    Sign,
    /// A command of the client, such as `\i file` or `.read file`.
    Client,
    /// The end of a statement, such as `;`.
    End,
}

impl SqlToken<'_> {
    /// Returns whether the token is this keyword.
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.kind == SqlTokenKind::Word && self.text.eq_ignore_ascii_case(keyword)
    }

    /// Returns whether the token is one of these keywords, written in capitals with blanks between them.
    pub(super) fn is_any(&self, keywords: &str) -> bool {
        self.kind == SqlTokenKind::Word && keywords.split(' ').any(|keyword| self.text.eq_ignore_ascii_case(keyword))
    }

    /// Returns whether the token is this sign.
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.kind == SqlTokenKind::Sign && self.text == sign
    }

    /// Returns whether the token is, or may be, the name of an object.
    pub(super) fn is_name(&self) -> bool {
        matches!(self.kind, SqlTokenKind::Word | SqlTokenKind::Name | SqlTokenKind::Text)
    }

    /// Returns whether the token may be any words.
    pub(super) fn is_unknown(&self) -> bool {
        self.kind == SqlTokenKind::Word && self.text.starts_with(UNKNOWN)
    }
}

/// Longest name that is shown, in bytes.
const MAX_NAME: usize = 80;

/// Returns the name at the beginning of these tokens: `"public".users`.
pub(super) fn name(tokens: &[SqlToken<'_>]) -> String {
    let mut name = String::new();
    let mut open = true;
    for token in tokens {
        let dot = token.is_sign(".");
        if name.len() > MAX_NAME || (dot || token.kind == SqlTokenKind::Number) && name.is_empty() || !dot && !open {
            break;
        }
        if !dot && !token.is_name() {
            break;
        }
        name += token.text;
        open = dot;
    }
    name.truncate(name.floor_char_boundary(MAX_NAME));
    name
}
