//! The parts of a word, and the quoting that makes bytes special in them.

use super::reader::is_meta;
use super::syntax::WordPart;

/// The surroundings of a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum QuotingContext {
    /// In a word.
    None,
    /// In `${…}`.
    Braces,
    /// In `${…}` between double quotes.
    QuotedBraces,
    /// In `$((…))`, `[…]` and patterns.
    Arithmetic,
    /// Between double quotes.
    Double,
    /// In the body of a heredoc.
    Heredoc,
}

impl QuotingContext {
    /// Returns whether single quotes quote here. If so, unquoted text is open to braces, globs and splitting.
    pub fn has_single(self) -> bool {
        matches!(self, Self::None | Self::Braces)
    }

    /// Returns whether double quotes quote here.
    pub fn has_double(self) -> bool {
        matches!(self, Self::None | Self::Braces | Self::QuotedBraces | Self::Arithmetic)
    }

    /// Returns whether an expansion here is quoted.
    pub fn is_quoted(self) -> bool {
        matches!(self, Self::Double | Self::QuotedBraces | Self::Heredoc)
    }
}

/// Returns whether a byte is not special in these surroundings.
pub fn is_plain(byte: u8, quoting: QuotingContext) -> bool {
    match quoting {
        QuotingContext::None => {
            !is_meta(byte)
                && !matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$' | b'?' | b'*' | b'+' | b'@' | b'!' | b'=')
        }
        QuotingContext::Braces => !b"\\'\"`$}".contains(&byte),
        QuotingContext::QuotedBraces => !b"\\\"`$}".contains(&byte),
        QuotingContext::Arithmetic => !b"\\\"`$()".contains(&byte),
        QuotingContext::Double => !b"\\\"`$".contains(&byte),
        QuotingContext::Heredoc => !b"\\`$".contains(&byte),
    }
}

/// Collects parts. Adjacent texts of one kind are joined.
#[derive(Default)]
pub struct WordPartCollector(Vec<WordPart>);

impl WordPartCollector {
    pub fn push(&mut self, part: WordPart) {
        // Most words have one part, and a text may have a million words.
        if self.0.is_empty() {
            self.0.reserve_exact(1);
        }
        self.0.push(part);
    }

    pub fn plain(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(WordPart::Text(last)) => last.push_str(text),
            _ => self.push(WordPart::Text(text.to_owned())),
        }
    }

    pub fn text(&mut self, next: Option<char>) {
        if let Some(next) = next {
            self.plain(next.encode_utf8(&mut [0; 4]));
        }
    }

    pub fn quoted(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(WordPart::Quoted(last)) => last.push_str(text),
            _ => self.push(WordPart::Quoted(text.to_owned())),
        }
    }

    pub fn done(self) -> Vec<WordPart> {
        self.0
    }
}
