//! The tap of a running command: what its producer writes reaches the reader through this process, which keeps it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::poll::PollFlags;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::producer_copy::{ProducerCopier, ProducerCopyResult};
use crate::proof::TestCounter;
use crate::request::CommandRequest;
use protocol::PipelineTapEnds;
use sys::{ForwardOutcome, PipeForwarder};

/// Bytes that are read at once of what the reader does not get.
const CHUNK: usize = 256 * 1024;
/// Steps before the loop looks at anything else.
const TURN: usize = 16;

/// Bytes from which on a tap is one of much data, whose pipes get more room: the time of a switch between processes
/// counts then, and not how far the producer is ahead of its reader.
const MUCH: u64 = 1 << 20;

/// The tap of a command. Between two turns this process holds no byte that the reader lacks: a shim can take the ends
/// at any time.
pub struct PipelineTap {
    /// The ends. `None` once the producer has ended, or the reader has left.
    ends: Option<PipelineTapPipes>,
    passing: PipeForwarder,
    kept: ProducerCopier,
    /// Whether the producer has ended, and all that it wrote is kept.
    complete: bool,
}

struct PipelineTapPipes {
    from: AsyncFd<OwnedFd>,
    to: AsyncFd<OwnedFd>,
    /// Whether the reader's pipe has no room.
    full: bool,
    /// Whether the pipes have got more room.
    grown: bool,
}

impl PipelineTap {
    /// # Errors
    /// If the pipes cannot be watched.
    pub fn new(ends: PipelineTapEnds, request: &CommandRequest) -> io::Result<Self> {
        let PipelineTapEnds { from, to } = ends;
        let (from, to) = (sys::watch(from, Interest::READABLE)?, sys::watch(to, Interest::WRITABLE)?);
        let ends = Some(PipelineTapPipes { from, to, full: false, grown: false });
        Ok(Self { ends, passing: PipeForwarder::default(), kept: ProducerCopier::new(request), complete: false })
    }

    /// Waits until more can be copied, or the reader has left. Waits forever at the end.
    pub async fn ready(&self) {
        match &self.ends {
            Some(ends) => ends.ready().await,
            None => std::future::pending().await,
        }
    }

    /// Copies what is there, as far as there is room, up to a turn. Returns whether it copied anything. `counter`
    /// counts tests in it.
    pub fn copy(&mut self, counter: &mut TestCounter<'_>) -> bool {
        let mut copied = false;
        for _ in 0..TURN {
            let Some(ends) = &mut self.ends else { break };
            let passed = self.passing.step(ends.from.as_fd(), ends.to.as_fd());
            ends.full = passed == ForwardOutcome::Full;
            match passed {
                ForwardOutcome::Bytes(bytes) => {
                    copied = true;
                    keep_and_count(&mut self.kept, counter, bytes);
                    ends.grow_pipes(self.kept.bytes());
                }
                ForwardOutcome::Empty | ForwardOutcome::Full => break,
                ForwardOutcome::Ended => self.end(true),
                ForwardOutcome::ReaderLeft(bytes) => {
                    keep_and_count(&mut self.kept, counter, bytes);
                    let complete = self.keep_rest(counter);
                    self.end(complete);
                }
            }
        }
        copied
    }

    /// Takes the ends of a tap that a process still has open, for the shim. What the reader still lacks is kept as
    /// well, and nothing from here on.
    pub fn take_ends(&mut self, counter: &mut TestCounter<'_>) -> Option<PipelineTapEnds> {
        self.copy(counter);
        self.complete = self.ends.is_some() && self.keep_rest(counter) || self.complete;
        let PipelineTapPipes { from, to, .. } = self.ends.take()?;
        Some(PipelineTapEnds { from: from.into_inner(), to: to.into_inner() })
    }

    /// Returns the copy so far.
    pub fn into_kept(self) -> ProducerCopier {
        self.kept
    }

    /// Returns the copy of a command that has ended. `by_itself`: neither a limit nor an abort has ended it.
    pub fn finish(mut self, by_itself: bool, counter: &mut TestCounter<'_>) -> ProducerCopyResult {
        // A process elsewhere may still write, and without end.
        while self.copy(counter) && self.ends.as_ref().is_some_and(PipelineTapPipes::has_producer_ended) {}
        if self.ends.is_some() {
            self.complete = self.keep_rest(counter);
        }
        self.kept.finish(self.complete && by_itself)
    }

