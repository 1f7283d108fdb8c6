//! A word of a script as its program receives it, with the place of each byte in the script.

use std::borrow::Cow;
use std::ops::Range;

use crate::step_count;

/// A variable in a script, or the output of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableReference {
    /// The name; a number for an argument, and nothing for the output of commands: `$(…)`.
    pub name: String,
    /// The place in the script.
    pub place: usize,
    /// The end of that place.
    pub end: usize,
}

impl VariableReference {
    /// Returns the number of the argument that this is.
    pub fn argument_number(&self) -> Option<usize> {
        self.name.parse().ok().filter(|number| *number > 0)
    }
}

/// A word without its quotes. Expansions are left as they are.
pub struct UnquotedWord<'t> {
    /// The text.
    pub text: Cow<'t, str>,
    start: usize,
    /// The place of each byte in the script. `None`: they follow each other from `start` on.
    places: Option<Vec<Range<u32>>>,
    /// Places in `text` of a `$` or a backtick that expands nothing.
    literal: Vec<usize>,
}

impl<'t> UnquotedWord<'t> {
    /// Takes the quotes off a word of a script.
    pub fn unquote(script: &'t str, span: Range<usize>) -> Self {
        let source = script.get(span.clone()).unwrap_or_default();
        step_count::add(source.len());
        if !source.bytes().any(|byte| matches!(byte, b'\'' | b'"' | b'\\')) {
            return Self { text: Cow::Borrowed(source), start: span.start, places: None, literal: Vec::new() };
        }
        let mut decoder = WordUnquoter { source, at: 0, text: String::new(), places: Vec::new(), literal: Vec::new() };
        decoder.unquote_all();
        let WordUnquoter { text, places, literal, .. } = decoder;
        Self { text: Cow::Owned(text), start: span.start, places: Some(places), literal }
    }

    /// A text as it is, whose quotes stay.
    pub fn verbatim(text: &'t str) -> Self {
        Self { text: Cow::Borrowed(text), start: 0, places: None, literal: Vec::new() }
    }

    /// Takes a part of a script as it is.
    pub fn verbatim_part(script: &'t str, span: Range<usize>) -> Self {
        Self { start: span.start, ..Self::verbatim(script.get(span).unwrap_or_default()) }
    }

    /// Returns whether quotes were taken off, so that the text is one argument as a whole.
    pub fn is_argument(&self) -> bool {
        self.places.is_some()
    }

    /// Returns the place in the script of a part of the text, without the quotes around it.
    pub fn span_in_script(&self, part: Range<usize>) -> Range<usize> {
        let Some(places) = &self.places else { return self.start + part.start..self.start + part.end };
        match (places.get(part.start), part.end.checked_sub(1).and_then(|last| places.get(last))) {
            (Some(first), Some(last)) => self.start + first.start as usize..self.start + last.end as usize,
            _ => self.start..self.start,
        }
    }

    /// Returns whether a part of the text is all expansions (`$TOKEN`, `$(pass show x)`, `{token}` of other languages),
    /// so that it shows no secret.
    pub fn is_reference(&self, part: Range<usize>) -> bool {
        // An expansion that goes on behind the part is none of it.
        let bytes = &self.text.as_bytes()[..part.end];
        let mut at = part.start;
        let mut expands = false;
        while at < part.end {
            let is_literal = self.literal.binary_search(&at).is_ok() && !is_variable(bytes, at);
            let end = if is_literal { at } else { expansion_end(bytes, at) };
            let end = if end > at { end } else { template_field_end(bytes, at) };
            if end > at {
                (at, expands) = (end, true);
            } else if bytes[at].is_ascii_alphanumeric() || bytes[at] >= 0x80 || bytes[at] == b'$' {
                return false;
            } else {
                at += 1;
            }
        }
        expands || !bytes[part].iter().any(|byte| byte.is_ascii_graphic() && !b"*.'\"<>[]{}".contains(byte))
    }
}

