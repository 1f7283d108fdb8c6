//! Names with values, and headers.

use std::ops::Range;

use super::SecretTextScan;
use super::quotes::{MAX_PLAIN, ends_plain};
use crate::secret_names::{
    behind_user, holds_secret, holds_secret_in_query, is_header, is_header_value, is_random, may_hold_secret,
};
use crate::secret_spans::SecretSpans;
use crate::secret_triggers;

/// Longest name that is read before a sign.
const MAX_NAME: usize = 96;
/// Bytes of a header that are read to learn whether it ends with a quote.
const MAX_VALUE: usize = 8192;

impl SecretTextScan<'_> {
    /// Finds `name=value`, `name: value`, `"name": "value"`, `name => value`, `<name>value</name>`, `"--name", "value"`
    /// and headers.
    pub(super) fn pairs(&self, spans: &mut SecretSpans) {
        let mut done = 0;
        let signs = self.bytes.iter().enumerate().filter(|(_, byte)| b"=:>,".contains(byte)).map(|(sign, _)| sign);
        for sign in signs {
            if sign < done {
                continue;
            }
            let Some(name) = self.name_before(sign) else { continue };
            let text = &self.text[name.span.clone()];
            if !secret_triggers::may_name_secret(text) && !matches!(name.before, Some(b'?' | b'&')) {
                continue;
            }
            let found = match self.bytes[sign] {
                b'>' => self.xml_element_value(&name, sign),
                b',' => self.list_item_value(&name, sign),
                _ => self.behind_sign(&name, sign),
            };
            if let Some(secret) = found {
                done = secret.end;
                self.add(secret, spans);
            }
        }
    }

    /// Returns the secret behind `=` or `:`.
    fn behind_sign(&self, name: &AssignedName, sign: usize) -> Option<Range<usize>> {
        let text = &self.text[name.span.clone()];
        let is_colon = self.bytes[sign] == b':';
        if is_colon && name.before == Some(b'/') {
            // The user of an address.
            return None;
        }
        let after = match (self.bytes.get(sign + 1), self.bytes.get(sign + 2)) {
            // Comparisons, `://` and `::`.
            (Some(b'=' | b'~'), _) if !is_colon => return None,
            (Some(b'/'), Some(b'/')) | (Some(b':'), _) if is_colon => return None,
            (Some(b'>'), _) if !is_colon => sign + 2,
            (Some(b'='), _) => sign + 2,
            _ => sign + 1,
        };
        if is_header(text) && (is_colon || name.quoted || after == sign + 2) {
            self.header_value(text, after)
        } else {
            self.value(name, sign, after)
        }
    }

    /// Returns the secret of an element of XML.
    fn xml_element_value(&self, name: &AssignedName, sign: usize) -> Option<Range<usize>> {
        let value = sign + 1..sign + 1 + self.count(sign + 1, |byte| !b"<\n".contains(byte), MAX_PLAIN);
        let is_element = name.before == Some(b'<') && self.bytes[value.end..].starts_with(b"</");
        let is_secret = || holds_secret(&self.text[name.span.clone()], &self.text[value.clone()]);
        (is_element && is_secret()).then_some(value)
    }

    /// Returns the secret behind a name in a list: `["--password", "x"]`, `("Authorization", "x")`.
    fn list_item_value(&self, name: &AssignedName, sign: usize) -> Option<Range<usize>> {
        let text = &self.text[name.span.clone()];
        let after = sign + 1 + self.count(sign + 1, |byte| byte.is_ascii_whitespace(), 8);
        let quote = self.opening_quote(after);
        if !name.quoted || quote.is_empty() {
            return None;
        }
        if is_header(text) {
            return self.header_value(text, after);
        }
        // `define('DB_PASSWORD', 'X')`
        let is_first = name.span.start.checked_sub(2).is_some_and(|before| self.bytes[before] == b'(');
        let is_constant = is_first && text.contains('_') && !text.bytes().any(|byte| byte.is_ascii_lowercase());
        self.value(name, sign, after).filter(|_| text.starts_with('-') || is_constant)
    }

    /// Finds the secret in `${PASSWORD:-secret}`.
    pub(super) fn defaults(&self, spans: &mut SecretSpans) {
        for at in memchr::memmem::find_iter(self.bytes, b"${") {
            let name =
                at + 2..at + 2 + self.count(at + 2, |byte| byte.is_ascii_alphanumeric() || *byte == b'_', MAX_NAME);
            let start = name.end + usize::from(self.bytes.get(name.end) == Some(&b':'));
            if !matches!(self.bytes.get(start), Some(b'-' | b'=')) {
                continue;
            }
            let start = start + 1;
            let value = start..start + self.count(start, |byte| !b"}\"'\n".contains(byte), MAX_PLAIN);
            let is_secret = || holds_secret(&self.text[name.clone()], &self.text[value.clone()]);
            if self.text.is_char_boundary(value.end) && is_secret() {
                self.add(value, spans);
            }
        }
    }

    /// Returns the name in front of a sign, behind quotes and blanks.
    fn name_before(&self, sign: usize) -> Option<AssignedName> {
        let blanks = self.count_back(sign, |byte| *byte == b' ', 3);
        let mut end = sign - blanks;
        if self.bytes[sign] == b'=' && end > 0 && b"+:?".contains(&self.bytes[end - 1]) {
            end -= 1;
        }
        let quotes = self.count_back(end, |byte| b"\"'\\]}".contains(byte), 3);
        let end = end - quotes;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let length = self.count_back(end, is_name, MAX_NAME + 1);
        let start = end - length;
        // A blank before a sign belongs to languages, not to shells: `x = 1`.
        (0 < length && length <= MAX_NAME).then(|| AssignedName {
            span: start..end,
            quoted: quotes > 0,
            spaced: blanks > 0,
            before: start.checked_sub(1).map(|at| self.bytes[at]),
        })
    }

    /// Returns the value of a header: behind its scheme, up to the end of its text or line.
    fn header_value(&self, name: &str, after: usize) -> Option<Range<usize>> {
        let blanks = self.count(after, |byte| b" \t,".contains(byte), 8);
        let quote = self.opening_quote(after + blanks).len();
        let start = after + blanks + quote;
        let start = start + self.count(start, |byte| b" \t\"'\\,".contains(byte), 8);
        let is_value = |byte: &u8| !b"\"'\r\n\\`".contains(byte);
        let mut end = start + self.count(start, is_value, MAX_VALUE);
        let is_long = end == start + MAX_VALUE;
        if is_long {
            end += self.count(end, is_value, usize::MAX);
        }
        let value = &self.text[start..end];
        if !is_header_value(name, value) {
            return None;
        }
        let scheme = value.bytes().take_while(u8::is_ascii_alphabetic).count();
        if scheme > 0 && &value[scheme..] == " " {
            // `"Bearer " + token`
            return None;
        }
        let is_scheme = scheme > 0 && value.as_bytes().get(scheme) == Some(&b' ') && value.len() > scheme + 1;
        let start = if is_scheme { start + scheme + 1 } else { start };
        let start = start + self.count(start, |byte| *byte == b' ', 8);
        if self.bytes.get(end) == Some(&b'\\') && self.bytes.get(end + 1) == Some(&b' ') {
            // A blank of the same word. Without its quotes the word is read once more.
            return None;
        }
        let is_quoted = self.bytes.get(end).is_some_and(|byte| b"\"'\\".contains(byte));
        // Without a quote that ends it, the next words are no part of it.
        let end = if is_quoted || is_long || self.word.is_argument() {
            end
        } else {
            start + self.count(start, |byte| *byte != b' ', end.saturating_sub(start))
        };
        (start < end).then_some(start..end)
    }

    /// Returns the value of a pair, if it is a secret.
    fn value(&self, name: &AssignedName, sign: usize, after: usize) -> Option<Range<usize>> {
        let text = &self.text[name.span.clone()];
        let is_colon = self.bytes[sign] == b':' && after == sign + 1;
        let in_query = matches!(name.before, Some(b'?' | b'&')) && !is_colon;
        // Cheap first: most names are none of a secret, whatever their value.
        let is_secret =
            |value: &str| if in_query { holds_secret_in_query(text, value) } else { holds_secret(text, value) };
        if !in_query && !may_hold_secret(text) {
            return None;
        }
        let blanks = self.count(after, |byte| *byte == b' ', 8);
        if blanks > 0 && !is_colon && !name.spaced && after == sign + 1 {
            // `NAME= command`: an empty value.
            return None;
        }
        let quote = self.opening_quote(after + blanks);
        let start = after + blanks + quote.len();
        let end = match quote.last() {
            Some(mark) => self.closing_quote(start, *mark, quote[0] == b'\\'),
            None if in_query => {
                start + self.count(start, |byte| !ends_plain(*byte) && !b"#,".contains(byte), usize::MAX)
            }
            None => self.plain_end(start, MAX_PLAIN),
        };
        // `f(password=None, token=None)`
        let is_within = |sign: &u8| *sign == b',' || *sign == b']' && !self.bytes[start..end].contains(&b'[');
        let end = end - usize::from(quote.is_empty() && self.bytes[start..end].last().is_some_and(is_within));
        let value = &self.text[start..end];
        let counts = !(quote.is_empty() && self.is_code(start..end))
            && match (is_colon, name.quoted, quote.is_empty()) {
                // `name:value` of any other language is left alone.
                (true, false, true) => blanks > 0 && self.is_line_of_its_own(name, start..end),
                _ => true,
            };
        if !counts || !is_secret(value) {
            return None;
        }
        let is_cut = quote.is_empty() && end - start + 4 > MAX_PLAIN;
        let start = start + behind_user(text, value);
        Some(start..if is_cut { self.plain_end(end, usize::MAX) } else { end })
    }

    /// Returns whether a value without quotes is an expression: `password=os.environ["X"]`, `password=ask()`.
    fn is_code(&self, value: Range<usize>) -> bool {
        const OBJECTS: [&str; 6] = ["process.", "os.", "self.", "this.", "env.", "config."];
        let text = &self.text[value.clone()];
        let is_call = text.find(['(', '[']).is_some_and(|at| {
            let is_name = text[..at].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte));
            is_name
                && (at == 0
                    || text.ends_with(']')
                    || self.bytes.get(value.end).is_some_and(|byte| b")\"'".contains(byte)))
        });
        is_call || OBJECTS.iter().any(|lead| text.starts_with(lead))
    }

    /// Returns whether a pair of words with a colon fills a line of a file, or all of a text and looks random.
    fn is_line_of_its_own(&self, name: &AssignedName, value: Range<usize>) -> bool {
        let indent = self.count_back(name.span.start, |byte| b" \t-".contains(byte), 64);
        let words = self.count_back(name.span.start, |byte| byte.is_ascii_alphabetic() || *byte == b' ', 64);
        let is_comment = name.span.start > words && self.bytes[name.span.start - words - 1] == b'#';
        if is_comment {
            return is_random(&self.text[value]);
        }
        let first = name.span.start - indent;
        let ends = self.bytes.get(value.end).is_none_or(|byte| b"\r\n\"'\\".contains(byte));
        match first.checked_sub(1).map(|at| self.bytes[at]) {
            Some(b'\n') => ends,
            None | Some(b'"' | b'\'') => {
                ends && value.len() >= 6 && self.bytes[value].iter().any(|byte| !byte.is_ascii_lowercase())
            }
            Some(_) => false,
        }
    }
}

/// A name in front of a sign.
struct AssignedName {
    span: Range<usize>,
    /// Whether a quote follows it.
    quoted: bool,
    /// Whether a blank follows it.
    spaced: bool,
    /// The byte before it.
    before: Option<u8>,
}
