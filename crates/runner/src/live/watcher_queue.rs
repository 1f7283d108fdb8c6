//! The output of a run on its way to one watcher: as it was written, bounded, and never waited for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use capture::OutputStream;

/// Most bytes that wait for a watcher. Beyond it the oldest are dropped.
pub const MAX_QUEUED_BYTES: usize = 128 * 1024;
/// Most bytes of a chunk.
pub(super) const MAX_CHUNK_BYTES: usize = 16 * 1024;
/// Most chunks that wait for a watcher: more than a tail has parts.
const MAX_CHUNKS: usize = 4096;

/// A part of an output.
#[derive(Debug, PartialEq, Eq)]
pub struct WatcherChunk {
    /// Its stream.
    pub stream: OutputStream,
    /// Bytes of either stream that were dropped right before it.
    pub gap: u64,
    /// The bytes, as they were written.
    pub bytes: Vec<u8>,
}

/// The output of one run for one watcher.
#[derive(Debug)]
pub struct WatcherQueue {
    held: Mutex<QueuedChunks>,
    /// Notified when there is something to take.
    wake: Arc<Notify>,
}

#[derive(Debug, Default)]
struct QueuedChunks {
    chunks: VecDeque<WatcherChunk>,
    bytes: usize,
    /// Bytes that were dropped behind the last chunk.
    gap: u64,
    /// Bytes before the first chunk that were not held any more when it was pushed.
    before: u64,
    ended: bool,
}

impl WatcherQueue {
    /// Returns an empty tap, which notifies its watcher through `wake`.
    pub fn new(wake: Arc<Notify>) -> Arc<Self> {
        Arc::new(Self { held: Mutex::default(), wake })
    }

    fn held(&self) -> MutexGuard<'_, QueuedChunks> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds output of the run.
    pub fn push(&self, stream: OutputStream, bytes: &[u8]) {
        let mut held = self.held();
        held.push(stream, bytes);
        drop(held);
        self.wake.notify_one();
    }

    /// Counts bytes of the output that were not held any more when the watcher came.
    pub fn set_bytes_before_watching(&self, bytes: u64) {
        self.held().before += bytes;
    }

    /// Returns those bytes, once.
    pub fn take_bytes_before_watching(&self) -> u64 {
        std::mem::take(&mut self.held().before)
    }

    /// Counts bytes of the output that are left out here.
    pub fn count_left_out(&self, bytes: u64) {
        self.held().gap += bytes;
    }

    /// Returns whether bytes were dropped right before the next part.
    pub fn is_gap_next(&self) -> bool {
        self.held().chunks.front().is_some_and(|chunk| chunk.gap > 0)
    }

    /// Adds the output that another tap holds.
    pub fn copy_from(&self, other: &Self) {
        let other = other.held();
        let mut held = self.held();
        held.before += other.before;
        for WatcherChunk { stream, gap, bytes } in &other.chunks {
            held.gap += gap;
            held.push(*stream, bytes);
        }
        drop(held);
        self.wake.notify_one();
    }

    /// Ends the output.
    pub fn end(&self) {
        self.held().ended = true;
        self.wake.notify_one();
    }

    /// Returns the next part, at most about this many bytes.
    pub fn take(&self, most: usize) -> Option<WatcherChunk> {
        let mut held = self.held();
        let first = held.chunks.front_mut()?;
        let chunk = if first.bytes.len() > most {
            let rest = first.bytes.split_off(most);
            let bytes = std::mem::replace(&mut first.bytes, rest);
            WatcherChunk { stream: first.stream, gap: std::mem::take(&mut first.gap), bytes }
        } else {
            held.chunks.pop_front()?
        };
        held.bytes -= chunk.bytes.len();
        Some(chunk)
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.held().chunks.is_empty()
    }

    /// Returns the number of bytes that can be pushed without a loss.
    pub fn room(&self) -> usize {
        MAX_QUEUED_BYTES.saturating_sub(self.held().bytes)
    }

    /// Returns whether the run has ended and everything was taken.
    pub fn is_over(&self) -> bool {
        let held = self.held();
        held.ended && held.chunks.is_empty()
    }
}

impl QueuedChunks {
    fn push(&mut self, stream: OutputStream, bytes: &[u8]) {
        let dropped = bytes.len().saturating_sub(MAX_QUEUED_BYTES);
        let kept = &bytes[dropped..];
        if dropped > 0 {
            self.drop_all();
            self.gap += dropped as u64;
        }
        // In pieces, so that a drop leaves nearly all that may be held.
        kept.chunks(MAX_CHUNK_BYTES).for_each(|piece| self.push_piece(stream, piece));
    }

    fn push_piece(&mut self, stream: OutputStream, piece: &[u8]) {
        match self.chunks.back_mut() {
            Some(last)
                if self.gap == 0 && last.stream == stream && last.bytes.len() + piece.len() <= MAX_CHUNK_BYTES =>
            {
                last.bytes.extend_from_slice(piece);
            }
            _ => {
                let gap = std::mem::take(&mut self.gap);
                self.chunks.push_back(WatcherChunk { stream, gap, bytes: piece.to_vec() });
            }
        }
        self.bytes += piece.len();
        while (self.bytes > MAX_QUEUED_BYTES || self.chunks.len() > MAX_CHUNKS)
            && let Some(oldest) = self.chunks.pop_front()
        {
            self.bytes -= oldest.bytes.len();
            let dropped = oldest.gap + oldest.bytes.len() as u64;
            match self.chunks.front_mut() {
                Some(next) => next.gap += dropped,
                None => self.gap += dropped,
            }
        }
    }

