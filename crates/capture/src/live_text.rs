//! Text on its way to a live reader.

/// The text that the reader has not taken: from `taken` on.
#[derive(Debug, Default)]
pub(super) struct UntakenLiveText {
    text: String,
    taken: usize,
}

impl UntakenLiveText {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Returns the next text: at most `max_bytes`, cut between characters, but at least one character. `None` if there
    /// is none.
    pub(super) fn take(&mut self, max_bytes: usize) -> Option<String> {
        let rest = &self.text[self.taken..];
        let first = rest.chars().next()?.len_utf8();
        let batch = rest[..rest.floor_char_boundary(max_bytes.max(first))].to_owned();
        self.taken += batch.len();
        if self.taken == self.text.len() {
            self.text.clear();
            self.taken = 0;
        }
        Some(batch)
    }

    /// Drops all text that was not taken, and says so in its place.
    pub(super) fn drop_untaken(&mut self) {
        let notice = format!("\n[{} bytes were left out here]\n", self.bytes());
        (self.text, self.taken) = (notice, 0);
    }

    /// Returns the number of bytes that were not taken.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() - self.taken
    }
}
