//! Secrets that any text shows, whatever its language: tokens, keys, addresses with credentials, names with values,
//! headers. Each pass goes over the text once.

use std::ops::Range;

use crate::decoded::{Decoded, expansion};
use crate::names::{holds_secret, holds_secret_in_query, is_header};
use crate::spans::{MARKER, Spans};
use crate::triggers;
use protocol::plan;

/// Longest name that is read before a sign.
const MAX_NAME: usize = 96;
/// Longest user and password of an address.
const MAX_ADDRESS: usize = 512;
/// Bytes of a value that are read to learn whether it is a secret. Without a bound, many names without values would
/// take quadratic time.
const MAX_VALUE: usize = 8192;
/// The same of a value without quotes.
const MAX_PLAIN: usize = 1024;
/// The same of an expansion.
const MAX_EXPANSION: usize = 1024;

/// Finds the secrets of a text.
pub fn scan(word: &Decoded<'_>, spans: &mut Spans) {
    let scan = Scan { word, text: &word.text, bytes: word.text.as_bytes() };
    scan.tokens(spans);
    scan.keys(spans);
    scan.addresses(spans);
    scan.pairs(spans);
    scan.phrases(spans);
}

struct Scan<'t> {
    word: &'t Decoded<'t>,
    text: &'t str,
    bytes: &'t [u8],
}

