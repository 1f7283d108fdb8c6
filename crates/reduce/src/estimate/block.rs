//! A block of bytes as one bit per byte and kind, so that runs are counted with a few operations.

use super::kind::{KINDS, Kind};

/// Number of bytes in a block.
pub(super) const SIZE: usize = 64;

/// The kinds of the bytes of a block. Bit `i` belongs to byte `i`.
pub(super) struct Block {
    pub lower: u64,
    pub upper: u64,
    pub digit: u64,
    pub blank: u64,
    pub newline: u64,
    pub punctuation: u64,
    /// The kind of the last byte.
    pub last: Kind,
}

/// One bit for each kind.
const FLAGS: [u8; 256] = {
    let mut flags = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        flags[byte] = match KINDS[byte] {
            Kind::Lower => 1,
            Kind::Upper => 2,
            Kind::Digit => 4,
            Kind::Blank => 8,
            Kind::Newline => 16,
            Kind::Punctuation => 32,
            Kind::Foreign | Kind::Start => 0,
        };
        byte += 1;
    }
    flags
};

impl Block {
    pub fn of(bytes: &[u8; SIZE]) -> Self {
        let mut masks = [0u64; 6];
        for (at, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let flags = u64::from_le_bytes(word.map(|byte| FLAGS[usize::from(byte)]));
            for (kind, mask) in masks.iter_mut().enumerate() {
                *mask |= pack(flags >> kind) << (at * 8);
            }
        }
        let [lower, upper, digit, blank, newline, punctuation] = masks;
        Self { lower, upper, digit, blank, newline, punctuation, last: KINDS[usize::from(bytes[SIZE - 1])] }
    }

    /// Returns the bytes outside of ASCII.
    pub fn foreign(&self) -> u64 {
        !(self.lower | self.upper | self.digit | self.blank | self.newline | self.punctuation)
    }
}

/// Packs the lowest bits of eight bytes into one byte.
fn pack(bytes: u64) -> u64 {
    const LOWEST: u64 = 0x0101_0101_0101_0101;
    const GATHER: u64 = 0x0102_0408_1020_4080;
    (bytes & LOWEST).wrapping_mul(GATHER) >> 56
}
