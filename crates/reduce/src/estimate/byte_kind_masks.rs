//! A block of bytes as one bit per byte and kind, so that runs are counted with a few operations.

use super::byte_kind::{ByteKind, KINDS};

/// Number of bytes in a block.
pub(super) const SIZE: usize = 64;

/// The kinds of the bytes of a block. Bit `i` belongs to byte `i`.
pub(super) struct ByteKindMasks {
    pub lower: u64,
    pub upper: u64,
    pub digit: u64,
    pub blank: u64,
    pub newline: u64,
    pub punctuation: u64,
    /// The kind of the last byte.
    pub last: ByteKind,
}

impl ByteKindMasks {
    pub fn of(bytes: &[u8; SIZE]) -> Self {
        let codes = bytes.map(code);
        let mut masks = [0u64; 3];
        for (at, word) in codes.as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            for (bit, mask) in masks.iter_mut().enumerate() {
                *mask |= pack(word >> bit) << (at * 8);
            }
        }
        let [a, b, c] = masks;
        Self {
            lower: a & !b & !c,
            upper: b & !a & !c,
            digit: a & b,
            blank: c & !a & !b,
            newline: a & c,
            punctuation: b & c,
            last: KINDS[usize::from(bytes[SIZE - 1])],
        }
    }

    /// Returns the bytes outside of ASCII.
    pub fn foreign(&self) -> u64 {
        !(self.lower | self.upper | self.digit | self.blank | self.newline | self.punctuation)
    }
}

/// Returns three bits for the kind of a byte, by comparisons alone, which processors do for many bytes at once.
fn code(byte: u8) -> u8 {
    let letter = u8::from((byte | 0x20).wrapping_sub(b'a') < 26);
    let upper = letter & u8::from(byte < b'a');
    let digit = u8::from(byte.wrapping_sub(b'0') < 10);
    let blank = u8::from(byte == b' ') | u8::from(byte == b'\t');
    let newline = u8::from(byte == b'\n') | u8::from(byte == b'\r');
    let punctuation = u8::from(byte < 0x80) & !(letter | digit | blank | newline);
    letter + upper + 3 * digit + 4 * blank + 5 * newline + 6 * punctuation
}

/// Packs the lowest bits of eight bytes into one byte.
fn pack(bytes: u64) -> u64 {
    const LOWEST: u64 = 0x0101_0101_0101_0101;
    const GATHER: u64 = 0x0102_0408_1020_4080;
    (bytes & LOWEST).wrapping_mul(GATHER) >> 56
}
