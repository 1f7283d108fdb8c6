//! Reads the words that bash prints for reading back, and writes words for bash.

/// Returns the first word without its quotes, and the rest of the text. `None` if a quote is not closed.
pub(super) fn word(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    word_until(text, |byte| matches!(byte, b' ' | b'\n' | b')'))
}

/// Like [`word`], up to another character that ends it.
pub(super) fn word_until(mut text: &[u8], ends: impl Fn(u8) -> bool) -> Option<(Vec<u8>, &[u8])> {
    let mut found = Vec::new();
    while let Some((&byte, rest)) = text.split_first() {
        text = match byte {
            b'\'' => {
                let length = memchr::memchr(b'\'', rest)?;
                found.extend_from_slice(&rest[..length]);
                &rest[length + 1..]
            }
            b'"' => double(rest, &mut found)?,
            b'$' if rest.first() == Some(&b'\'') => ansi_c(&rest[1..], &mut found)?,
            b'\\' => {
                let (&next, rest) = rest.split_first()?;
                found.push(next);
                rest
            }
            byte if ends(byte) => break,
            byte => {
                found.push(byte);
                rest
            }
        };
    }
    Some((found, text))
}

fn double<'a>(mut text: &'a [u8], found: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let length = memchr::memchr2(b'"', b'\\', text)?;
        found.extend_from_slice(&text[..length]);
        let rest = &text[length + 1..];
        if text[length] == b'"' {
            return Some(rest);
        }
        let (&next, after) = rest.split_first()?;
        match next {
            b'\n' => {}
            b'$' | b'`' | b'"' | b'\\' => found.push(next),
            other => found.extend_from_slice(&[b'\\', other]),
        }
        text = after;
    }
}

/// Reads the rest of a `$'…'` string.
fn ansi_c<'a>(mut text: &'a [u8], found: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let length = memchr::memchr2(b'\'', b'\\', text)?;
        found.extend_from_slice(&text[..length]);
        let rest = &text[length + 1..];
        if text[length] == b'\'' {
            return Some(rest);
        }
        let (&next, after) = rest.split_first()?;
        text = match next {
            b'0'..=b'7' => digits(rest, 8, 3, found),
            b'x' => digits(after, 16, 2, found),
            b'a' => push(7, after, found),
            b'b' => push(8, after, found),
            b'e' | b'E' => push(27, after, found),
            b'f' => push(12, after, found),
            b'n' => push(b'\n', after, found),
            b'r' => push(b'\r', after, found),
            b't' => push(b'\t', after, found),
            b'v' => push(11, after, found),
            b'\\' | b'\'' | b'"' | b'?' => push(next, after, found),
            // bash prints no other escapes.
            _ => return None,
        };
    }
}

fn push<'a>(byte: u8, after: &'a [u8], found: &mut Vec<u8>) -> &'a [u8] {
    found.push(byte);
    after
}

fn digits<'a>(text: &'a [u8], radix: u32, most: usize, found: &mut Vec<u8>) -> &'a [u8] {
    let mut value = 0;
    let mut length = 0;
    while let Some(digit) =
        text.get(length).filter(|_| length < most).and_then(|byte| char::from(*byte).to_digit(radix))
    {
        value = value * radix + digit;
        length += 1;
    }
    found.push((value & 0xff) as u8);
    &text[length..]
}

/// Adds the text in single quotes.
pub(super) fn push_quoted(code: &mut Vec<u8>, text: &[u8]) {
    code.push(b'\'');
    for (index, piece) in text.split(|byte| *byte == b'\'').enumerate() {
        if index > 0 {
            code.extend_from_slice(b"'\\''");
        }
        code.extend_from_slice(piece);
    }
    code.push(b'\'');
}
