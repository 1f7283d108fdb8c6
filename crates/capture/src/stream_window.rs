//! The part of a stream that stays in memory.

/// The whole stream while it is short, then its start and its end. Memory: the whole stream until
/// [`StreamWindow::split`], then at most `head` and twice `tail` bytes.
#[derive(Debug)]
pub(super) struct StreamWindow {
    /// Bytes kept of the beginning and of the end, once split.
    head: usize,
    tail: usize,
    text: WindowText,
}

#[derive(Debug)]
enum WindowText {
    Whole(String),
    Split { head: String, tail: String },
}

impl StreamWindow {
    pub(super) fn new(head: usize, tail: usize) -> Self {
        Self { head, tail, text: WindowText::Whole(String::new()) }
    }

    /// Returns the whole stream, or `None` once it is split.
    pub(super) fn whole(&self) -> Option<&str> {
        match &self.text {
            WindowText::Whole(text) => Some(text),
            WindowText::Split { .. } => None,
        }
    }

    /// Gives the whole stream, or `None` once it is split.
    pub(super) fn into_whole(self) -> Option<String> {
        match self.text {
            WindowText::Whole(text) => Some(text),
            WindowText::Split { .. } => None,
        }
    }

    /// Returns the start, or the whole stream before the split.
    pub(super) fn head(&self) -> &str {
        match &self.text {
            WindowText::Whole(head) | WindowText::Split { head, .. } => head,
        }
    }

    /// Returns the end, with at least one more character than requested unless it reaches back to the start.
    pub(super) fn tail(&self) -> &str {
        match &self.text {
            WindowText::Whole(tail) | WindowText::Split { tail, .. } => tail,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        match &mut self.text {
            WindowText::Whole(whole) => whole.push_str(text),
            WindowText::Split { tail, .. } => append_bounded(tail, text, self.tail),
        }
    }

    /// Drops the middle, which must have been written out or given up before. A second call does nothing.
    pub(super) fn split(&mut self) {
        if let WindowText::Whole(whole) = &mut self.text {
            let mut head = std::mem::take(whole);
            let mut tail = String::new();
            append_bounded(&mut tail, &head, self.tail);
            head.truncate(head.floor_char_boundary(self.head));
            head.shrink_to_fit();
            self.text = WindowText::Split { head, tail };
        }
    }
}

/// Appends to a buffer that only needs its last `keep` bytes. Bytes that will certainly be dropped are not copied, and
/// the buffer is only compacted once it is twice as long as necessary.
fn append_bounded(buffer: &mut String, text: &str, keep: usize) {
    if text.len() >= keep {
        buffer.clear();
        buffer.push_str(&text[text.floor_char_boundary(text.len() - keep)..]);
        return;
    }
    if buffer.len() + text.len() > 2 * keep {
        // The text alone is shorter than `keep`, so part of the buffer stays.
        let stays = keep - text.len();
        buffer.drain(..buffer.floor_char_boundary(buffer.len() - stays));
    }
    buffer.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_ends_are_those_of_the_stream(
            pieces in proptest::collection::vec("[aé日😀\n]{0,12}", 0..30),
            head in 1usize..20,
            tail in 1usize..20,
            split_at in 0usize..30,
        ) {
            let mut window = StreamWindow::new(head, tail);
            let mut all = String::new();
            for (i, piece) in pieces.iter().enumerate() {
                if i == split_at {
                    window.split();
                }
                window.push(piece);
                all.push_str(piece);
                prop_assert!(all.ends_with(window.tail()));
                prop_assert!(window.tail().len() >= all.len().min(tail));
                if window.whole().is_none() {
                    prop_assert!(window.tail().len() <= 2 * tail + 3);
                }
            }
            window.split();
            prop_assert!(window.head().len() <= head);
        }
    }
}
