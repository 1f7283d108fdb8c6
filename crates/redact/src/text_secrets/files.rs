//! Secrets in files that a command writes: manifests, lists of settings, keys.

use std::ops::Range;

use super::SecretTextScan;
use super::quotes::MAX_PLAIN;
use crate::secret_names::{holds_secret, is_random};
use crate::secret_spans::SecretSpans;

impl SecretTextScan<'_> {
    /// Finds the values of settings whose names and values are apart.
    pub(super) fn named_values(&self, spans: &mut SecretSpans) {
        for name in [&b"name"[..], b"key", b"Name", b"Key"] {
            for at in memchr::memmem::find_iter(self.bytes, name) {
                self.named_value(at, name.len(), spans);
            }
        }
    }

    /// Finds the secrets of files with a form of their own.
    pub(super) fn files(&self, spans: &mut SecretSpans) {
        let has = |text: &[u8]| memchr::memmem::find(self.bytes, text).is_some();
        if has(b".pgpass") || has(b"PGPASSFILE") {
            self.pgpass(spans);
        }
        if has(b"kind: Secret") || has(b"stringData:") {
            self.manifests(spans);
        }
        if has(b"\"Secret\"") || has(b"\"stringData\"") {
            self.objects(spans);
        }
        if has(b"\"username\"") {
            // `kaggle.json`
            for at in memchr::memmem::find_iter(self.bytes, b"\"key\"") {
                self.random_value(at + 5, spans);
            }
        }
        for at in memchr::memmem::find_iter(self.bytes, b"Private-Lines:") {
            let start = at + self.count(at, |byte| *byte != b'\n', 64) + 1;
            let rest = self.bytes.get(start..).unwrap_or_default();
            let end = memchr::memmem::find(rest, b"Private-MAC").unwrap_or(rest.len());
            spans.add(self.word.span_in_script(start.min(self.bytes.len())..start.min(self.bytes.len()) + end));
        }
    }

    /// Finds the value of `name: DB_PASSWORD`, `value: X` in YAML and JSON, of `<add key="Password" value="X">`, of
    /// `<entry key="password">X</entry>` and of `<key>Password</key><string>X</string>`.
    fn named_value(&self, at: usize, length: usize, spans: &mut SecretSpans) {
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"\"'\\:,=>".contains(byte);
        let start = at + length + self.count(at + length, is_between, 16);
        let end = start + self.count(start, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte), 96);
        let between = end + self.count(end, is_between, 64);
        if start == at + length || start == end {
            return;
        }
        let rest = &self.bytes[between..];
        let from = if rest.len() > 5 && rest[..5].eq_ignore_ascii_case(b"value") {
            between + 5 + self.count(between + 5, |byte| b"\"'\\:= ".contains(byte), 16)
        } else if rest.starts_with(b"</key>") {
            let gap = between + 6 + self.count(between + 6, u8::is_ascii_whitespace, 64);
            if !self.bytes[gap..].starts_with(b"<string>") {
                return;
            }
            gap + 8
        } else if self.bytes[between - 1] == b'>'
            && memchr::memchr(b'<', &self.bytes[at.saturating_sub(64)..at]).is_some()
        {
            between
        } else {
            return;
        };
        let value = from..from + self.count(from, |byte| !b"\"'\\\r\n<".contains(byte), MAX_PLAIN);
        if self.text.get(value.clone()).is_some_and(|text| holds_secret(&self.text[start..end], text)) {
            self.add(value, spans);
        }
    }

    /// Finds the passwords of `host:port:database:user:password`.
    fn pgpass(&self, spans: &mut SecretSpans) {
        let mut start = 0;
        for word in self.text.split([' ', '\t', '\n', '"', '\'']) {
            let parts: Vec<&str> = word.splitn(5, ':').collect();
            if let [_, port, _, _, password] = parts[..]
                && (port == "*" || port.bytes().all(|byte| byte.is_ascii_digit()))
            {
                let end = start + word.len();
                // `printf 'h:1:d:u:X\\n'`
                let password = password
                    .strip_suffix("\\n")
                    .map_or(end - password.len()..end, |rest| end - 2 - rest.len()..end - 2);
                self.add(password, spans);
            }
            start += word.len() + 1;
        }
    }

    /// Finds the values below `data:` and `stringData:` of the documents that are secrets of Kubernetes.
    fn manifests(&self, spans: &mut SecretSpans) {
        let mut start = 0;
        for document in self.text.split("\n---") {
            if document.contains("kind: Secret") || document.contains("stringData:") {
                self.manifest(start, document, spans);
            }
            start += document.len() + 4;
        }
    }

    fn manifest(&self, mut at: usize, document: &str, spans: &mut SecretSpans) {
        let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let mut below = None;
        for line in document.split_inclusive('\n') {
            let text = line.trim_end();
            let indent = indent_of(text);
            let is_data = matches!(text.trim_start(), "data:" | "stringData:");
            match below {
                _ if is_data => below = Some(indent),
                Some(parent) if indent > parent => {
                    let value = text.find(": ").map_or(indent, |sign| sign + 2);
                    let value = value + text[value..].len() - text[value..].trim_start_matches([' ', '"', '\'']).len();
                    let end = text.trim_end_matches(['"', '\'']).len();
                    // `key: |` goes on below.
                    if value < end && !matches!(&text[value..end], "|" | "|-" | ">" | ">-") && !text.ends_with(':') {
                        self.add(at + value..at + end, spans);
                    }
                }
                _ if !text.trim().is_empty() => below = None,
                _ => {}
            }
            at += line.len();
        }
    }

    /// Finds the same in JSON.
    fn objects(&self, spans: &mut SecretSpans) {
        for name in [&b"ata\":"[..], b"ata\" :"] {
            for at in memchr::memmem::find_iter(self.bytes, name) {
                let open = at + name.len() + self.count(at + name.len(), u8::is_ascii_whitespace, 8);
                if self.bytes.get(open) != Some(&b'{') {
                    continue;
                }
                let end = open + self.count(open, |byte| *byte != b'}', MAX_PLAIN);
                let mut from = open;
                while let Some(sign) = memchr::memchr(b':', &self.bytes[from..end]) {
                    from = self.text_behind(from + sign + 1).map_or(from + sign + 1, |value| {
                        self.add(value.clone(), spans);
                        value.end.min(end)
                    });
                }
            }
        }
    }

    fn random_value(&self, after: usize, spans: &mut SecretSpans) {
        let sign = after + self.count(after, |byte| *byte == b' ', 4);
        if self.bytes.get(sign) == Some(&b':')
            && let Some(value) = self.text_behind(sign + 1)
            && is_random(&self.text[value.clone()])
        {
            self.add(value, spans);
        }
    }

    /// Returns the text between quotes behind a sign.
    fn text_behind(&self, sign: usize) -> Option<Range<usize>> {
        let open = sign + self.count(sign, u8::is_ascii_whitespace, 8);
        (self.bytes.get(open) == Some(&b'"')).then(|| open + 1..self.closing_quote(open + 1, b'"', false))
    }
}
