//! Values with and without quotes.

use super::SecretTextScan;
use crate::step_count;
use crate::unquoted_word::expansion_end;

/// Bytes of a value without quotes that are read to learn whether it is a secret. Without a bound, many names without
/// values would take quadratic time.
pub const MAX_PLAIN: usize = 1024;
/// The same of an expansion.
const MAX_EXPANSION: usize = 1024;
/// Longest name behind a comma.
const MAX_NAME: usize = 96;

impl SecretTextScan<'_> {
    /// Returns the quote that begins here, with what stands before it: backslashes, or the letter of a language.
    pub(super) fn opening_quote(&self, at: usize) -> &[u8] {
        let is_letter = self.bytes.get(at).is_some_and(|byte| b"$@NRBFUrbfu".contains(byte));
        let slashes = if is_letter { 1 } else { self.count(at, |byte| *byte == b'\\', 3) };
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b";|&)".contains(byte);
        match (self.bytes.get(at + slashes), self.bytes.get(at + slashes + 1)) {
            // The end of a text that ends with the sign: `grep 'token=' file`.
            (Some(b'"' | b'\''), next) if next.is_none_or(ends) => &[],
            (Some(b'"' | b'\''), _) => &self.bytes[at..=at + slashes],
            _ => &[],
        }
    }

    /// Returns the place of the quote that closes a text.
    pub(super) fn closing_quote(&self, start: usize, mark: u8, is_escaped: bool) -> usize {
        let mut at = start;
        while at < self.bytes.len() && self.bytes[at] != mark {
            match self.bytes[at] {
                b'\\' if is_escaped => break,
                b'\\' if mark == b'"' => at += 2,
                _ => at += 1,
            }
        }
        step_count::add(at - start);
        self.text.floor_char_boundary(at.min(self.bytes.len()))
    }

    /// Returns the end of a value without quotes, if it is near. A comma ends it if another pair follows.
    pub(super) fn plain_end(&self, start: usize, most: usize) -> usize {
        let mut at = start;
        while at < self.bytes.len() && at - start < most {
            let byte = self.bytes[at];
            if matches!(byte, b'$' | b'`') {
                let expands = expansion_end(&self.bytes[..self.bytes.len().min(at + MAX_EXPANSION)], at);
                at = expands.max(at + 1);
                continue;
            }
            if ends_plain(byte) || (byte == b'\\' && self.bytes.get(at + 1) == Some(&b'n')) {
                break;
            }
            if byte == b',' {
                let name = self.count(at + 1, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte), MAX_NAME);
                if matches!(self.bytes.get(at + 1 + name), Some(b'=' | b':')) && name > 0 {
                    break;
                }
            }
            at += 1;
        }
        step_count::add(at - start);
        self.text.floor_char_boundary(at.min(self.bytes.len()))
    }
}

/// Returns whether a byte ends a value without quotes.
pub fn ends_plain(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | b'"' | b'\'' | b'`' | b';' | b'&' | b'|' | b'<' | b'>' | b')' | b'}')
}
