//! Searches over plain runs of text. They are the whole cost of ordinary output, so each is a loop over blocks that
//! the compiler turns into vector code.

const BLOCK: usize = 64;

/// Bytes that end a plain run: C0 controls but tab and newline, DEL, and the lead byte of the C1 controls.
const STOP: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = byte != b'\t' as usize && byte != b'\n' as usize;
        byte += 1;
    }
    table[0x7F] = true;
    table[0xC2] = true;
    table
};

/// Index of the first control character at or after `from` that is neither tab nor newline, C1 controls (U+0080 to
/// U+009F) included; the length when there is none. `bytes` are valid UTF-8 and `from` is a character boundary.
pub(super) fn next_control(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        while let Some(block) = bytes[at..].first_chunk::<BLOCK>()
            && (is_plain_ascii(block) || is_plain(block))
        {
            at += BLOCK;
        }
        let end = bytes.len().min(at + BLOCK);
        match bytes[at..end].iter().position(|&byte| STOP[usize::from(byte)]) {
            // U+00A0 … U+00BF share their lead byte with the C1 controls.
            Some(i) if bytes[at + i] == 0xC2 && bytes[at + i + 1] >= 0xA0 => at += i + 2,
            Some(i) => return at + i,
            None if end == bytes.len() => return end,
            None => at = end,
        }
    }
}

/// Two shifted ranges instead of five comparisons: 9 … 126 without 11 … 31. It is false for non-ASCII text.
fn is_plain_ascii(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(0u8, |found, &byte| {
        let above = byte.wrapping_sub(9).saturating_sub(117);
        let control = 21u8.saturating_sub(byte.wrapping_sub(11));
        found | above | control
    }) == 0
}

fn is_plain(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(0u8, |found, &byte| {
        let low = u8::from(byte < 0x20) & u8::from(byte != b'\n') & u8::from(byte != b'\t');
        found | low | u8::from(byte == 0x7F) | u8::from(byte == 0xC2)
    }) == 0
}

/// UTF-16 units of a text.
pub(super) fn utf16_len(text: &str) -> u64 {
    // At most two units a byte, so that a run of 127 bytes fits one byte-wide counter.
    text.as_bytes()
        .chunks(127)
        .map(|chunk| {
            let units = chunk.iter().fold(0u8, |sum, &b| sum + u8::from(b & 0xC0 != 0x80) + u8::from(b >= 0xF0));
            u64::from(units)
        })
        .sum()
}

/// Newlines of a text.
pub(super) fn newlines(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
}

/// Lines of a text, an unfinished last one included.
pub(super) fn lines(text: &str) -> u64 {
    newlines(text) + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_value_is_classed_alike_by_each_way() {
        for byte in 0..0x80u8 {
            let plain = !STOP[usize::from(byte)];
            assert_eq!(is_plain_ascii(&[byte; BLOCK]), plain, "{byte:#x}");
            assert_eq!(is_plain(&[byte; BLOCK]), plain, "{byte:#x}");
        }
        assert!(!is_plain_ascii(&[0x80; BLOCK]) && !is_plain_ascii(&[0xFF; BLOCK]));
    }

    proptest! {
        #[test]
        fn finds_the_first_control(text in "([a-z \u{a0}é日\n\t]{0,90}[\u{0}-\u{bf}]?){0,3}") {
            let expected = text.char_indices().find(|(_, c)| c.is_control() && !"\n\t".contains(*c));
            prop_assert_eq!(next_control(text.as_bytes(), 0), expected.map_or(text.len(), |(i, _)| i));
        }

        #[test]
        fn counts_units(text in "\\PC{0,200}") {
            prop_assert_eq!(utf16_len(&text), text.encode_utf16().count() as u64);
        }
    }
}
