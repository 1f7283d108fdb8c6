//! The template of a line: the text that stays when numbers and hashes are masked. Lines with one template are repeats.

use std::hash::{Hash, Hasher};

/// Shortest run of hexadecimal digits that is masked as a whole, if it contains a digit.
const HEX: usize = 7;
/// Length of a rough template, in bytes.
const ROUGH: usize = 48;

/// Returns a number for the template of a line. Lines that differ only in digits and hashes have the same number.
pub fn template_hash(line: &str) -> u64 {
    let bytes = line.as_bytes();
    let (mut hash, mut at, mut is_start) = (0, 0, true);
    while let Some(&byte) = bytes.get(at) {
        let class = CLASSES[usize::from(byte)];
        // A letter within a word begins no hash.
        let masked = if class & DIGIT != 0 || class & HEX_LETTER != 0 && is_start { masked(bytes, at) } else { 0 };
        hash = mix(hash, if masked > 0 { b'#' } else { byte });
        at += masked.max(1);
        is_start = class == 0;
    }
    hash
}

/// Returns a number for the template of the start of a line. This is enough where a mistake hides nothing.
pub fn rough_template(line: &str) -> u64 {
    template_hash(start(line))
}

/// Does the same for a line without a digit.
pub fn exact_start(line: &str) -> u64 {
    start(line).bytes().fold(0, mix)
}

fn start(line: &str) -> &str {
    &line[..line.floor_char_boundary(line.len().min(ROUGH))]
}

/// Bits of the classes of bytes: letters and digits have one.
const OTHER_LETTER: u8 = 1;
const HEX_LETTER: u8 = 2;
const DIGIT: u8 = 4;

/// The class of each byte.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' | b'A'..=b'F' => HEX_LETTER,
            b'g'..=b'z' | b'G'..=b'Z' => OTHER_LETTER,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

fn mix(hash: u64, byte: u8) -> u64 {
    (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Returns the length of the number or hash at a place, or 0.
fn masked(bytes: &[u8], at: usize) -> usize {
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_start = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
    if is_start && digits < HEX {
        let run = &bytes[at..at + bytes[at..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count()];
        let ends = bytes.get(at + run.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        if run.len() >= HEX && ends && run.iter().any(u8::is_ascii_digit) {
            return run.len();
        }
    }
    digits
}

/// Returns a number for an unchanged line.
pub fn exact(line: &str) -> u64 {
    line.bytes().fold(1, mix)
}

/// Counts of recent templates. Bounded: a newer template replaces an older one.
#[derive(Debug)]
pub struct RecentTemplates {
    /// Each has its count in the highest bits.
    slots: Box<[u64; Self::SLOTS]>,
}

impl Default for RecentTemplates {
    fn default() -> Self {
        Self { slots: Box::new([0; Self::SLOTS]) }
    }
}

impl RecentTemplates {
    const SLOTS: usize = 512;
    /// The lower bits are those of a template, the highest ones those of its count, which ends at the largest one.
    const TEMPLATE: u64 = Self::ONE - 1;
    const ONE: u64 = 1 << 56;
    const MOST: u64 = u8::MAX as u64;

    /// Adds the templates with their counts up to `most`.
    pub fn hash_counts(&self, most: u64, to: &mut impl Hasher) {
        let counted = |slot: &u64| (slot & Self::TEMPLATE, (slot / Self::ONE).min(most));
        self.slots.iter().for_each(|slot| counted(slot).hash(to));
    }

    /// Notes a template. Returns how often it occurred before.
    pub fn count_template(&mut self, template: u64) -> u64 {
        let slot = &mut self.slots[(template >> 32) as usize % Self::SLOTS];
        if (*slot ^ template) & Self::TEMPLATE != 0 {
            *slot = template & Self::TEMPLATE;
        }
        let count = *slot / Self::ONE;
        *slot += if count < Self::MOST { Self::ONE } else { 0 };
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_hashes_do_not_count() {
        assert_eq!(template_hash("took 12 ms"), template_hash("took 3 ms"));
        assert_eq!(template_hash("commit 1a2b3c4d5e"), template_hash("commit 9f8e7d6c5b"));
        assert_eq!(template_hash("a1"), template_hash("a22"));
        assert_ne!(template_hash("took 12 ms"), template_hash("took 12 s"));
        assert_ne!(template_hash("deadbeef"), template_hash("feedface"));
    }

    #[test]
    fn templates_are_counted() {
        let mut seen = RecentTemplates::default();
        assert_eq!([7, 7, 9, 7].map(|template: u64| seen.count_template(template << 32)), [0, 1, 0, 2]);
    }
}