    /// Keeps what the producer's pipe holds, and leaves it there, so that a producer that waits for room gets none.
    /// Returns whether the producer has ended, and this is all of it.
    fn keep_rest(&mut self, counter: &mut TestCounter<'_>) -> bool {
        let Some(PipelineTapPipes { from, .. }) = &self.ends else { return false };
        let ended = sys::ready_events(from.as_fd(), PollFlags::POLLIN).contains(PollFlags::POLLHUP);
        let Ok((seen, is_whole)) = sys::peek_pipe(from.as_fd()) else { return false };
        let mut buffer = vec![0; CHUNK];
        while let Ok(count @ 1..) = nix::unistd::read(&seen, &mut buffer) {
            keep_and_count(&mut self.kept, counter, &buffer[..count]);
        }
        ended && is_whole
    }

    fn end(&mut self, complete: bool) {
        self.ends = None;
        self.complete = complete;
        // The reader and the shell have still to end, so this costs the command no time.
        self.kept.write_down();
    }
}

fn keep_and_count(kept: &mut ProducerCopier, counter: &mut TestCounter<'_>, bytes: &[u8]) {
    kept.push(bytes);
    counter.push(reduce::CommandStream::Stdout, bytes);
}

impl PipelineTapPipes {
    /// Waits for the end that the copy waits for. What the runtime knows of an end is old once the other end has been
    /// used, so the system is asked.
    async fn ready(&self) {
        loop {
            let mut guard = tokio::select! {
                guard = self.to.writable(), if self.full => guard,
                guard = self.from.readable(), if !self.full => guard,
                guard = self.to.ready(Interest::ERROR), if !self.full => guard,
            };
            let to = sys::ready_events(self.to.as_fd(), PollFlags::POLLOUT);
            let from = || sys::ready_events(self.from.as_fd(), PollFlags::POLLIN);
            let is_ready = to.contains(PollFlags::POLLERR)
                || if self.full {
                    to.contains(PollFlags::POLLOUT)
                } else {
                    from().intersects(PollFlags::POLLIN | PollFlags::POLLHUP)
                };
            match &mut guard {
                Ok(guard) if !is_ready => guard.clear_ready(),
                // The runtime ends with this process.
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Gives the pipes more room if so many bytes have flowed that they are much.
    fn grow_pipes(&mut self, flowed: u64) {
        if !self.grown && flowed >= MUCH {
            sys::grow_pipe(self.from.as_fd(), sys::LARGE_PIPE_BYTES);
            sys::grow_pipe(self.to.as_fd(), sys::LARGE_PIPE_BYTES);
            self.grown = true;
        }
    }

    /// Returns whether no process can write to the producer's pipe any more.
    fn has_producer_ended(&self) -> bool {
        sys::ready_events(self.from.as_fd(), PollFlags::POLLIN).contains(PollFlags::POLLHUP)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::request::{PlannedRun, RawOptions};

    /// Bytes of the reader's pipe.
    const FULL: usize = 64 * 1024;

    fn request(dir: &std::path::Path) -> PlannedRun {
        let spill = Some(crate::request::RawSpill {
            dir: Some(dir.to_string_lossy().into_owned()),
            ..crate::request::RawSpill::default()
        });
        PlannedRun::check(RawOptions { command: "x".into(), cwd: "/".into(), spill, ..RawOptions::default() })
            .expect("valid")
    }

    /// Numbers that look random and are the same each time.
    fn numbers(mut seed: u64) -> impl Iterator<Item = usize> {
        std::iter::repeat_with(move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as usize
        })
    }

    /// Writes through the tap, as long as there is room.
    fn send(tap: &mut PipelineTap, write: &mut File, count: usize) {
        for chunk in vec![b'x'; count].chunks(4096) {
            write.write_all(chunk).expect("there is room");
            assert!(tap.copy(&mut TestCounter::Off));
        }
    }

    /// Copies to the end.
    async fn run(tap: &mut PipelineTap) {
        while tap.ends.is_some() {
            tokio::time::timeout(Duration::from_secs(20), tap.ready()).await.expect("an end shows");
            tap.copy(&mut TestCounter::Off);
        }
    }

    #[tokio::test]
    async fn every_byte_arrives_and_is_kept_whatever_the_pace_of_both_sides() {
        let dir = tempfile::tempdir().expect("a directory");
        for seed in 0..24_u64 {
            let (ends, [read, write]) = PipelineTapEnds::open().expect("pipes");
            let sent: Vec<u8> = numbers(seed).take(400_000).map(|number| number as u8).collect();
            let expected = sent.clone();
            let producer = thread::spawn(move || {
                let (mut write, mut rest) = (File::from(write), &sent[..]);
                for size in numbers(seed + 100).map(|number| 1 + number % (1 << (seed % 17))) {
                    let (next, later) = rest.split_at(size.min(rest.len()));
                    write.write_all(next).expect("written");
                    rest = later;
                    if rest.is_empty() {
                        return;
                    }
                }
            });
            let reader = thread::spawn(move || {
                let (mut read, mut got, mut buffer) = (File::from(read), Vec::new(), vec![0; 1 << 17]);
                for size in numbers(seed + 200).map(|number| 1 + number % (1 << (17 - seed % 13))) {
                    match read.read(&mut buffer[..size]).expect("read") {
                        0 => return got,
                        count => got.extend_from_slice(&buffer[..count]),
                    }
                }
                got
            });
            let mut tap = PipelineTap::new(ends, &request(dir.path())).expect("watched");
            run(&mut tap).await;
            producer.join().expect("the producer");
            let copied = tap.finish(true, &mut TestCounter::Off).expect("kept");
            assert!(reader.join().expect("the reader") == expected, "{seed}");
            assert!(copied.complete && std::fs::read(&copied.path).expect("there") == expected, "{seed}");
        }
    }

    #[tokio::test]
    async fn a_reader_that_leaves_ends_the_producer_at_once_and_all_it_wrote_is_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        let (ends, [read, write]) = PipelineTapEnds::open().expect("pipes");
        let mut write = File::from(write);
        let mut tap = PipelineTap::new(ends, &request(dir.path())).expect("watched");
        send(&mut tap, &mut write, 16_000);
        write.write_all(&[b'x'; 4000]).expect("there is room");
        drop(read);
        run(&mut tap).await;
        assert_eq!(write.write(b"y").expect_err("closed").kind(), io::ErrorKind::BrokenPipe);
        let copied = tap.finish(true, &mut TestCounter::Off).expect("kept");
        assert_eq!((copied.bytes, copied.lines, copied.complete), (20_000, 1, false));
    }

    #[tokio::test]
    async fn all_that_a_large_pipe_holds_is_kept_when_the_reader_leaves() {
        let dir = tempfile::tempdir().expect("a directory");
        let (ends, [read, write]) = PipelineTapEnds::open().expect("pipes");
        sys::grow_pipe(ends.from.as_fd(), sys::LARGE_PIPE_BYTES);
        let mut write = File::from(write);
        write.write_all(&[b'x'; 1_000_000]).expect("there is room");
        drop(read);
        let mut tap = PipelineTap::new(ends, &request(dir.path())).expect("watched");
        run(&mut tap).await;
        let copied = tap.finish(true, &mut TestCounter::Off).expect("kept");
        assert_eq!((copied.bytes, copied.complete), (1_000_000, false));
        drop(write);
    }

    #[tokio::test]
    async fn a_silent_producer_is_told_too() {
        let dir = tempfile::tempdir().expect("a directory");
        let (ends, [read, write]) = PipelineTapEnds::open().expect("pipes");
        let mut tap = PipelineTap::new(ends, &request(dir.path())).expect("watched");
        drop(read);
        run(&mut tap).await;
        assert!(File::from(write).write(b"y").is_err());
        assert_eq!(tap.finish(true, &mut TestCounter::Off).expect("kept").bytes, 0);
    }

    #[tokio::test]
    async fn a_producer_that_has_ended_is_complete_though_its_reader_left() {
        let dir = tempfile::tempdir().expect("a directory");
        let (ends, [read, write]) = PipelineTapEnds::open().expect("pipes");
        let mut tap = PipelineTap::new(ends, &request(dir.path())).expect("watched");
        let mut write = File::from(write);
        send(&mut tap, &mut write, 16_000);
        write.write_all(&[b'x'; 4000]).expect("there is room");
        drop((write, read));
        run(&mut tap).await;
        let copied = tap.finish(true, &mut TestCounter::Off).expect("kept");
        assert!(copied.complete && copied.bytes == 20_000);
    }

    #[tokio::test]
    async fn a_shim_gets_the_ends_with_all_that_the_reader_lacks_and_the_copy_has_it_too() {
        let dir = tempfile::tempdir().expect("a directory");
        for ended in [true, false] {
            let (ends, [read, write]) = PipelineTapEnds::open().expect("pipes");
            let mut write = File::from(write);
            let mut tap = PipelineTap::new(ends, &request(dir.path())).expect("watched");
            send(&mut tap, &mut write, FULL);
            write.write_all(b"rest").expect("there is room");
            let write = Some(write).filter(|_| !ended);
            let PipelineTapEnds { from, to } = tap.take_ends(&mut TestCounter::Off).expect("open");
            drop(write);
            let (mut read, mut got) = (File::from(read), Vec::new());
            let mut passing = PipeForwarder::default();
            let moving =
                thread::spawn(move || while passing.step(from.as_fd(), to.as_fd()) != ForwardOutcome::Ended {});
            read.read_to_end(&mut got).expect("read");
            moving.join().expect("moved");
            assert_eq!((got.len(), &got[FULL..]), (FULL + 4, &b"rest"[..]));
            let copied = tap.finish(true, &mut TestCounter::Off).expect("kept");
            assert_eq!((copied.bytes, copied.complete), (FULL as u64 + 4, ended));
        }
    }

    #[tokio::test]
    async fn a_producer_elsewhere_that_writes_without_end_does_not_delay_the_result() {
        let dir = tempfile::tempdir().expect("a directory");
        for leaves in [true, false] {
            let (ends, [read, write]) = PipelineTapEnds::open().expect("pipes");
            let mut tap = PipelineTap::new(ends, &request(dir.path())).expect("watched");
            let (mut write, mut read) = (File::from(write), File::from(read));
            let (begun, begins) = mpsc::channel();
            let producer = thread::spawn(move || {
                while write.write_all(&[b'x'; 4096]).is_ok() {
                    let _ = begun.send(());
                }
            });
            let reader = thread::spawn(move || while matches!(read.read(&mut [0; 4096]), Ok(1..)) {});
            begins.recv().expect("it writes");
            if leaves {
                assert!(tap.take_ends(&mut TestCounter::Off).is_some());
            }
            let copied = tap.finish(true, &mut TestCounter::Off).expect("kept");
            // One turn, and what the pipe holds.
            let most = (TURN * CHUNK) as u64 + 2 * MUCH;
            assert!(!copied.complete && copied.bytes <= most, "{} bytes", copied.bytes);
            producer.join().expect("the producer");
            reader.join().expect("the reader");
        }
    }

    #[tokio::test]
    async fn one_read_gets_as_much_as_from_a_plain_pipe_and_the_producer_is_one_pipe_further_ahead() {
        let dir = tempfile::tempdir().expect("a directory");
        // Each row: the bytes of a write.
        for size in [1, 10, 100, 4096, 10_000] {
            let (ends, [read, write]) = PipelineTapEnds::open().expect("pipes");
            sys::set_nonblocking(&write).expect("set");
            let mut tap = PipelineTap::new(ends, &request(dir.path())).expect("watched");
            let mut write = File::from(write);
            let mut ahead = 0;
            while let Ok(count) = write.write(&vec![b'x'; size]) {
                ahead += count;
                tap.copy(&mut TestCounter::Off);
            }
            let (plain_read, plain_write) = sys::pipe().expect("a pipe");
            sys::set_nonblocking(&plain_write).expect("set");
            let (mut plain_write, mut plain) = (File::from(plain_write), 0);
            while let Ok(count) = plain_write.write(&vec![b'x'; size]) {
                plain += count;
            }
            let read_once = |read| File::from(read).read(&mut vec![0; 1 << 20]).expect("read");
            let (tapped, untapped) = (read_once(read), read_once(plain_read));
            assert!(ahead >= plain && ahead <= plain + FULL, "{size}: {ahead} {plain}");
            assert!(tapped + 4096 > untapped, "{size}: {tapped} {untapped}");
        }
    }
}
