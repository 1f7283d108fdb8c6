//! From the chunks of a tap to text for a person.

use std::time::Duration;

use tokio::time::Instant;

use super::watcher_queue::{WatcherChunk, WatcherQueue};
use capture::OutputCleaner;

/// Silence after which an unfinished line is shown as it is.
const UNFINISHED_LINE_DELAY: Duration = Duration::from_millis(250);

/// The next text of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatcherText {
    /// Bytes of the output before it, those that were dropped included.
    pub at: u64,
    /// Clean text with its colours and styles.
    pub text: String,
    /// Bytes that were dropped right before it.
    pub gap: u64,
    /// Nothing follows.
    pub end: bool,
}

/// Reads a tap.
///
/// Both streams share one text, in the order of their arrival, as in a terminal. A line appears when it ends, or after
/// a pause unless it is drawn over and over.
pub struct WatcherTextReader {
    lines: [UnfinishedLine; 2],
    /// The place of the next text.
    at: u64,
    ended: bool,
}

/// The unfinished line of a stream.
struct UnfinishedLine {
    cleaner: OutputCleaner,
    /// Since when it has a part that was not shown.
    open: Option<Instant>,
}

impl UnfinishedLine {
    fn new() -> Self {
        Self { cleaner: OutputCleaner::styled(), open: None }
    }

    fn push(&mut self, bytes: &[u8], text: &mut String, now: Instant) {
        self.cleaner.push(bytes, &mut |more| text.push_str(more));
        let has_more = !self.cleaner.is_drawn_over() && !self.cleaner.pending_line().is_empty();
        self.open = has_more.then_some(now);
    }

    fn settle(&mut self, text: &mut String, now: Instant) {
        if self.open.is_some_and(|since| now >= since + UNFINISHED_LINE_DELAY) {
            self.open = None;
            self.cleaner.settle(&mut |more| text.push_str(more));
        }
    }

    fn end(&mut self, text: &mut String) {
        self.open = None;
        self.cleaner.end(&mut |more| text.push_str(more));
    }
}

impl Default for WatcherTextReader {
    fn default() -> Self {
        Self { lines: [UnfinishedLine::new(), UnfinishedLine::new()], at: 0, ended: false }
    }
}

impl WatcherTextReader {
    /// Returns a reader of a whole tap.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the next text, about as many bytes as asked for. `None` if there is none yet.
    pub fn read(&mut self, tap: &WatcherQueue, most: usize, now: Instant) -> Option<WatcherText> {
        if self.ended {
            return None;
        }
        let (mut text, mut gap) = (String::new(), 0);
        while text.len() < most {
            if tap.is_gap_next() {
                // What came before the gap is a text of its own.
                if gap == 0 {
                    self.end_lines(&mut text);
                }
                if !text.is_empty() || gap > 0 {
                    break;
                }
            }
            let Some(chunk) = tap.take(most - text.len()) else { break };
            let WatcherChunk { stream, gap: dropped, bytes } = chunk;
            let from = if dropped > 0 { next_line(&bytes) } else { 0 };
            gap += if dropped > 0 { dropped + from as u64 } else { 0 };
            self.lines[stream as usize].push(&bytes[from..], &mut text, now);
        }
        if !tap.is_gap_next() {
            self.lines.iter_mut().for_each(|line| line.settle(&mut text, now));
        }
        self.ended = tap.is_over();
        if self.ended {
            self.end_lines(&mut text);
        }
        if text.is_empty() && gap == 0 && !self.ended {
            return None;
        }
        let at = self.at + tap.take_bytes_before_watching() + gap;
        self.at = at + text.len() as u64;
        Some(WatcherText { at, text, gap, end: self.ended })
    }

    /// Returns when an unfinished line is due.
    pub fn due_at(&self) -> Option<Instant> {
        self.lines.iter().filter_map(|line| line.open).min().map(|since| since + UNFINISHED_LINE_DELAY)
    }

    /// Shows the unfinished lines, and begins anew.
    fn end_lines(&mut self, text: &mut String) {
        for line in &mut self.lines {
            line.end(text);
            *line = UnfinishedLine::new();
        }
    }
}