    fn drop_all(&mut self) {
        let dropped: u64 = self.chunks.iter().map(|chunk| chunk.gap + chunk.bytes.len() as u64).sum();
        self.chunks.clear();
        self.bytes = 0;
        self.gap += dropped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tap() -> Arc<WatcherQueue> {
        WatcherQueue::new(Arc::default())
    }

    /// Takes everything. Returns the bytes of the gap before it, and its length.
    fn taken(tap: &WatcherQueue) -> (u64, usize) {
        let chunks: Vec<_> = std::iter::from_fn(|| tap.take(usize::MAX)).collect();
        assert!(chunks.iter().skip(1).all(|chunk| chunk.gap == 0));
        (chunks[0].gap, chunks.iter().map(|chunk| chunk.bytes.len()).sum())
    }

    #[test]
    fn output_comes_in_the_order_of_its_arrival() {
        let tap = tap();
        tap.push(OutputStream::Stdout, b"one ");
        tap.push(OutputStream::Stdout, b"two ");
        tap.push(OutputStream::Stderr, b"error ");
        tap.push(OutputStream::Stdout, b"three");
        let mut taken = Vec::new();
        while let Some(chunk) = tap.take(1_000) {
            taken.push((chunk.stream, String::from_utf8(chunk.bytes).expect("text"), chunk.gap));
        }
        let expected =
            [(OutputStream::Stdout, "one two "), (OutputStream::Stderr, "error "), (OutputStream::Stdout, "three")];
        assert_eq!(taken, expected.map(|(stream, text)| (stream, text.to_owned(), 0)));
        assert!(!tap.is_over());
        tap.end();
        assert!(tap.is_over());
    }

    #[test]
    fn a_flood_leaves_its_end_and_the_number_of_bytes_before_it() {
        let tap = tap();
        tap.push(OutputStream::Stdout, b"before");
        tap.push(OutputStream::Stdout, &vec![b'x'; 3 * MAX_QUEUED_BYTES]);
        assert_eq!(taken(&tap), (6 + 2 * MAX_QUEUED_BYTES as u64, MAX_QUEUED_BYTES));
    }

    #[test]
    fn a_little_more_than_may_be_held_drops_a_little() {
        let tap = tap();
        tap.push(OutputStream::Stdout, &vec![b'x'; MAX_QUEUED_BYTES]);
        tap.push(OutputStream::Stdout, b"last");
        assert_eq!(taken(&tap), (MAX_CHUNK_BYTES as u64, MAX_QUEUED_BYTES - MAX_CHUNK_BYTES + 4));
    }

    #[test]
    fn streams_that_alternate_take_no_more_memory_than_others() {
        let tap = tap();
        (0..MAX_QUEUED_BYTES)
            .for_each(|at| tap.push(if at % 2 == 0 { OutputStream::Stdout } else { OutputStream::Stderr }, b"x"));
        assert_eq!(taken(&tap), ((MAX_QUEUED_BYTES - MAX_CHUNKS) as u64, MAX_CHUNKS));
    }

    #[test]
    fn what_was_gone_before_the_watcher_came_is_no_gap() {
        let tap = tap();
        tap.set_bytes_before_watching(7);
        tap.push(OutputStream::Stdout, b"x");
        assert_eq!(tap.take(9), Some(WatcherChunk { stream: OutputStream::Stdout, gap: 0, bytes: b"x".to_vec() }));
        assert_eq!([tap.take_bytes_before_watching(), tap.take_bytes_before_watching()], [7, 0]);
    }

    proptest! {
        #[test]
        fn gaps_and_bytes_add_up_and_memory_is_bounded(
            steps in proptest::collection::vec((0..3_usize, 0..MAX_QUEUED_BYTES), 0..40),
        ) {
            let tap = tap();
            let (mut written, mut accounted) = (0, 0);
            for (kind, size) in steps {
                if kind == 0 {
                    if let Some(chunk) = tap.take(size.max(1)) {
                        accounted += chunk.gap + chunk.bytes.len() as u64;
                    }
                } else {
                    tap.push(if kind == 1 { OutputStream::Stdout } else { OutputStream::Stderr }, &vec![0; size]);
                    written += size as u64;
                }
                prop_assert!(tap.held().bytes <= MAX_QUEUED_BYTES);
                prop_assert_eq!(tap.held().bytes, tap.held().chunks.iter().map(|chunk| chunk.bytes.len()).sum::<usize>());
            }
            while let Some(chunk) = tap.take(MAX_CHUNK_BYTES) {
                accounted += chunk.gap + chunk.bytes.len() as u64;
            }
            prop_assert_eq!(written, accounted + tap.held().gap);
        }
    }
}
