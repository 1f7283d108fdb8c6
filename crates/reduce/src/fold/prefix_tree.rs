//! Chooses the headings that save most. Lines with common prefixes form a tree: lines that share a longer prefix are
//! within the lines that share a shorter one.

use std::collections::HashMap;

use crate::estimate::hundredths;

/// Tokens of ` [12 lines]` and its newline, in hundredths, and the least that a heading must save in addition.
const MARK: u64 = 430;
const GAIN: u64 = 150;
/// Steps of work for each line, and for any text.
const STEPS_PER_LINE: usize = 64;
const STEPS: usize = 4_096;
/// Depth of the deepest tree that is searched.
const DEPTH: usize = 24;
/// Deepest nesting of headings.
const NESTED: usize = 3;

/// A heading: the lines that it covers, and the length of its whole prefix in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PrefixHeading {
    pub start: usize,
    pub end: usize,
    pub length: usize,
}

/// The tree of some lines.
pub(super) struct PrefixTree<'a> {
    texts: &'a [&'a str],
    /// The length of the common prefix of each line with the next.
    common: &'a [usize],
    steps: usize,
    /// The tokens that the best headings of a range save below a prefix, and whether the range has a heading of its
    /// own.
    best: HashMap<(usize, usize, usize), (u64, bool)>,
}

/// Lines, the length of the prefix that is already removed, and the number of headings around them.
#[derive(Clone, Copy)]
struct PrefixRange {
    start: usize,
    end: usize,
    taken: usize,
    nested: usize,
}

impl<'a> PrefixTree<'a> {
    pub fn new(texts: &'a [&'a str], common: &'a [usize]) -> Self {
        Self { texts, common, steps: STEPS + texts.len() * STEPS_PER_LINE, best: HashMap::new() }
    }

    /// Returns the headings that save most, in order, outer headings first. `None` if finding them takes too many
    /// steps.
    pub fn headings(mut self) -> Option<Vec<PrefixHeading>> {
        let mut headings = Vec::new();
        let mut start = 0;
        for end in 1..=self.texts.len() {
            if end < self.texts.len() && self.common[end - 1] > 0 {
                continue;
            }
            if end - start > 1 {
                let range = PrefixRange { start, end, taken: 0, nested: 0 };
                self.best_saving(range, 0)?;
                self.collect(range, &mut headings);
            }
            start = end;
        }
        Some(headings)
    }

    /// Returns the tokens that the best headings of a range save.
    fn best_saving(&mut self, range: PrefixRange, depth: usize) -> Option<u64> {
        let PrefixRange { start, end, taken, nested } = range;
        if end - start < 2 || depth > DEPTH {
            return Some(0);
        }
        if let Some((saved, _)) = self.best.get(&(start, end, taken)) {
            return Some(*saved);
        }
        self.steps = self.steps.checked_sub(end - start)?;
        let length = self.shared(range);
        let below = self.save_below(range, length, depth)?;
        let mut best = (below, false);
        if length > taken && nested < NESTED {
            let prefix = hundredths(&self.texts[start][taken..length]);
            let own = (prefix * (end - start - 1) as u64).saturating_sub(MARK + GAIN);
            if own > 0 {
                let inner =
                    self.save_below(PrefixRange { taken: length, nested: nested + 1, ..range }, length, depth)?;
                if own + inner > below {
                    best = (own + inner, true);
                }
            }
        }
        self.best.insert((start, end, taken), best);
        Some(best.0)
    }

    fn save_below(&mut self, range: PrefixRange, length: usize, depth: usize) -> Option<u64> {
        let mut saved = 0;
        for (start, end) in self.split(range, length) {
            saved += self.best_saving(PrefixRange { start, end, ..range }, depth + 1)?;
        }
        Some(saved)
    }

    /// Returns the length of the prefix that all lines of a range share.
    fn shared(&self, PrefixRange { start, end, .. }: PrefixRange) -> usize {
        self.common[start..end - 1].iter().copied().min().unwrap_or(0)
    }

    /// Returns the parts of a range whose lines share more than `length`.
    fn split(&self, PrefixRange { start, end, .. }: PrefixRange, length: usize) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        let mut from = start;
        for at in start + 1..=end {
            if at == end || self.common[at - 1] <= length {
                if at - from > 1 {
                    parts.push((from, at));
                }
                from = at;
            }
        }
        parts
    }

    fn collect(&self, range: PrefixRange, headings: &mut Vec<PrefixHeading>) {
        let PrefixRange { start, end, taken, .. } = range;
        let Some(&(saved, own)) = self.best.get(&(start, end, taken)) else { return };
        if saved == 0 {
            return;
        }
        let length = self.shared(range);
        let mut inner = range;
        if own {
            headings.push(PrefixHeading { start, end, length });
            inner.taken = length;
        }
        for (start, end) in self.split(range, length) {
            self.collect(PrefixRange { start, end, ..inner }, headings);
        }
    }
}
