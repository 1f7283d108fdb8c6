//! Secrets in rows that SQL inserts.

use super::SecretTextScan;
use crate::secret_names::holds_secret;
use crate::secret_spans::SecretSpans;
use crate::step_count;

/// Bytes of a table's name and of the names of its columns.
const MAX_NAMES: usize = 1024;
/// Columns that are told apart.
const MAX_COLUMNS: usize = 64;

impl SecretTextScan<'_> {
    /// Finds the secret columns of `INSERT INTO table(column, …) VALUES ('…', …), (…)`.
    pub(super) fn rows(&self, spans: &mut SecretSpans) {
        let mut done = 0;
        for at in memchr::memchr2_iter(b'i', b'I', self.bytes) {
            let is_into = self.bytes.get(at..at + 5).is_some_and(|word| word.eq_ignore_ascii_case(b"into "));
            if at >= done && is_into {
                done = self.insert(at + 5, spans).unwrap_or(at);
            }
        }
    }

    /// Finds the secrets behind `INTO`, and returns the end of the rows.
    fn insert(&self, from: usize, spans: &mut SecretSpans) -> Option<usize> {
        let open = from + self.count(from, |byte| !b"(;)'".contains(byte), MAX_NAMES);
        if self.bytes.get(open) != Some(&b'(') {
            return None;
        }
        let close = open + 1 + self.count(open + 1, |byte| !b"();'".contains(byte), MAX_NAMES);
        let names = self.text.get(open + 1..close)?.split(',');
        let is_secret = |name: &str| holds_secret(name.trim_matches([' ', '`', '"', '\\', '[', ']']), "x1");
        let secret: Vec<bool> = names.take(MAX_COLUMNS).map(is_secret).collect();
        let values = close + 1 + self.count(close + 1, u8::is_ascii_whitespace, 16);
        let is_values = self.bytes.get(values..values + 6).is_some_and(|word| word.eq_ignore_ascii_case(b"values"));
        if !is_values || !secret.contains(&true) {
            return None;
        }
        let mut at = values + 6;
        loop {
            at += self.count(at, |byte| byte.is_ascii_whitespace() || *byte == b',', 16);
            if self.bytes.get(at) != Some(&b'(') {
                return Some(at);
            }
            at = self.row(at + 1, &secret, spans);
        }
    }

    /// Finds the secrets of a row, and returns its end.
    fn row(&self, from: usize, secret: &[bool], spans: &mut SecretSpans) -> usize {
        let (mut at, mut column, mut start) = (from, 0, None);
        while let Some(byte) = self.bytes.get(at) {
            match (byte, start) {
                (b'\'', Some(_)) if self.bytes.get(at + 1) == Some(&b'\'') => at += 1,
                (b'\'', Some(begin)) => {
                    if secret.get(column) == Some(&true) {
                        self.add(begin..at, spans);
                    }
                    start = None;
                }
                (b'\'', None) => start = Some(at + 1),
                (b',', None) => column += 1,
                (b')', None) => return at + 1,
                _ => {}
            }
            step_count::add(1);
            at += 1;
        }
        at
    }
}
