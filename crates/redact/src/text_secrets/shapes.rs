//! Tokens of well-known shapes, private keys, and addresses with credentials.

use std::ops::Range;

use protocol::plan;

use super::SecretTextScan;
use crate::secret_names::is_random;
use crate::secret_spans::SecretSpans;

/// Longest user and password of an address.
const MAX_ADDRESS: usize = 512;

impl SecretTextScan<'_> {
    /// Finds tokens of well-known shapes.
    pub(super) fn tokens(&self, spans: &mut SecretSpans) {
        plan::find_tokens(self.bytes).for_each(|token| spans.add(self.word.span_in_script(token)));
    }

    /// Finds private keys, up to their last line.
    pub(super) fn keys(&self, spans: &mut SecretSpans) {
        const END: &[u8] = b"-----END ";
        let mut from = 0;
        while let Some(begin) = memchr::memmem::find(&self.bytes[from..], b"-----BEGIN ").map(|at| from + at) {
            let label = begin + 11..(begin + 75).min(self.bytes.len());
            from = begin + 11;
            let Some(found) = memchr::memmem::find(&self.bytes[label.clone()], b"PRIVATE KEY") else { continue };
            let start = label.start + found + 11;
            let start = start + self.count(start, |byte| *byte == b'-', 5);
            let end = memchr::memmem::find(&self.bytes[start..], END).map_or(self.bytes.len(), |at| start + at);
            spans.add(self.word.span_in_script(start..end));
            from = end;
        }
    }

    /// Finds `scheme://user:password@host`, and `user:password@tcp(host)`.
    pub(super) fn addresses(&self, spans: &mut SecretSpans) {
        let mut done = 0;
        for scheme in memchr::memmem::find_iter(self.bytes, b"://") {
            let start = scheme + 3;
            if start < done || scheme == 0 || !self.bytes[scheme - 1].is_ascii_alphanumeric() {
                continue;
            }
            let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>\\|".contains(byte);
            let word = start + self.count(start, |byte| !ends(byte), MAX_ADDRESS);
            let host = start + self.count(start, |byte| !b"/?#".contains(byte), word - start);
            // A password may hold what should have been encoded.
            let port = memchr::memchr(b':', &self.bytes[start..host]).is_some_and(|colon| {
                let from = start + colon + 1;
                from < host && self.bytes[from..host].iter().all(u8::is_ascii_digit)
            });
            let within = memchr::memrchr(b'@', &self.bytes[start..host]);
            let later = || memchr::memrchr(b'@', &self.bytes[start..word]).filter(|_| !port);
            let has_colon = memchr::memchr(b':', &self.bytes[start..host]).is_some();
            let Some(sign) = within.or_else(|| later().filter(|_| has_colon)).map(|at| start + at) else { continue };
            done = sign;
            let secret = match memchr::memchr(b':', &self.bytes[start..sign]) {
                Some(colon) => start + colon + 1..sign,
                None if self.is_token_like(start..sign) => start..sign,
                None => continue,
            };
            self.add(secret, spans);
        }
        for sign in memchr::memchr_iter(b'@', self.bytes) {
            let rest = &self.bytes[sign + 1..];
            if rest.starts_with(b"tcp(") || rest.starts_with(b"unix(") {
                let word = self.count_back(sign, |byte| !byte.is_ascii_whitespace() && !b"\"'`/=".contains(byte), 256);
                if let Some(colon) = memchr::memchr(b':', &self.bytes[sign - word..sign]) {
                    self.add(sign - word + colon + 1..sign, spans);
                }
            }
        }
    }

    /// Returns whether a user without a password is a token.
    fn is_token_like(&self, user: Range<usize>) -> bool {
        if user.len() >= 8 && is_random(&self.text[user.clone()]) {
            return true;
        }
        let user = &self.bytes[user];
        user.len() >= 20
            && user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
            && user.iter().any(u8::is_ascii_digit)
            && user.iter().any(u8::is_ascii_alphabetic)
    }
}
