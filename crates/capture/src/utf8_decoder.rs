//! Decodes bytes to text, independent of the split.

use std::str;

/// An incremental UTF-8 decoder. Each maximal invalid sequence becomes one U+FFFD, as in `String::from_utf8_lossy` and
/// the WHATWG decoder. A character that is split between two reads is joined again.
#[derive(Debug, Default)]
pub(super) struct Utf8StreamDecoder {
    /// The first bytes of an unfinished character.
    held: [u8; 4],
    len: usize,
    replaced: u64,
    /// Whether each byte is a character of its own, U+0000 to U+00FF. No byte is invalid then.
    bytes: bool,
    /// Text with replacements, kept for its capacity.
    mended: String,
}

impl Utf8StreamDecoder {
    /// Returns the number of invalid sequences replaced so far.
    pub(super) fn replaced(&self) -> u64 {
        self.replaced
    }

    /// Treats each further byte as a character: see `bytes`.
    pub(super) fn keep_bytes(&mut self) {
        self.bytes = true;
    }

    /// Returns the bytes of an unfinished character, at most three.
    pub(super) fn unfinished_bytes(&self) -> &[u8] {
        &self.held[..self.len]
    }

    pub(super) fn push(&mut self, mut bytes: &[u8], emit: &mut dyn FnMut(&str)) {
        if self.bytes {
            return self.spell_bytes(bytes, emit);
        }
        while self.len > 0 {
            let Some((&byte, rest)) = bytes.split_first() else { return };
            self.held[self.len] = byte;
            match str::from_utf8(&self.held[..=self.len]) {
                Ok(text) => {
                    emit(text);
                    self.len = 0;
                }
                Err(error) if error.error_len().is_none() => self.len += 1,
                Err(_) => {
                    // The new byte does not belong to the character and is examined again below.
                    self.len = 0;
                    self.replaced += 1;
                    emit("\u{FFFD}");
                    break;
                }
            }
            bytes = rest;
        }
        // Splitting off the unfinished character first lets the whole rest pass the fast check at once.
        let (whole, cut) = bytes.split_at(bytes.len() - unfinished_length(bytes));
        match simdutf8::basic::from_utf8(whole) {
            Ok("") => {}
            Ok(text) => emit(text),
            Err(_) => self.replace_invalid(whole, emit),
        }
        self.held[..cut.len()].copy_from_slice(cut);
        self.len = cut.len();
    }

    /// Drops the unfinished character, because the stream continues elsewhere.
    pub(super) fn forget_held(&mut self) {
        self.len = 0;
    }

    /// Ends the stream. An unfinished character becomes one more replacement.
    pub(super) fn end(&mut self, emit: &mut dyn FnMut(&str)) {
        if self.len > 0 {
            self.len = 0;
            self.replaced += 1;
            emit("\u{FFFD}");
        }
    }

    fn spell_bytes(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&str)) {
        self.mended.clear();
        self.mended.extend(bytes.iter().copied().map(char::from));
        emit(&self.mended);
        self.mended.clear();
    }

    fn replace_invalid(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&str)) {
        // Replacements are longer than the bytes they replace. Pieces keep the buffer small if a whole read is binary.
        const PIECE: usize = 64 * 1024;
        self.mended.clear();
        for chunk in bytes.utf8_chunks() {
            self.mended.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                self.replaced += 1;
                self.mended.push('\u{FFFD}');
            }
            if self.mended.len() >= PIECE {
                emit(&self.mended);
                self.mended.clear();
            }
        }
        if !self.mended.is_empty() {
            emit(&self.mended);
        }
        self.mended.clear();
        self.mended.shrink_to(2 * PIECE);
    }
}

/// Returns the length of the unfinished character at the end, 0 … 3.
fn unfinished_length(bytes: &[u8]) -> usize {
    for len in 1..=bytes.len().min(3) {
        let tail = &bytes[bytes.len() - len..];
        if tail[0] & 0xC0 != 0x80 {
            let unfinished =
                str::from_utf8(tail).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none());
            return if unfinished { len } else { 0 };
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (String, u64) {
        let (mut decoder, mut out) = (Utf8StreamDecoder::default(), String::new());
        for piece in pieces {
            decoder.push(piece, &mut |text| out.push_str(text));
        }
        decoder.end(&mut |text| out.push_str(text));
        (out, decoder.replaced())
    }

    #[test]
    fn an_em_dash_in_two_reads_is_one() {
        assert_eq!(decode([&b"\xe2"[..], b"\x80\x94"]), ("—".into(), 0));
        assert_eq!(decode([&b"\xe2"[..], b"\x80", b"\x94x"]), ("—x".into(), 0));
    }

    #[test]
    fn what_never_gets_finished_is_replaced() {
        assert_eq!(decode([&b"a\xe2\x80"[..]]), ("a\u{FFFD}".into(), 1));
        assert_eq!(decode([&b"\xf0\x9f"[..], b"z"]), ("\u{FFFD}z".into(), 1));
        assert_eq!(decode([&b"\xe2"[..], b"\xe2\x80\x94"]), ("\u{FFFD}—".into(), 1));
    }

    #[test]
    fn kept_bytes_are_a_character_each() {
        let all: Vec<u8> = (0..=255).collect();
        let (mut decoder, mut out) = (Utf8StreamDecoder::default(), String::new());
        decoder.keep_bytes();
        for piece in all.chunks(7) {
            decoder.push(piece, &mut |text| out.push_str(text));
        }
        decoder.end(&mut |text| out.push_str(text));
        assert_eq!(out.chars().map(|char| char as u32).collect::<Vec<_>>(), (0..=255).collect::<Vec<_>>());
        assert_eq!(decoder.replaced(), 0);
    }

    fn hostile() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            any::<u8>(),
            Just(0xE2),
            Just(0x80),
            Just(0x94),
            Just(0xF0),
            Just(0x9F),
            Just(0xED),
            Just(0xA0),
            Just(0xC2),
            Just(b'a'),
        ];
        proptest::collection::vec(byte, 0..60)
    }

    proptest! {
        #[test]
        fn any_split_is_the_lossy_text(bytes in hostile(), size in 1usize..9) {
            let (text, _) = decode(bytes.chunks(size));
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
            prop_assert_eq!(decode(bytes.chunks(size)).1, decode([&bytes[..]]).1);
        }
    }
}