/// Returns where the next line begins; 0 if that is too far. Bytes behind a gap may be the end of a sequence.
pub(super) fn next_line(bytes: &[u8]) -> usize {
    const FAR: usize = 4 * 1024;
    memchr::memchr(b'\n', &bytes[..bytes.len().min(FAR)]).map_or(0, |newline| newline + 1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::watcher_queue::{MAX_CHUNK_BYTES, MAX_QUEUED_BYTES};
    use super::*;
    use capture::OutputStream;
    use proptest::prelude::*;

    const OUT: OutputStream = OutputStream::Stdout;
    const MOST: usize = 48 * 1024;

    fn start() -> (Arc<WatcherQueue>, WatcherTextReader, Instant) {
        (WatcherQueue::new(Arc::default()), WatcherTextReader::new(), Instant::now())
    }

    #[test]
    fn lines_come_when_they_end_and_both_streams_in_the_order_of_arrival() {
        let (tap, mut reader, now) = start();
        tap.push(OUT, b"one\ntw");
        tap.push(OutputStream::Stderr, b"\x1b[31merror\x1b[0m\n");
        tap.push(OUT, b"o\n");
        let text = reader.read(&tap, MOST, now).expect("text");
        assert_eq!(
            (text.at, text.text.as_str(), text.gap, text.end),
            (0, "one\n\x1b[31merror\x1b[0m\ntwo\n", 0, false)
        );
        assert_eq!(reader.read(&tap, MOST, now), None);
        tap.push(OUT, b"rest");
        tap.end();
        let text = reader.read(&tap, MOST, now).expect("text");
        assert_eq!((text.at, text.text.as_str(), text.end), (23, "rest", true));
        assert_eq!(reader.read(&tap, MOST, now), None);
    }

    #[test]
    fn a_question_appears_after_a_pause_and_a_progress_bar_does_not() {
        let (tap, mut reader, now) = start();
        tap.push(OUT, b"Continue? [y/N] ");
        assert_eq!(reader.read(&tap, MOST, now), None);
        assert_eq!(reader.due_at(), Some(now + UNFINISHED_LINE_DELAY));
        let text = reader.read(&tap, MOST, now + UNFINISHED_LINE_DELAY).expect("text");
        assert_eq!(text.text, "Continue? [y/N] ");
        assert_eq!(reader.due_at(), None);
        tap.push(OUT, b"y\n 10%\r 20%");
        let text = reader.read(&tap, MOST, now + UNFINISHED_LINE_DELAY).expect("text");
        assert_eq!(text.text, "y\n");
        assert_eq!(reader.due_at(), None, "it is drawn over and over");
        tap.push(OUT, b"\r100%\n");
        assert_eq!(reader.read(&tap, MOST, now + UNFINISHED_LINE_DELAY).expect("text").text, "100%\n");
    }

    #[test]
    fn a_gap_begins_a_text_of_its_own_with_a_whole_line() {
        let (tap, mut reader, now) = start();
        tap.push(OUT, b"before\nunfinished");
        assert_eq!(reader.read(&tap, MOST, now).expect("text").text, "before\n");
        tap.push(OUT, &vec![b'x'; MAX_CHUNK_BYTES]);
        let rest = "31m broken\n".to_owned() + &"whole\n".repeat(MAX_QUEUED_BYTES / 6);
        tap.push(OUT, &rest.as_bytes()[..MAX_QUEUED_BYTES]);
        let text = reader.read(&tap, MOST, now).expect("text");
        assert_eq!((text.text.as_str(), text.gap), ("unfinished", 0));
        let text = reader.read(&tap, MOST, now).expect("text");
        assert_eq!((&text.text[..12], text.gap), ("whole\nwhole\n", MAX_CHUNK_BYTES as u64 + 11));
        assert_eq!(text.at, 17 + MAX_CHUNK_BYTES as u64 + 11);
    }

    #[test]
    fn what_was_not_held_any_more_moves_the_place_and_is_no_gap() {
        let (tap, mut reader, now) = start();
        tap.set_bytes_before_watching(1_000);
        tap.push(OUT, b"x\n");
        let text = reader.read(&tap, MOST, now).expect("text");
        assert_eq!((text.at, text.gap), (1_000, 0));
    }

    proptest! {
        #[test]
        fn each_text_follows_the_one_before(
            steps in proptest::collection::vec((0..4_u8, 0..200_usize, "[a-zé\\x1b\\[0-9;m\r\n]{0,30}"), 0..40),
        ) {
            let (tap, mut reader, now) = start();
            let mut at = 0;
            for (kind, times, piece) in steps {
                match kind {
                    0 => {
                        if let Some(text) = reader.read(&tap, 1 + times * 10, now) {
                            prop_assert_eq!(text.at, at + text.gap);
                            at = text.at + text.text.len() as u64;
                        }
                    }
                    1 => tap.push(OUT, piece.repeat(times * 50).as_bytes()),
                    _ => tap.push(OutputStream::Stderr, piece.as_bytes()),
                }
            }
            tap.end();
            loop {
                let text = reader.read(&tap, MOST, now);
                let Some(text) = text else { break };
                prop_assert_eq!(text.at, at + text.gap);
                at = text.at + text.text.len() as u64;
                if text.end {
                    break;
                }
            }
            prop_assert!(reader.ended);
        }
    }
}
