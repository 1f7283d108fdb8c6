//! The value of a string in a program.

use super::syntax::StringInterpolation;
use super::token::InlineStringPart;

/// Longest key in a string.
const KEY: usize = 200;

/// Returns a string's text with its backslashes resolved.
pub(super) fn escaped(body: &[char], keep_unknown: bool) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at < body.len() {
        if body[at] == '\\' && at + 1 < body.len() {
            at = escape(body, at + 1, keep_unknown, &mut text);
        } else {
            text.push(body[at]);
            at += 1;
        }
    }
    text
}

/// Reads the escape behind a backslash at `at`. Returns its end.
fn escape(body: &[char], at: usize, keep_unknown: bool, text: &mut String) -> usize {
    let number = |from: usize, most: usize, radix: u32| {
        let digits = body[from.min(body.len())..].iter().take(most).take_while(|digit| digit.is_digit(radix));
        let digits: String = digits.collect();
        (u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32), from + digits.len())
    };
    match body[at] {
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        'a' | 'b' | 'f' | 'v' | 'e' => text.push(' '),
        '\n' => {}
        'u' | 'x' if body.get(at + 1) == Some(&'{') => {
            let (letter, end) = number(at + 2, 6, 16);
            text.extend(letter);
            return end + usize::from(body.get(end) == Some(&'}'));
        }
        'x' | 'u' | 'U' => {
            let most = match body[at] {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            let (letter, end) = number(at + 1, most, 16);
            text.extend(letter);
            return end;
        }
        '0'..='7' => {
            let (letter, end) = number(at, 3, 8);
            text.extend(letter);
            return end;
        }
        letter @ ('\\' | '\'' | '"' | '`' | '$' | '#' | '/' | '{' | '@') => text.push(letter),
        letter => {
            if keep_unknown {
                text.push('\\');
            }
            text.push(letter);
        }
    }
    at + 1
}

/// Returns a string's parts: text, and code that is computed.
pub(super) fn parts(body: &[char], inside: StringInterpolation, template: bool) -> Vec<InlineStringPart> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    while at < body.len() {
        let next = body.get(at + 1).copied().unwrap_or('\0');
        let code = match (inside, body[at]) {
            (_, '\\') if at + 1 < body.len() => {
                at = escape(body, at + 1, false, &mut text);
                continue;
            }
            (StringInterpolation::Hash, '#') if next == '{' => Some((at + 2, braces(body, at + 2))),
            (StringInterpolation::Dollar, '$') if next == '{' => Some((at + 2, braces(body, at + 2))),
            (StringInterpolation::Dollar, '$') if !template && (next == '_' || next.is_alphabetic()) => {
                let end = name(body, at + 1);
                let code: String = body[at..end].iter().collect();
                put(&mut parts, &mut text, code);
                at = end;
                continue;
            }
            // PHP's `{$name}` and Perl's `@name`
            (StringInterpolation::Dollar, '{') if !template && next == '$' => Some((at + 1, braces(body, at + 1))),
            _ => None,
        };
        match code {
            Some((from, end)) => {
                let code: String = body[from.min(end)..end].iter().collect();
                // `${name}` is `$name`.
                let named = !template && inside == StringInterpolation::Dollar && body[at] == '$';
                put(&mut parts, &mut text, if named { format!("${code}") } else { code });
                at = end + 1;
            }
            None => {
                text.push(body[at]);
                at += 1;
            }
        }
    }
    if !text.is_empty() {
        parts.push(InlineStringPart::Text(text));
    }
    parts
}

/// Returns the parts of a Python f-string.
pub(super) fn formatted(text: &str) -> Vec<InlineStringPart> {
    let body: Vec<char> = text.chars().collect();
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut at = 0;
    while at < body.len() {
        let twice = body.get(at + 1) == Some(&body[at]);
        match body[at] {
            '{' | '}' if twice => {
                plain.push(body[at]);
                at += 2;
            }
            '{' => {
                let end = braces(&body, at + 1);
                let code: String = body[at + 1..end.max(at + 1)].iter().collect();
                let code = code.split(['!', ':', '=']).next().unwrap_or_default().to_owned();
                put(&mut parts, &mut plain, code);
                at = end + 1;
            }
            letter => {
                plain.push(letter);
                at += 1;
            }
        }
    }
    if !plain.is_empty() {
        parts.push(InlineStringPart::Text(plain));
    }
    parts
}

fn put(parts: &mut Vec<InlineStringPart>, text: &mut String, code: String) {
    if !text.is_empty() {
        parts.push(InlineStringPart::Text(std::mem::take(text)));
    }
    parts.push(InlineStringPart::Code(code));
}

/// Returns the end of the brace that opened before `from`.
fn braces(body: &[char], from: usize) -> usize {
    let mut depth = 1;
    for (index, letter) in body.iter().enumerate().skip(from) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    body.len()
}

/// Returns the end of a name with its keys.
fn name(body: &[char], from: usize) -> usize {
    let mut at = from;
    while body.get(at).is_some_and(|letter| *letter == '_' || letter.is_alphanumeric()) {
        at += 1;
    }
    let close = match body.get(at) {
        Some('{') => '}',
        Some('[') => ']',
        _ => return at,
    };
    body[at..].iter().take(KEY).position(|letter| *letter == close).map_or(at, |length| at + length + 1)
}