impl UnquotedWord<'_> {
    /// Returns the variables in a part of the text, but not those within other expansions.
    pub fn references(&self, part: Range<usize>) -> Vec<VariableReference> {
        let bytes = self.text.as_bytes();
        let mut found = Vec::new();
        let mut at = part.start;
        step_count::add(part.len());
        while let Some(next) = memchr::memchr2(b'$', b'`', bytes.get(at..part.end).unwrap_or_default()) {
            at += next;
            let end = expansion_end(&bytes[..part.end], at);
            let name = self.text.get(at + 1..end).unwrap_or_default().trim_start_matches('{');
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let name = &name[..name.bytes().take_while(|byte| is_part(*byte)).count()];
            let is_output = bytes[at..end].starts_with(b"$(");
            if (is_output || !name.is_empty()) && self.literal.binary_search(&at).is_err() {
                let Range { start, end } = self.span_in_script(at..end);
                let name = if is_output { String::new() } else { name.to_owned() };
                found.push(VariableReference { name, place: start, end });
            }
            at = end.max(at + 1);
        }
        found
    }
}

/// Takes off the quotes of one word.
struct WordUnquoter<'s> {
    source: &'s str,
    at: usize,
    text: String,
    places: Vec<Range<u32>>,
    literal: Vec<usize>,
}

impl WordUnquoter<'_> {
    fn unquote_all(&mut self) {
        while let Some(&byte) = self.source.as_bytes().get(self.at) {
            match byte {
                b'\\' => self.escape(true),
                b'\'' => self.single(),
                b'"' => self.double(),
                b'$' if self.source[self.at + 1..].starts_with('\'') => self.ansi_c(),
                b'$' if self.source[self.at + 1..].starts_with('"') => self.at += 1,
                _ => self.copy(),
            }
        }
    }

    /// Adds a character that stands for a part of the source.
    fn push(&mut self, character: char, source: Range<usize>) {
        if matches!(character, '$' | '`') {
            self.literal.push(self.text.len());
        }
        self.text.push(character);
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.places.extend(std::iter::repeat_n(place(source.start)..place(source.end), character.len_utf8()));
    }

    /// Takes an expansion as it is, or one character.
    fn copy(&mut self) {
        let end = expansion_end(self.source.as_bytes(), self.at);
        if end == self.at {
            let Some(next) = self.source[self.at..].chars().next() else { return };
            self.push(next, self.at..self.at + next.len_utf8());
            self.at += next.len_utf8();
            return;
        }
        let known = self.literal.len();
        for (offset, next) in self.source[self.at..end].char_indices() {
            self.push(next, self.at + offset..self.at + offset + next.len_utf8());
        }
        self.literal.truncate(known);
        self.at = end;
    }

    /// Takes the character behind a backslash. Between double quotes only some characters lose it.
    fn escape(&mut self, always: bool) {
        let start = self.at;
        self.at += 1;
        let Some(next) = self.source[self.at..].chars().next() else { return self.push('\\', start..start + 1) };
        let end = self.at + next.len_utf8();
        self.at = end;
        if always || matches!(next, '$' | '`' | '"' | '\\' | '\n') {
            if next != '\n' {
                self.push(next, start..end);
            }
        } else {
            self.push('\\', start..start + 1);
            self.push(next, start + 1..end);
        }
    }

    fn single(&mut self) {
        self.at += 1;
        let length = memchr::memchr(b'\'', &self.source.as_bytes()[self.at..]);
        let end = length.map_or(self.source.len(), |length| self.at + length);
        for (offset, next) in self.source[self.at..end].char_indices() {
            self.push(next, self.at + offset..self.at + offset + next.len_utf8());
        }
        self.at = (end + 1).min(self.source.len());
    }

    fn double(&mut self) {
        self.at += 1;
        while let Some(&byte) = self.source.as_bytes().get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.escape(false),
                _ => self.copy(),
            }
        }
    }

    /// Takes `$'…'`.
    fn ansi_c(&mut self) {
        self.at += 2;
        while let Some(next) = self.source[self.at..].chars().next() {
            let start = self.at;
            self.at += next.len_utf8();
            match next {
                '\'' => return,
                '\\' => {
                    let character = self.escaped();
                    self.push(character, start..self.at);
                }
                _ => self.push(next, start..self.at),
            }
        }
    }

    /// Takes the rest of an escape of `$'…'`.
    fn escaped(&mut self) -> char {
        let Some(next) = self.source[self.at..].chars().next() else { return '\\' };
        self.at += next.len_utf8();
        let code = match next {
            'n' => 10,
            't' => 9,
            'r' => 13,
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 3)
            }
            'x' => self.digits(16, 2),
            'u' => self.digits(16, 4),
            'U' => self.digits(16, 8),
            other => return other,
        };
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut value = 0_u32;
        for _ in 0..most {
            let digit = self.source.as_bytes().get(self.at).and_then(|byte| char::from(*byte).to_digit(radix));
            let Some(digit) = digit else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        value
    }
}

