//! The flow from one pipe to another through this process, which holds no byte between two steps, unless the system has
//! no memory.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};

use crate::{LARGE_PIPE_BYTES, PIPE_BYTES, tee_pipe, waiting_bytes};

/// Bytes that a pipe with any room takes whole, and packs together with others.
const PAGE: usize = 4096;
/// Most bytes of one step.
const STEP: usize = 256 * 1024;

/// Passes bytes on, a few at a time.
#[derive(Debug)]
pub struct PipeForwarder {
    bytes: Vec<u8>,
    /// Bytes that the second pipe did not take though it had room: the system has no memory.
    held: usize,
    /// A pipe for a look at the first one, once it was needed.
    aside: Option<(OwnedFd, OwnedFd)>,
}

/// The result of a step.
#[derive(Debug, PartialEq, Eq)]
pub enum ForwardOutcome<'b> {
    /// These bytes have reached the second pipe.
    Bytes(&'b [u8]),
    /// The first pipe has no bytes.
    Empty,
    /// The second pipe has no room.
    Full,
    /// No process can write to the first pipe any more, and it has no bytes.
    Ended,
    /// No process can read from the second pipe any more. These bytes were taken for it.
    ReaderLeft(&'b [u8]),
}

impl Default for PipeForwarder {
    fn default() -> Self {
        Self { bytes: vec![0; STEP], held: 0, aside: None }
    }
}

impl PipeForwarder {
    /// Passes on a step of what the first pipe has, if the second one has room for it. Never waits if both ends do not.
    pub fn step(&mut self, from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> ForwardOutcome<'_> {
        let ready = ready_events(to, PollFlags::POLLOUT);
        if ready.contains(PollFlags::POLLERR) {
            return ForwardOutcome::ReaderLeft(&self.bytes[..std::mem::take(&mut self.held)]);
        }
        if !ready.contains(PollFlags::POLLOUT) {
            return ForwardOutcome::Full;
        }
        let waiting = if self.held == 0 { waiting_bytes(from) } else { 0 };
        if waiting > PAGE as u64 {
            let passed = if waiting > PIPE_BYTES as u64 {
                // The pipes share the pages of the system, so that the bytes are copied once: to be kept. Pages that
                // are not full stay so, but there are enough for a read to return as much as from a plain pipe.
                tee_pipe(from, to, STEP).map_err(io::Error::from)
            } else {
                // A reader that waits gets the bytes of one write in one read.
                self.peek(from).and_then(|seen| Ok(write(to, &self.bytes[..seen])?))
            };
            match passed {
                Ok(count) => return ForwardOutcome::Bytes(self.take(from, count)),
                Err(error) if error.raw_os_error() == Some(Errno::EPIPE as i32) => {
                    return ForwardOutcome::ReaderLeft(&[]);
                }
                Err(error) if error.raw_os_error() == Some(Errno::EAGAIN as i32) => return ForwardOutcome::Full,
                // The system cannot, or has no memory for it: a page at a time.
                Err(_) => {}
            }
        }
        while self.held == 0 {
            match read(from, &mut self.bytes[..PAGE]) {
                Ok(0) => return ForwardOutcome::Ended,
                Ok(count) => self.held = count,
                Err(Errno::EINTR) => {}
                Err(_) => return ForwardOutcome::Empty,
            }
        }
        loop {
            match write(to, &self.bytes[..self.held]) {
                // A pipe takes so few bytes whole.
                Ok(_) => return ForwardOutcome::Bytes(&self.bytes[..std::mem::take(&mut self.held)]),
                Err(Errno::EPIPE) => return ForwardOutcome::ReaderLeft(&self.bytes[..std::mem::take(&mut self.held)]),
                Err(Errno::EINTR) => {}
                Err(_) => return ForwardOutcome::Full,
            }
        }
    }
}

impl PipeForwarder {
    /// Reads what the first pipe holds, which keeps it. Returns how much that is.
    fn peek(&mut self, from: BorrowedFd<'_>) -> io::Result<usize> {
        if self.aside.is_none() {
            let aside = crate::pipe()?;
            crate::grow_pipe(aside.0.as_fd(), LARGE_PIPE_BYTES);
            self.aside = Some(aside);
        }
        let Some((read, write)) = &self.aside else { return Ok(0) };
        let count = tee_pipe(from, write.as_fd(), STEP)?;
        Ok(fill(read.as_fd(), &mut self.bytes[..count]))
    }

    /// Takes bytes that the second pipe has, and the first one still holds.
    fn take(&mut self, from: BorrowedFd<'_>, count: usize) -> &[u8] {
        let taken = fill(from, &mut self.bytes[..count]);
        &self.bytes[..taken]
    }
}

/// Reads so many bytes of a pipe that holds them, and that no one else reads.
fn fill(pipe: BorrowedFd<'_>, bytes: &mut [u8]) -> usize {
    let mut taken = 0;
    while taken < bytes.len() {
        match read(pipe, &mut bytes[taken..]) {
            Ok(0) => break,
            Ok(more) => taken += more,
            Err(Errno::EINTR) => {}
            Err(_) => break,
        }
    }
    taken
}

/// Returns which of these events an end of a pipe has now, and those that always show.
pub fn ready_events(end: BorrowedFd<'_>, events: PollFlags) -> PollFlags {
    let mut ends = [PollFd::new(end, events)];
    let polled = poll(&mut ends, PollTimeout::ZERO);
    ends[0].revents().filter(|_| polled.is_ok()).unwrap_or(PollFlags::empty())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::{AsFd, OwnedFd};

    use super::*;

    fn pipe() -> (OwnedFd, OwnedFd) {
        let (read, write) = crate::pipe().expect("a pipe");
        crate::set_nonblocking(&read).expect("set");
        crate::set_nonblocking(&write).expect("set");
        (read, write)
    }

    #[test]
    fn each_step_says_what_became_of_the_bytes() {
        let ((from, first), (last, to)) = (pipe(), pipe());
        let (mut first, mut last) = (std::fs::File::from(first), std::fs::File::from(last));
        let mut passing = PipeForwarder::default();
        assert_eq!(passing.step(from.as_fd(), to.as_fd()), ForwardOutcome::Empty);
        first.write_all(b"abc").expect("room");
        assert_eq!(passing.step(from.as_fd(), to.as_fd()), ForwardOutcome::Bytes(b"abc"));
        let mut got = [0; 9];
        assert_eq!(last.read(&mut got).expect("bytes"), 3);
        first.write_all(b"def").expect("room");
        drop(first);
        assert_eq!(passing.step(from.as_fd(), to.as_fd()), ForwardOutcome::Bytes(b"def"));
        assert_eq!(passing.step(from.as_fd(), to.as_fd()), ForwardOutcome::Ended);
        drop(last);
        assert_eq!(passing.step(from.as_fd(), to.as_fd()), ForwardOutcome::ReaderLeft(b""));
    }

    #[test]
    fn small_writes_take_no_more_room_than_in_one_pipe() {
        let ((from, first), (last, to)) = (pipe(), pipe());
        let (mut first, mut last) = (std::fs::File::from(first), std::fs::File::from(last));
        let mut passing = PipeForwarder::default();
        for _ in 0..6_000 {
            first.write_all(b"0123456789").expect("room");
            assert_eq!(passing.step(from.as_fd(), to.as_fd()), ForwardOutcome::Bytes(b"0123456789"));
        }
        let mut got = vec![0; 70_000];
        assert_eq!(last.read(&mut got).expect("bytes"), 60_000, "one read returns all of it");
    }
}
