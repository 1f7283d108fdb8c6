//! The end of a run's output, kept as it was written for watchers who come later.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::watcher_queue::WatcherQueue;
use super::watcher_text::next_line;
use capture::OutputStream;

/// Most bytes of output in a tail. A tail with its parts takes 64 KiB at most.
pub const MAX_TAIL_BYTES: usize = 56 * 1024;
/// Most parts of a tail.
const MAX_TAIL_PARTS: usize = 8 * 1024 / size_of::<OutputTailPart>();
/// Most tails of a process. They take 16 MiB at most.
pub const MAX_TAILS: usize = 256;

// The queue of parts grows in powers of two, so its bound is one. A part may be as long as the whole tail.
const _: () = assert!(MAX_TAIL_PARTS.is_power_of_two() && MAX_TAIL_BYTES <= u16::MAX as usize);

/// The end of both streams, in the order of their arrival.
#[derive(Debug)]
pub struct OutputTail {
    bytes: VecDeque<u8>,
    parts: VecDeque<OutputTailPart>,
    /// Bytes of the output that were dropped before the tail.
    dropped: u64,
    /// Whether each stream begins in the middle of a line.
    is_cut: [bool; 2],
    /// The number of tails of the process.
    count: &'static AtomicUsize,
}

/// Consecutive bytes of one stream.
#[derive(Debug, Clone, Copy)]
struct OutputTailPart {
    stream: OutputStream,
    len: u16,
}

impl OutputTail {
    /// Returns an empty tail and counts it. `None` if the process has [`MAX_TAILS`] already.
    pub fn new(count: &'static AtomicUsize) -> Option<Self> {
        count
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |tails| (tails < MAX_TAILS).then_some(tails + 1))
            .ok()?;
        Some(Self { bytes: VecDeque::new(), parts: VecDeque::new(), dropped: 0, is_cut: [false; 2], count })
    }

    /// Adds output of the run, and drops the oldest output beyond the bounds.
    pub fn push(&mut self, stream: OutputStream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let (skipped, kept) = bytes.split_at(bytes.len().saturating_sub(MAX_TAIL_BYTES));
        self.make_room(kept.len());
        if let Some(last) = skipped.last() {
            self.on_drop(stream, skipped.len(), *last);
        }
        let needed = self.bytes.len() + kept.len();
        if needed > self.bytes.capacity() {
            self.bytes.reserve_exact(needed.next_power_of_two().min(MAX_TAIL_BYTES) - self.bytes.len());
        }
        self.bytes.extend(kept);
        let len = kept.len() as u16;
        match self.parts.back_mut() {
            Some(last) if last.stream == stream => last.len += len,
            _ => self.parts.push_back(OutputTailPart { stream, len }),
        }
    }

    /// Drops the oldest bytes until this many more have room.
    fn make_room(&mut self, more: usize) {
        while let Some(OutputTailPart { stream, len }) = self.parts.front().copied() {
            let over = (self.bytes.len() + more).saturating_sub(MAX_TAIL_BYTES);
            let is_full = self.parts.len() == MAX_TAIL_PARTS;
            if over == 0 && !is_full {
                return;
            }
            let count = if is_full { usize::from(len) } else { over.min(len.into()) };
            self.parts[0].len -= count as u16;
            if self.parts[0].len == 0 {
                self.parts.pop_front();
            }
            let last = self.bytes[count - 1];
            self.bytes.drain(..count);
            self.on_drop(stream, count, last);
        }
    }

    fn on_drop(&mut self, stream: OutputStream, count: usize, last: u8) {
        self.dropped += count as u64;
        self.is_cut[stream as usize] = last != b'\n';
    }

    /// Passes the tail to a tap. A stream that was cut in the middle of a line begins with the next line, because the
    /// rest of the cut line may begin within an escape sequence.
    pub fn copy_to(&mut self, tap: &WatcherQueue) {
        let mut rest: &[u8] = self.bytes.make_contiguous();
        let mut parts = Vec::with_capacity(self.parts.len());
        for OutputTailPart { stream, len } in &self.parts {
            let (bytes, more) = rest.split_at((*len).into());
            parts.push((*stream, bytes));
            rest = more;
        }
        let mut left_out = [OutputStream::Stdout, OutputStream::Stderr].map(|stream| {
            if !self.is_cut[stream as usize] {
                return 0;
            }
            let own = parts.iter().filter(|(of, _)| *of == stream).flat_map(|(_, bytes)| *bytes);
            next_line(&own.copied().collect::<Vec<_>>())
        });
        tap.set_bytes_before_watching(self.dropped + left_out.iter().sum::<usize>() as u64);
        for (stream, bytes) in parts {
            let left_out = &mut left_out[stream as usize];
            let from = bytes.len().min(*left_out);
            *left_out -= from;
            tap.push(stream, &bytes[from..]);
        }
    }
}

impl Drop for OutputTail {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use proptest::prelude::*;

    const OUT: OutputStream = OutputStream::Stdout;
    const ERR: OutputStream = OutputStream::Stderr;

    fn tail() -> OutputTail {
        OutputTail::new(Box::leak(Box::default())).expect("the first one")
    }

    /// Returns the bytes before a tail, and each byte with its stream.
    fn filled(tail: &mut OutputTail) -> (u64, Vec<(OutputStream, u8)>) {
        let tap = WatcherQueue::new(Arc::default());
        tail.copy_to(&tap);
        let mut bytes = Vec::new();
        while let Some(chunk) = tap.take(usize::MAX) {
            assert_eq!(chunk.gap, 0);
            bytes.extend(chunk.bytes.into_iter().map(|byte| (chunk.stream, byte)));
        }
        (tap.take_bytes_before_watching(), bytes)
    }

