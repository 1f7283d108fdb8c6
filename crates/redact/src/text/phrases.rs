//! Secrets behind words: in SQL, in a netrc file, in a Dockerfile.

use super::Scan;
use super::quotes::MAX_PLAIN;
use crate::names::holds_secret;
use crate::spans::Spans;

impl Scan<'_> {
    /// Finds `PASSWORD 'x'` and `IDENTIFIED BY 'x'` of SQL, and `password x` of a netrc file.
    pub(super) fn phrases(&self, spans: &mut Spans) {
        let is_netrc = memchr::memmem::find(self.bytes, b"machine ").is_some();
        for at in memchr::memchr2_iter(b'p', b'P', self.bytes) {
            if self.has_word(at, b"password") {
                self.phrase(at + 8, is_netrc, spans);
            }
        }
        for at in memchr::memchr2_iter(b'b', b'B', self.bytes) {
            if self.has_word(at, b"by") && self.is_identified(at) {
                self.phrase(at + 2, false, spans);
            }
        }
        for at in memchr::memmem::find_iter(self.bytes, b"ENV ") {
            self.env(at, spans);
        }
        for at in memchr::memmem::find_iter(self.bytes, b"name") {
            self.named_value(at, spans);
        }
    }

    /// Finds the value of `name: DB_PASSWORD`, `value: X` in YAML and JSON.
    fn named_value(&self, at: usize, spans: &mut Spans) {
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"\"'\\:,".contains(byte);
        let start = at + 4 + self.count(at + 4, is_between, 16);
        let end = start + self.count(start, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte), 96);
        let key = end + self.count(end, is_between, 64);
        if start == at + 4 || !self.bytes[key..].starts_with(b"value") {
            return;
        }
        let from = key + 5 + self.count(key + 5, |byte| b"\"'\\: ".contains(byte), 16);
        let value = from..from + self.count(from, |byte| !b"\"'\\\r\n".contains(byte), MAX_PLAIN);
        if self.text.get(value.clone()).is_some_and(|text| holds_secret(&self.text[start..end], text)) {
            self.add(value, spans);
        }
    }

    /// Finds the value of `ENV NAME value` on a line of a Dockerfile.
    fn env(&self, at: usize, spans: &mut Spans) {
        let start = at + 4;
        let end = start + self.count(start, |byte| byte.is_ascii_alphanumeric() || *byte == b'_', 96);
        let value = end + 1..end + 1 + self.count(end + 1, |byte| *byte != b'\n', MAX_PLAIN);
        let is_line = at > 0 && self.bytes[at - 1] == b'\n' && self.bytes.get(end) == Some(&b' ');
        if is_line && self.text.get(value.clone()).is_some_and(|text| holds_secret(&self.text[start..end], text)) {
            self.add(value, spans);
        }
    }

    /// Returns whether `IDENTIFIED` or `IDENTIFIED WITH plugin` stands before a place.
    fn is_identified(&self, at: usize) -> bool {
        let before = &self.bytes[at.saturating_sub(64)..at];
        before.windows(10).any(|word| word.eq_ignore_ascii_case(b"identified"))
    }

    fn phrase(&self, after: usize, plain: bool, spans: &mut Spans) {
        let blanks = self.count(after, |byte| b" \t(".contains(byte), 8);
        let quote = self.opening_quote(after + blanks);
        let start = after + blanks + quote.len();
        let end = match quote.last() {
            Some(mark) if blanks > 0 => self.closing_quote(start, *mark, quote[0] == b'\\'),
            None if plain && blanks > 0 => self.plain_end(start, MAX_PLAIN),
            _ => return,
        };
        self.add(start..end, spans);
    }

    /// Returns whether a whole word begins here, in any case.
    fn has_word(&self, at: usize, word: &[u8]) -> bool {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-';
        let same = self.bytes.get(at..at + word.len()).is_some_and(|text| text.eq_ignore_ascii_case(word));
        // `\n` before it is a newline of `printf`.
        let is_after_escape = at > 1 && self.bytes[at - 2] == b'\\';
        same && (at == 0 || is_after_escape || !is_part(&self.bytes[at - 1]))
            && !self.bytes.get(at + word.len()).is_some_and(is_part)
    }
}
