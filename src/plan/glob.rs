//! Many name patterns tried at once: stars stand only at the ends, so each pattern is a comparison, not a search.

/// A compiled set of patterns: `NAME`, `START*`, `*END` and `*WITHIN*`. Case matters.
pub(super) struct Globs {
    exact: ByByte,
    starts: ByByte,
    ends: ByByte,
    within: ByByte,
    /// The first two bytes of the patterns in `within`, which are looked for at each place of a name.
    pairs: Pairs,
}

/// A set of byte pairs, to pass over most places of a text with one look.
pub(super) struct Pairs(Box<[u64; 1 << 10]>);

impl Pairs {
    pub(super) fn new() -> Self {
        Self(Box::new([0; 1 << 10]))
    }

    pub(super) fn add(&mut self, first: u8, second: u8) {
        let pair = usize::from(first) << 8 | usize::from(second);
        self.0[pair >> 6] |= 1 << (pair & 63);
    }

    pub(super) fn has(&self, first: u8, second: u8) -> bool {
        let pair = usize::from(first) << 8 | usize::from(second);
        self.0[pair >> 6] >> (pair & 63) & 1 == 1
    }
}

/// The patterns by the one byte that decides whether looking closer is worth it.
struct ByByte(Vec<Vec<(&'static [u8], usize)>>);

impl ByByte {
    fn new() -> Self {
        Self(vec![Vec::new(); 256])
    }

    fn add(&mut self, key: u8, text: &'static [u8], row: usize) {
        self.0[usize::from(key)].push((text, row));
    }

    fn at(&self, key: u8) -> &[(&'static [u8], usize)] {
        &self.0[usize::from(key)]
    }
}

impl Globs {
    /// Compiles `patterns`; a match gives back the index in this order.
    ///
    /// # Panics
    /// On a pattern without any text, or with a star between other characters: the tables are data of ours.
    pub(super) fn new(patterns: impl IntoIterator<Item = &'static str>) -> Self {
        let new = ByByte::new;
        let mut globs = Self { exact: new(), starts: new(), ends: new(), within: new(), pairs: Pairs::new() };
        for (row, pattern) in patterns.into_iter().enumerate() {
            let text = pattern.trim_matches('*').as_bytes();
            assert!(!text.is_empty() && !text.contains(&b'*'), "not a pattern: {pattern}");
            match (pattern.starts_with('*'), pattern.ends_with('*')) {
                (false, false) => globs.exact.add(text[0], text, row),
                (false, true) => globs.starts.add(text[0], text, row),
                (true, false) => globs.ends.add(text[text.len() - 1], text, row),
                (true, true) => {
                    assert!(text.len() > 1, "too short: {pattern}");
                    globs.within.add(text[0], text, row);
                    globs.pairs.add(text[0], text[1]);
                }
            }
        }
        globs
    }

    /// The row of a pattern that fits `name`, or None. Where several fit, exact ones win, then ends, starts, middles.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        let (&first, &last) = (name.first()?, name.last()?);
        let hit = |rows: &[(&'static [u8], usize)], fits: &dyn Fn(&[u8]) -> bool| {
            rows.iter().find(|(text, _)| fits(text)).map(|&(_, row)| row)
        };
        hit(self.exact.at(first), &|text| name == text)
            .or_else(|| hit(self.ends.at(last), &|text| name.ends_with(text)))
            .or_else(|| hit(self.starts.at(first), &|text| name.starts_with(text)))
            .or_else(|| {
                let mut pairs = name.windows(2).enumerate().filter(|(_, pair)| self.pairs.has(pair[0], pair[1]));
                pairs.find_map(|(at, pair)| hit(self.within.at(pair[0]), &|text| name[at..].starts_with(text)))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_pattern() {
        let globs = Globs::new(["ONE", "TWO_*", "*_THREE", "*FOUR*"]);
        for (name, row) in [
            ("ONE", Some(0)),
            ("ONES", None),
            ("TWO_", Some(1)),
            ("TWO", None),
            ("A_THREE", Some(2)),
            ("THREE", None),
            ("FOUR", Some(3)),
            ("AFOURB", Some(3)),
            ("FFOUR", Some(3)),
            ("FOU", None),
            ("one", None),
            ("", None),
        ] {
            assert_eq!(globs.find(name.as_bytes()), row, "{name}");
        }
    }

    #[test]
    #[should_panic(expected = "not a pattern")]
    fn a_star_inside_is_refused() {
        Globs::new(["A*B"]);
    }
}
