//! Secrets in the arguments of functions of any language: `login("me", "X")`, `auth=("me", "X")`.

use std::ops::Range;

use super::SecretTextScan;
use crate::secret_functions::secret_argument;
use crate::secret_spans::SecretSpans;

/// Bytes of the arguments that are read.
const MAX_ARGUMENTS: usize = 512;

impl SecretTextScan<'_> {
    /// Finds the secrets in the arguments of functions.
    pub(super) fn calls(&self, spans: &mut SecretSpans) {
        for at in 1..self.bytes.len() {
            let is_sign = match self.bytes[at] {
                b'(' | b'[' => true,
                b' ' => matches!(self.bytes.get(at + 1), Some(b'\'' | b'"')),
                _ => false,
            };
            if let Some(wanted) = is_sign.then(|| secret_argument(self.bytes, at)).flatten()
                && let Some(secret) = self.argument(at + 1, wanted)
            {
                self.add(secret, spans);
            }
        }
    }

    /// Returns an argument that is a text between quotes.
    fn argument(&self, from: usize, wanted: usize) -> Option<Range<usize>> {
        let end = self.bytes.len().min(from + MAX_ARGUMENTS);
        let (mut at, mut number) = (from, 0);
        while at < end {
            at += self.count(at, u8::is_ascii_whitespace, 16);
            let quote = self.opening_quote(at);
            if let Some(mark) = quote.last() {
                let start = at + quote.len();
                let close = self.closing_quote(start, *mark, quote[0] == b'\\');
                at = close + 1 + usize::from(quote[0] == b'\\');
                if number == wanted {
                    // `hash("a" + b)` is given another text.
                    let blanks = self.count(at, |byte| *byte == b' ', 8);
                    let is_whole = self
                        .bytes
                        .get(at + blanks)
                        .is_none_or(|byte| b",)];\n".contains(byte) || blanks > 0 && *byte == b'-');
                    return (start < close && is_whole).then_some(start..close);
                }
            }
            at += self.count(at, |byte| !b",()[]\n;".contains(byte), MAX_ARGUMENTS);
            if self.bytes.get(at) != Some(&b',') {
                return None;
            }
            (at, number) = (at + 1, number + 1);
        }
        None
    }
}
