//! Colours and styles of text that waits to be drawn, beside the text, so that skipping text does not lose them.

/// The sequences that end all styles.
const RESETS: [&[u8]; 3] = [b"\x1b[m", b"\x1b[0m", b"\x1b[00m"];

/// Sequences with their places in a text.
#[derive(Default)]
pub(super) struct PendingStyles {
    /// For each sequence its place, and its end in `bytes`.
    places: Vec<(usize, usize)>,
    bytes: Vec<u8>,
}

impl PendingStyles {
    /// Adds a sequence behind so many bytes of text.
    pub(super) fn push(&mut self, at: usize, style: &[u8]) {
        self.bytes.extend_from_slice(style);
        self.places.push((at, self.bytes.len()));
    }

    /// Returns the number of bytes of the sequences.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.bytes.clear();
    }

    /// Returns the sequences up to this place of the text that still count there.
    pub(super) fn active_before(&self, place: usize) -> &[u8] {
        let passed = self.count_up_to(place);
        let is_reset = |index: &usize| RESETS.contains(&&self.bytes[self.end_before(*index)..self.places[*index].1]);
        let begin = (0..passed).rev().find(is_reset).map_or(0, |index| self.end_before(index));
        &self.bytes[begin..self.end_before(passed)]
    }

    /// Returns the text from this place on in pieces, each with the sequence behind it.
    pub(super) fn pieces<'a>(&'a self, text: &'a [u8], from: usize) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let passed = self.count_up_to(from);
        let (mut at, mut done) = (from, self.end_before(passed));
        let last = (text.len(), self.bytes.len());
        self.places[passed..].iter().copied().chain([last]).map(move |(place, end)| {
            let piece = (&text[at..place], &self.bytes[done..end]);
            (at, done) = (place, end);
            piece
        })
    }

    /// Returns the number of sequences up to this place of the text.
    fn count_up_to(&self, place: usize) -> usize {
        self.places.partition_point(|(at, _)| *at <= place)
    }

    /// Returns the end in `bytes` of the sequences before this one.
    fn end_before(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.places[before].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_at_a_place_begins_with_the_last_reset_before_it() {
        let mut styles = PendingStyles::default();
        for (at, style) in [(0, "\x1b[1m"), (2, "\x1b[31m"), (4, "\x1b[0m"), (4, "\x1b[4m"), (6, "\x1b[32m")] {
            styles.push(at, style.as_bytes());
        }
        let of = |from| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
            let pieces: Vec<_> =
                styles.pieces(b"aabbccdd", from).map(|(piece, style)| text(piece) + &text(style)).collect();
            (text(styles.active_before(from)), pieces.concat())
        };
        assert_eq!(of(0), ("\x1b[1m".into(), "aa\x1b[31mbb\x1b[0m\x1b[4mcc\x1b[32mdd".into()));
        assert_eq!(of(3), ("\x1b[1m\x1b[31m".into(), "b\x1b[0m\x1b[4mcc\x1b[32mdd".into()));
        assert_eq!(of(5), ("\x1b[0m\x1b[4m".into(), "c\x1b[32mdd".into()));
        assert_eq!(of(8), ("\x1b[0m\x1b[4m\x1b[32m".into(), String::new()));
    }
}