/// Returns the end of the expansion that begins here; `at` if none does.
pub fn expansion_end(bytes: &[u8], at: usize) -> usize {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'`'), _) => {
            let mut end = at + 1;
            while end < bytes.len() && bytes[end] != b'`' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            (end + 1).min(bytes.len())
        }
        (Some(b'$'), Some(b'(' | b'{')) => balanced_end(bytes, at + 1),
        (Some(b'$'), Some(byte)) if byte.is_ascii_alphabetic() || *byte == b'_' => {
            let name = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
            at + 1 + name.count()
        }
        (Some(b'$'), Some(byte)) if byte.is_ascii_digit() || b"@*#?!".contains(byte) => at + 2,
        _ => at,
    }
}

/// Returns whether a `$` that expands nothing here is written for another shell: `$TOKEN`, `${…}` and `$(…)`, unlike
/// `$ecret`.
fn is_variable(bytes: &[u8], at: usize) -> bool {
    match (bytes[at], bytes.get(at + 1)) {
        (b'$', Some(b'{' | b'(')) => true,
        (b'$', Some(b'A'..=b'Z' | b'_')) => !bytes[at + 1..expansion_end(bytes, at)].iter().any(u8::is_ascii_lowercase),
        _ => false,
    }
}

/// Returns the end of the `{name}` that begins here; `at` if none does.
fn template_field_end(bytes: &[u8], at: usize) -> usize {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.".contains(byte);
    let length = if bytes[at] == b'{' { bytes[at + 1..].iter().take(64).take_while(is_part).count() } else { 0 };
    if length > 0 && bytes.get(at + 1 + length) == Some(&b'}') { at + length + 2 } else { at }
}

/// Returns the place behind the bracket that closes the one at `open`.
fn balanced_end(bytes: &[u8], open: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = open;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\'' => match memchr::memchr(b'\'', &bytes[at + 1..]) {
                Some(length) => at += length + 1,
                None => return bytes.len(),
            },
            b'(' | b'{' => depth += 1,
            b')' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_keeps_its_place() {
        for (source, text) in [
            ("plain", "plain"),
            ("'a b'c", "a bc"),
            ("\"a \\\"b\\n\"", "a \"b\\n"),
            ("a\\ b", "a b"),
            ("$'\\x67\\u00e9\\''", "gé'"),
            ("x\"$(echo \"y\")\"z", "x$(echo \"y\")z"),
            ("a\\\nb", "ab"),
        ] {
            let script = format!("é {source} end");
            let word = UnquotedWord::unquote(&script, 3..3 + source.len());
            assert_eq!(word.text, text, "{source}");
            let place = word.span_in_script(0..text.len());
            assert!(place.start >= 3 && place.end <= 3 + source.len(), "{source}: {place:?}");
        }
        let word = UnquotedWord::unquote("-p\"se cret\"x", 0..12);
        assert_eq!(word.span_in_script(2..9), 3..10, "without its quotes");
        assert_eq!(word.span_in_script(2..10), 3..12);
        assert!(word.span_in_script(4..4).is_empty());
    }

    #[test]
    fn an_expansion_is_no_secret_and_a_literal_dollar_may_be() {
        for (source, wanted) in [
            ("$TOKEN", true),
            ("\"${TOKEN:-x}\"", true),
            ("\"$(pass show 'a b')\"", true),
            ("`cat x`", true),
            ("$A:$B", true),
            ("***", true),
            ("'$ecret1'", false),
            ("\\$ecret1", false),
            ("a$TOKEN", false),
            ("$TOKEN-1", false),
            ("hunter2", false),
        ] {
            let word = UnquotedWord::unquote(source, 0..source.len());
            assert_eq!(word.is_reference(0..word.text.len()), wanted, "{source}");
        }
    }
}
