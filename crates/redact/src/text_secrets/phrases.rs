//! Secrets behind words: in SQL, in a netrc file, in a Dockerfile, in a script of expect.

use super::SecretTextScan;
use super::quotes::MAX_PLAIN;
use crate::secret_names::holds_secret;
use crate::secret_spans::SecretSpans;

impl SecretTextScan<'_> {
    /// Finds `PASSWORD 'x'` and `IDENTIFIED BY 'x'` of SQL, and `password x` of a netrc file.
    pub(super) fn phrases(&self, spans: &mut SecretSpans) {
        let is_netrc = memchr::memmem::find(self.bytes, b"machine ").is_some();
        for at in memchr::memchr2_iter(b'p', b'P', self.bytes) {
            if self.has_word(at, b"password") {
                self.find_phrase_secret(at + 8, is_netrc, spans);
                self.find_set_secret(at + 8, spans);
            }
        }
        for at in memchr::memmem::find_iter(self.bytes, b"secret \"") {
            // `key "k" { secret "X"; };`
            let value = at + 8..self.closing_quote(at + 8, b'"', false);
            if self.has_word(at, b"secret") && self.bytes.get(value.end + 1) == Some(&b';') {
                self.add(value, spans);
            }
        }
        for at in memchr::memchr2_iter(b'b', b'B', self.bytes) {
            if self.has_word(at, b"by") && self.is_identified(at) {
                self.find_phrase_secret(at + 2, true, spans);
            }
        }
        for at in memchr::memmem::find_iter(self.bytes, b"ENV ") {
            self.find_env_secret(at, spans);
        }
    }

    /// Finds what a script of expect sends when it was asked for a password: `send "X\r"`.
    pub(super) fn sent(&self, spans: &mut SecretSpans) {
        memchr::memmem::find_iter(self.bytes, b"send").for_each(|at| self.find_sent_secret(at, spans));
    }

    fn find_sent_secret(&self, at: usize, spans: &mut SecretSpans) {
        let before = &self.bytes[at.saturating_sub(256)..at];
        let is_asked =
            ["assword", "assphrase"].iter().any(|word| memchr::memmem::find(before, word.as_bytes()).is_some());
        let is_first = memchr::memmem::rfind(before, b"send")
            .is_none_or(|sent| memchr::memmem::find(&before[sent..], b"assword").is_some());
        if !is_asked || !is_first || !self.has_word(at, b"send") {
            return;
        }
        let from = at + 4 + self.count(at + 4, |byte| b" -".contains(byte), 8);
        let quote = self.opening_quote(from);
        let start = from + quote.len();
        let end = match quote.last() {
            Some(mark) => self.closing_quote(start, *mark, quote[0] == b'\\'),
            None => start + self.count(start, |byte| !byte.is_ascii_whitespace() && *byte != b'}', MAX_PLAIN),
        };
        let keys = memchr::memchr(b'\\', &self.bytes[start..end]).map_or(end, |keys| start + keys);
        self.add(start..keys, spans);
    }

    /// Finds the value of `ENV NAME value` on a line of a Dockerfile.
    fn find_env_secret(&self, at: usize, spans: &mut SecretSpans) {
        let start = at + 4;
        let end = start + self.count(start, |byte| byte.is_ascii_alphanumeric() || *byte == b'_', 96);
        let value = end + 1..end + 1 + self.count(end + 1, |byte| *byte != b'\n', MAX_PLAIN);
        let is_line = at > 0 && self.bytes[at - 1] == b'\n' && self.bytes.get(end) == Some(&b' ');
        if is_line && self.text.get(value.clone()).is_some_and(|text| holds_secret(&self.text[start..end], text)) {
            self.add(value, spans);
        }
    }

    /// Finds the value of `SET PASSWORD FOR me = 'X'`.
    fn find_set_secret(&self, after: usize, spans: &mut SecretSpans) {
        let sign = after + self.count(after, |byte| *byte != b'=' && *byte != b';', 96);
        let is_for = self.bytes.get(after..after + 5).is_some_and(|word| word.eq_ignore_ascii_case(b" for "));
        if is_for && self.bytes.get(sign) == Some(&b'=') {
            self.find_phrase_secret(sign + 1, false, spans);
        }
    }

    /// Returns whether `IDENTIFIED` or `IDENTIFIED WITH plugin` stands before a place.
    fn is_identified(&self, at: usize) -> bool {
        let before = &self.bytes[at.saturating_sub(64)..at];
        before.windows(10).any(|word| word.eq_ignore_ascii_case(b"identified"))
    }

    fn find_phrase_secret(&self, after: usize, plain: bool, spans: &mut SecretSpans) {
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
