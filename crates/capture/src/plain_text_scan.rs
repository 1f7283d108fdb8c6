//! Searches over plain runs of text. These searches are the whole cost of ordinary output, so each is a loop over
//! blocks that the compiler turns into vector code.

/// Number of bytes that are judged at once while all are plain.
const BLOCK: usize = 64;
/// Number of bytes that are judged before the first block.
const NEAR: usize = 24;

/// Returns the index of the first control character at or after `from` that is neither tab nor newline. C1 controls
/// (U+0080 to U+009F) count. Returns the length if there is none. `bytes` are valid UTF-8 and `from` is a character
/// boundary.
pub(super) fn next_control(bytes: &[u8], from: usize) -> usize {
    // Where there is one control, the next one is often near.
    let (mut at, mut end) = (from, bytes.len().min(from + NEAR));
    while at < bytes.len() {
        match first_stop(&bytes[at..end]) {
            None => at = end,
            // U+00A0 … U+00BF share their lead byte with the C1 controls.
            Some(i) if bytes[at + i] == 0xC2 && bytes[at + i + 1] >= 0xA0 => at += i + 2,
            Some(i) => return at + i,
        }
        while let Some(block) = bytes[at..].first_chunk::<BLOCK>()
            && (is_plain_ascii(block) || !block.is_ascii() && is_plain(block))
        {
            at += BLOCK;
        }
        end = bytes.len().min(at + BLOCK);
    }
    bytes.len()
}

/// Two shifted ranges instead of five comparisons: 9 … 126 without 11 … 31. Returns false for non-ASCII text.
fn is_plain_ascii(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(0u8, |found, &byte| {
        let above = byte.wrapping_sub(9).saturating_sub(117);
        let control = 21u8.saturating_sub(byte.wrapping_sub(11));
        found | above | control
    }) == 0
}

fn is_plain(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(0u8, |found, &byte| found | u8::from(stops_plain_run(byte))) == 0
}

/// Returns the index of the first byte that may end a plain run. Tests eight bytes at a time.
fn first_stop(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, &word) in words.iter().enumerate() {
        let lanes = stop_lanes(u64::from_le_bytes(word));
        if lanes != 0 {
            return Some(i * 8 + lanes.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|&byte| stops_plain_run(byte))?;
    Some(words.len() * 8 + at)
}

/// Does the work of [`stops_plain_run`] for eight bytes: sets the highest bit of each lane. No lane carries into the
/// next lane.
const fn stop_lanes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES * 0x80;
    let low7 = word & !HIGH;
    let printable = low7 + ONES * 0x60;
    let not_newline = (low7 ^ (ONES * 0x0A)) + ONES * 0x7F;
    let not_tab = (low7 ^ (ONES * 0x09)) + ONES * 0x7F;
    let not_del = (low7 ^ (ONES * 0x7F)) + ONES * 0x7F;
    let other = word ^ (ONES * 0xC2);
    let not_c2 = ((other & !HIGH) + ONES * 0x7F) | other;
    let control = ((!printable & not_newline & not_tab) | !not_del) & !word;
    (control | !not_c2) & HIGH
}

/// Returns whether a byte is a C0 control except tab and newline, DEL, or the lead byte of the C1 controls.
const fn stops_plain_run(byte: u8) -> bool {
    (byte < 0x20) & (byte != b'\n') & (byte != b'\t') | (byte == 0x7F) | (byte == 0xC2)
}

/// Returns the number of UTF-16 units of a text.
pub(super) fn utf16_len(text: &str) -> u64 {
    // At most two units per byte, so that a run of 127 bytes fits one byte-wide counter.
    text.as_bytes()
        .chunks(127)
        .map(|chunk| {
            let units = chunk.iter().fold(0u8, |sum, &b| sum + u8::from(b & 0xC0 != 0x80) + u8::from(b >= 0xF0));
            u64::from(units)
        })
        .sum()
}

/// Returns the number of newlines of a text.
pub(super) fn count_newlines(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
}

/// Returns the number of lines of a text, including an unfinished last line.
pub(super) fn count_lines(text: &str) -> u64 {
    count_newlines(text) + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Returns the index after the last newline, or 0 without one.
pub(super) fn after_newline(text: &str) -> usize {
    memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_value_is_classed_alike_by_each_way() {
        for byte in 0..=0xFFu8 {
            assert_eq!(is_plain_ascii(&[byte; BLOCK]), !stops_plain_run(byte) && byte < 0x80, "{byte:#x}");
            assert_eq!(is_plain(&[byte; BLOCK]), !stops_plain_run(byte), "{byte:#x}");
            for lane in 0..8 {
                for other in [0, b'\n', b' ', 0x7F, 0x80, 0xC2, 0xFF] {
                    let mut word = [other; 8];
                    word[lane] = byte;
                    assert_eq!(first_stop(&word), word.iter().position(|&byte| stops_plain_run(byte)), "{word:x?}");
                }
            }
        }
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