    fn text(tail: &mut OutputTail) -> (u64, String) {
        let (before, bytes) = filled(tail);
        (before, String::from_utf8(bytes.into_iter().map(|(_, byte)| byte).collect()).expect("text"))
    }

    #[test]
    fn output_is_kept_with_its_styles() {
        let mut tail = tail();
        tail.push(OUT, b"\x1b[31mr");
        tail.push(OUT, b"");
        tail.push(OUT, b"ed\x1b[0m\n");
        tail.push(ERR, b"error\n");
        tail.push(OUT, b"rest");
        for _ in 0..2 {
            assert_eq!(text(&mut tail), (0, "\x1b[31mred\x1b[0m\nerror\nrest".into()));
        }
    }

    #[test]
    fn a_stream_that_was_cut_begins_with_a_whole_line() {
        let mut tail = tail();
        tail.push(OUT, b"\x1b[3");
        tail.push(ERR, b"\x1b[3");
        tail.push(OUT, b"1m out\n");
        tail.push(ERR, b"2m error\nwhole\n");
        tail.push(OUT, &[b'x'; MAX_TAIL_BYTES - 26]);
        assert_eq!(tail.dropped, 2, "of the first sequence");
        tail.push(OUT, b"12345");
        assert_eq!(tail.dropped, 7);
        let (before, text) = text(&mut tail);
        assert!(text.starts_with("whole\nxxx"), "{}", &text[..30]);
        assert_eq!(before as usize + text.len(), MAX_TAIL_BYTES - 26 + 33);
    }

    #[test]
    fn a_whole_line_that_begins_the_tail_is_not_left_out() {
        let mut tail = tail();
        tail.push(OUT, b"gone\n");
        tail.push(OUT, b"kept\n");
        tail.push(OUT, &[b'x'; MAX_TAIL_BYTES - 5]);
        let (before, text) = text(&mut tail);
        assert_eq!((before, &text[..6]), (5, "kept\nx"));
    }

    #[test]
    fn a_flood_leaves_its_end() {
        let mut tail = tail();
        tail.push(ERR, b"before\n");
        tail.push(OUT, &[b'x'; 3 * MAX_TAIL_BYTES]);
        assert_eq!(filled(&mut tail), (7 + 2 * MAX_TAIL_BYTES as u64, vec![(OUT, b'x'); MAX_TAIL_BYTES]));
    }

    #[test]
    fn streams_that_alternate_take_no_more_memory_than_others() {
        let mut tail = tail();
        (0..3 * MAX_TAIL_BYTES).for_each(|at| tail.push(if at % 2 == 0 { OUT } else { ERR }, b"\n"));
        assert_eq!(tail.parts.len(), MAX_TAIL_PARTS);
        let memory = tail.bytes.capacity() + tail.parts.capacity() * size_of::<OutputTailPart>();
        assert!(memory <= 64 * 1024, "{memory}");
        let (before, bytes) = filled(&mut tail);
        assert_eq!(before as usize + bytes.len(), 3 * MAX_TAIL_BYTES);
    }

    #[test]
    fn the_tails_of_a_process_are_bounded() {
        let count: &AtomicUsize = Box::leak(Box::default());
        let mut tails: Vec<_> = (0..MAX_TAILS).map_while(|_| OutputTail::new(count)).collect();
        assert_eq!(tails.len(), MAX_TAILS);
        assert!(OutputTail::new(count).is_none() && OutputTail::new(count).is_none());
        tails.pop();
        assert!(OutputTail::new(count).is_some());
        drop(tails);
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_or_doubled_under_any_split(
            steps in proptest::collection::vec((any::<bool>(), 0..4_u32, 1..9_000_usize), 0..60),
        ) {
            let mut tail = tail();
            let mut written = Vec::new();
            let mut number = 0_u32;
            for (is_error, kind, size) in steps {
                let stream = if is_error { ERR } else { OUT };
                // Small parts are as likely as large ones, and lines have different lengths.
                let bytes: Vec<u8> = (0..size / [1, 10, 100, 1_000][kind as usize])
                    .map(|_| { number += 1; if number.is_multiple_of(kind * 50 + 7) { b'\n' } else { number as u8 | 16 } })
                    .collect();
                tail.push(stream, &bytes);
                written.extend(bytes.into_iter().map(|byte| (stream, byte)));
                prop_assert!(tail.bytes.len() <= MAX_TAIL_BYTES && tail.parts.len() <= MAX_TAIL_PARTS);
                prop_assert!(tail.bytes.capacity() <= MAX_TAIL_BYTES);
            }
            let kept = written.split_off(tail.dropped as usize);
            let (before, bytes) = filled(&mut tail);
            prop_assert_eq!(before as usize + bytes.len(), written.len() + kept.len());
            let mut expected = kept;
            for stream in [OUT, ERR] {
                let of = |all: &[(OutputStream, u8)]| {
                    all.iter().filter(|(of, _)| *of == stream).map(|(_, byte)| *byte).collect::<Vec<_>>()
                };
                let begins_anew = of(&written).last().is_none_or(|last| *last == b'\n');
                let mut left_out = of(&expected).len() - of(&bytes).len();
                prop_assert!(!begins_anew || left_out == 0);
                prop_assert_eq!(left_out, if begins_anew { 0 } else { next_line(&of(&expected)) });
                expected.retain(|(of, _)| *of != stream || left_out == 0 || { left_out -= 1; false });
            }
            prop_assert!(expected == bytes);
        }
    }
}
