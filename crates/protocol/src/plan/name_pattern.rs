//! Name patterns with stars at their ends only, so that each pattern is a single comparison.

/// A set of patterns: `NAME`, `START*`, `*END` and `*WITHIN*`. Case matters.
pub(super) struct NamePatternSet(Vec<NamePattern>);

struct NamePattern {
    place: PatternPosition,
    text: &'static [u8],
    row: usize,
}

/// The place of a pattern's text in a name, in the order in which patterns are tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PatternPosition {
    Whole,
    End,
    Start,
    Anywhere,
}

impl NamePatternSet {
    /// Compiles `patterns`. A match returns the index in this order.
    ///
    /// # Panics
    /// On a pattern without text or with a star between other characters: the tables are part of the source.
    pub(super) fn new(patterns: impl IntoIterator<Item = &'static str>) -> Self {
        let mut globs: Vec<_> =
            patterns.into_iter().enumerate().map(|(row, pattern)| NamePattern::parse(pattern, row)).collect();
        globs.sort_by_key(|glob| glob.place);
        Self(globs)
    }

    /// Returns the row of the first pattern that fits `name`: exact patterns first, then ends, starts and middles.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        self.0.iter().find(|glob| glob.fits(name)).map(|glob| glob.row)
    }
}

impl NamePattern {
    fn parse(pattern: &'static str, row: usize) -> Self {
        let text = pattern.trim_matches('*').as_bytes();
        assert!(!text.is_empty() && !text.contains(&b'*'), "not a pattern: {pattern}");
        let place = match (pattern.starts_with('*'), pattern.ends_with('*')) {
            (false, false) => PatternPosition::Whole,
            (false, true) => PatternPosition::Start,
            (true, false) => PatternPosition::End,
            (true, true) => PatternPosition::Anywhere,
        };
        Self { place, text, row }
    }

    fn fits(&self, name: &[u8]) -> bool {
        match self.place {
            PatternPosition::Whole => name == self.text,
            PatternPosition::End => name.ends_with(self.text),
            PatternPosition::Start => name.starts_with(self.text),
            PatternPosition::Anywhere => name.windows(self.text.len()).any(|part| part == self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_pattern() {
        let globs = NamePatternSet::new(["ONE", "TWO_*", "*_THREE", "*FOUR*"]);
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
    fn the_narrowest_kind_wins() {
        let globs = NamePatternSet::new(["*A*", "A*", "*A", "A"]);
        assert_eq!(
            [globs.find(b"A"), globs.find(b"BA"), globs.find(b"AB"), globs.find(b"BAB")],
            [3, 2, 1, 0].map(Some)
        );
    }

    #[test]
    #[should_panic(expected = "not a pattern")]
    fn a_star_inside_is_refused() {
        NamePatternSet::new(["A*B"]);
    }
}