impl Scan<'_> {
    /// Tokens of well-known shapes.
    fn tokens(&self, spans: &mut Spans) {
        let mut at = 0;
        while at < self.bytes.len() {
            if let Some(token) = plan::token_at(self.bytes, at) {
                at = token.end.max(at + 1);
                spans.add(self.word.place(token));
            } else {
                at += 1;
            }
        }
        // `/bot123456:ABC…/` of Telegram.
        for at in memchr::memmem::find_iter(self.bytes, b"bot") {
            let digits = self.count(at + 3, u8::is_ascii_digit, 16);
            let colon = at + 3 + digits;
            if digits >= 6 && self.bytes.get(colon) == Some(&b':') {
                let length = self.count(colon + 1, |byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte), 64);
                if length >= 30 {
                    spans.add(self.word.place(colon + 1..colon + 1 + length));
                }
            }
        }
    }

    /// Private keys, up to their last line.
    fn keys(&self, spans: &mut Spans) {
        const END: &[u8] = b"-----END ";
        let mut from = 0;
        while let Some(begin) = memchr::memmem::find(&self.bytes[from..], b"-----BEGIN ").map(|at| from + at) {
            let label = begin + 11..(begin + 75).min(self.bytes.len());
            from = begin + 11;
            let Some(found) = memchr::memmem::find(&self.bytes[label.clone()], b"PRIVATE KEY") else { continue };
            let start = label.start + found + 11;
            let start = start + self.count(start, |byte| *byte == b'-', 5);
            let end = memchr::memmem::find(&self.bytes[start..], END).map_or(self.bytes.len(), |at| start + at);
            spans.add(self.word.place(start..end));
            from = end;
        }
    }

    /// `scheme://user:password@host`, and `user:password@tcp(host)`.
    fn addresses(&self, spans: &mut Spans) {
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

    /// Whether a user without a password is a token.
    fn is_token_like(&self, user: Range<usize>) -> bool {
        let user = &self.bytes[user];
        user.len() >= 20
            && user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
            && user.iter().any(u8::is_ascii_digit)
            && user.iter().any(u8::is_ascii_alphabetic)
    }

    /// `name=value`, `name: value`, `"name": "value"`, `name => value`, and headers.
    fn pairs(&self, spans: &mut Spans) {
        let mut done = 0;
        for sign in memchr::memchr2_iter(b'=', b':', self.bytes) {
            if sign < done {
                continue;
            }
            let Some(name) = self.name_before(sign) else { continue };
            let text = &self.text[name.span.clone()];
            if !triggers::may_name(text) && !matches!(name.before, Some(b'?' | b'&')) {
                continue;
            }
            let is_colon = self.bytes[sign] == b':';
            if is_colon && name.before == Some(b'/') {
                // The user of an address.
                continue;
            }
            let after = match (self.bytes.get(sign + 1), self.bytes.get(sign + 2)) {
                // Comparisons, `://` and `::`.
                (Some(b'=' | b'~'), _) if !is_colon => continue,
                (Some(b'/'), Some(b'/')) | (Some(b':'), _) if is_colon => continue,
                (Some(b'>'), _) if !is_colon => sign + 2,
                (Some(b'='), _) => sign + 2,
                _ => sign + 1,
            };
            let found = if is_header(text) && (is_colon || name.quoted || after == sign + 2) {
                self.header_value(after)
            } else {
                self.value(&name, sign, after)
            };
            if let Some(secret) = found {
                done = secret.end;
                self.add(secret, spans);
            }
        }
    }

    /// The name in front of a sign, behind quotes and blanks.
    fn name_before(&self, sign: usize) -> Option<Name> {
        let blanks = self.count_back(sign, |byte| *byte == b' ', 3);
        let mut end = sign - blanks;
        if self.bytes[sign] == b'=' && end > 0 && b"+:?".contains(&self.bytes[end - 1]) {
            end -= 1;
        }
        let quotes = self.count_back(end, |byte| b"\"'\\]".contains(byte), 3);
        let end = end - quotes;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let length = self.count_back(end, is_name, MAX_NAME + 1);
        let start = end - length;
        // A blank before a sign belongs to languages, not to shells: `x = 1`.
        (0 < length && length <= MAX_NAME).then(|| Name {
            span: start..end,
            quoted: quotes > 0,
            spaced: blanks > 0,
            before: start.checked_sub(1).map(|at| self.bytes[at]),
        })
    }

    /// The value of a header: behind its scheme, up to the end of its text or line.
    fn header_value(&self, after: usize) -> Option<Range<usize>> {
        let start = after + self.count(after, |byte| b" \t\"'\\,".contains(byte), 8);
        let is_value = |byte: &u8| !b"\"'\r\n\\`".contains(byte);
        let mut end = start + self.count(start, is_value, MAX_VALUE);
        let is_long = end == start + MAX_VALUE;
        if is_long {
            end += self.count(end, is_value, usize::MAX);
        }
        let value = &self.text[start..end];
        let scheme = value.bytes().take_while(u8::is_ascii_alphabetic).count();
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

    /// The value of a pair, if it is a secret.
    fn value(&self, name: &Name, sign: usize, after: usize) -> Option<Range<usize>> {
        let text = &self.text[name.span.clone()];
        let is_colon = self.bytes[sign] == b':' && after == sign + 1;
        let in_query = matches!(name.before, Some(b'?' | b'&')) && !is_colon;
        // Cheap first: most names are none of a secret, whatever their value.
        let is_secret =
            |value: &str| if in_query { holds_secret_in_query(text, value) } else { holds_secret(text, value) };
        if !is_secret("a plain value") {
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
            Some(mark) => self.closing_quote(start, *mark, quote.len() > 1),
            None if in_query => {
                start + self.count(start, |byte| !ends_plain(*byte) && !b"#,".contains(byte), usize::MAX)
            }
            None => self.plain_end(start, MAX_PLAIN),
        };
        let value = &self.text[start..end];
        // An expression of a program: `password=os.environ["X"]`.
        let is_code = quote.is_empty()
            && (value.contains(['(', '['])
                || ["process.", "os.", "self.", "this.", "env.", "config."].iter().any(|lead| value.starts_with(lead)));
        let counts = !is_code
            && match (is_colon, name.quoted, quote.is_empty()) {
                // `name:value` of any other language is left alone.
                (true, false, true) => blanks > 0 && self.is_line_of_its_own(name, start..end),
                _ => true,
            };
        if !counts || !is_secret(value) {
            return None;
        }
        let is_cut = quote.is_empty() && end - start + 4 > MAX_PLAIN;
        Some(start..if is_cut { self.plain_end(end, usize::MAX) } else { end })
    }

    /// The quote that begins here, with the backslashes before it.
    fn opening_quote(&self, at: usize) -> &[u8] {
        let slashes = self.count(at, |byte| *byte == b'\\', 3);
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b";|&)".contains(byte);
        match (self.bytes.get(at + slashes), self.bytes.get(at + slashes + 1)) {
            // The end of a text that ends with the sign: `grep 'token=' file`.
            (Some(b'"' | b'\''), next) if next.is_none_or(ends) => &[],
            (Some(b'"' | b'\''), _) => &self.bytes[at..=at + slashes],
            _ => &[],
        }
    }

    fn closing_quote(&self, start: usize, mark: u8, is_escaped: bool) -> usize {
        let mut at = start;
        while at < self.bytes.len() && self.bytes[at] != mark {
            match self.bytes[at] {
                b'\\' if is_escaped => return at,
                b'\\' if mark == b'"' => at += 2,
                _ => at += 1,
            }
        }
        self.text.floor_char_boundary(at.min(self.bytes.len()))
    }

    /// The end of a value without quotes, if it is near. A comma ends it if another pair follows.
    fn plain_end(&self, start: usize, most: usize) -> usize {
        let mut at = start;
        while at < self.bytes.len() && at - start < most {
            let expands = expansion(&self.bytes[..self.bytes.len().min(at + MAX_EXPANSION)], at);
            if expands > at {
                at = expands;
                continue;
            }
            let byte = self.bytes[at];
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
        self.text.floor_char_boundary(at.min(self.bytes.len()))
    }

    /// Whether a pair of words with a colon fills a line of a file, or all of a text and looks random.
    fn is_line_of_its_own(&self, name: &Name, value: Range<usize>) -> bool {
        let indent = self.count_back(name.span.start, |byte| b" \t-".contains(byte), 64);
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

    /// `PASSWORD 'x'` and `IDENTIFIED BY 'x'` of SQL, and `password x` of a netrc file.
    fn phrases(&self, spans: &mut Spans) {
        let is_netrc = memchr::memmem::find(self.bytes, b"machine ").is_some();
        for at in memchr::memchr2_iter(b'p', b'P', self.bytes) {
            if self.has_word(at, b"password") {
                self.phrase(at + 8, is_netrc, spans);
            }
        }
        for at in memchr::memchr2_iter(b'b', b'B', self.bytes) {
            if self.has_word(at, b"by") && self.has_word(at.saturating_sub(11), b"identified") {
                self.phrase(at + 2, false, spans);
            }
        }
    }

    fn phrase(&self, after: usize, plain: bool, spans: &mut Spans) {
        let blanks = self.count(after, |byte| b" \t(".contains(byte), 8);
        let quote = self.opening_quote(after + blanks);
        let start = after + blanks + quote.len();
        let end = match quote.last() {
            Some(mark) if blanks > 0 => self.closing_quote(start, *mark, quote.len() > 1),
            None if plain && blanks > 0 => self.plain_end(start, MAX_PLAIN),
            _ => return,
        };
        self.add(start..end, spans);
    }

    /// Whether a whole word begins here, in any case.
    fn has_word(&self, at: usize, word: &[u8]) -> bool {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-';
        let same = self.bytes.get(at..at + word.len()).is_some_and(|text| text.eq_ignore_ascii_case(word));
        // `\n` before it is a newline of `printf`.
        let is_after_escape = at > 1 && self.bytes[at - 2] == b'\\';
        same && (at == 0 || is_after_escape || !is_part(&self.bytes[at - 1]))
            && !self.bytes.get(at + word.len()).is_some_and(is_part)
    }

    /// Adds a secret, unless it is an expansion.
    fn add(&self, secret: Range<usize>, spans: &mut Spans) {
        if self.text.get(secret.clone()) != Some(MARKER) && !self.word.is_reference(secret.clone()) {
            spans.add(self.word.place(secret));
        }
    }

    /// How many bytes from a place on pass a test, at most `most`.
    fn count(&self, from: usize, test: impl Fn(&u8) -> bool, most: usize) -> usize {
        self.bytes.get(from..).unwrap_or_default().iter().take(most).take_while(|byte| test(byte)).count()
    }

    /// The same before a place.
    fn count_back(&self, to: usize, test: impl Fn(&u8) -> bool, most: usize) -> usize {
        self.bytes[..to].iter().rev().take(most).take_while(|byte| test(byte)).count()
    }
}

/// A name in front of a sign.
struct Name {
    span: Range<usize>,
    /// Whether a quote follows it.
    quoted: bool,
    /// Whether a blank follows it.
    spaced: bool,
    /// The byte before it.
    before: Option<u8>,
}

/// Whether a byte ends a value without quotes.
fn ends_plain(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`;&|<>)}".contains(&byte)
}
