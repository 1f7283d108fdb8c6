//! Tables with names as their keys.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by name. The names are ours, so none is chosen to collide.
pub type NameMap<K, V> = HashMap<K, V, BuildHasherDefault<NameHasher>>;

/// A hash that takes a few instructions for a short name.
#[derive(Default)]
pub struct NameHasher(u64);

impl NameHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last));
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn finish(&self) -> u64 {
        // A table uses the lowest bits, and a product mixes the highest ones best.
        self.0.rotate_left(26)
    }
}

#[cfg(test)]
mod tests {
    use super::NameMap;

    #[test]
    fn names_are_told_apart() {
        let names: Vec<String> = (0..2000).map(|number| format!("name-{number}")).collect();
        let table: NameMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        assert!(names.iter().enumerate().all(|(at, name)| table.get(name.as_str()) == Some(&at)));
        assert!(!table.contains_key("name-") && !table.contains_key(""));
    }
}
