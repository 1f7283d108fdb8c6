//! Choices that a seed decides.

/// A stream of numbers (SplitMix64).
pub struct SeededRandom(pub u64);

impl SeededRandom {
    /// Returns a number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    /// Returns one of some values.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Returns whether an event with this share of a hundred happens.
    pub fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// Returns a few places, near the beginning or anywhere.
    pub fn places(&mut self, near: usize, far: usize) -> Vec<usize> {
        let bound = if self.percent(50) { near } else { far };
        (0..=self.below(4)).map(|_| self.below(bound)).collect()
    }
}
