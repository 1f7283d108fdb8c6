//! The tap of a command that goes on without the addon.

use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags};

use protocol::PipelineTapEnds;
use sys::{ForwardOutcome, PipeForwarder};

/// Steps before the shim looks at anything else.
const TURN: usize = 64;

/// Both ends of a tap. Nothing is kept of what flows.
pub struct TapForwarder {
    ends: PipelineTapEnds,
    passing: PipeForwarder,
    /// Whether the reader's pipe has no room.
    full: bool,
}

/// Whether more may flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapProgress {
    /// It may.
    Open,
    /// The producer has ended, or the reader has left.
    Ended,
}

impl TapForwarder {
    pub fn new(ends: PipelineTapEnds) -> Self {
        Self { ends, passing: PipeForwarder::default(), full: false }
    }

    /// Returns the ends to poll. The reader's leaving shows in any case.
    pub fn poll_fds(&self) -> Vec<PollFd<'_>> {
        let (from, to) = (self.ends.from.as_fd(), self.ends.to.as_fd());
        // A producer that has ended would show at once, and there is no room for what it wrote.
        if self.full {
            return vec![PollFd::new(to, PollFlags::POLLOUT)];
        }
        vec![PollFd::new(from, PollFlags::POLLIN), PollFd::new(to, PollFlags::empty())]
    }

    /// Moves what is there, as far as there is room.
    pub fn forward(&mut self) -> TapProgress {
        for _ in 0..TURN {
            let passed = self.passing.step(self.ends.from.as_fd(), self.ends.to.as_fd());
            self.full = passed == ForwardOutcome::Full;
            match passed {
                ForwardOutcome::Bytes(_) => {}
                ForwardOutcome::Empty | ForwardOutcome::Full => return TapProgress::Open,
                ForwardOutcome::Ended | ForwardOutcome::ReaderLeft(_) => return TapProgress::Ended,
            }
        }
        TapProgress::Open
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

    use nix::poll::{PollTimeout, poll};

    use super::*;

    #[test]
    fn all_bytes_arrive_in_order_whatever_the_reader_leaves_in_its_pipe() {
        let (ends, [read, write]) = PipelineTapEnds::open().expect("pipes");
        let (mut read, mut write) = (File::from(read), File::from(write));
        let mut tap = TapForwarder::new(ends);
        let sent: Vec<u8> = (0..40_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut got = Vec::new();
        for chunk in sent.chunks(3_000) {
            write.write_all(chunk).expect("written");
            while got.len() < sent.len() {
                assert_eq!(tap.forward(), TapProgress::Open);
                let mut piece = [0; 1_000];
                let mut ready = [PollFd::new(read.as_fd(), PollFlags::POLLIN)];
                if poll(&mut ready, PollTimeout::ZERO) == Ok(0) {
                    break;
                }
                let count = read.read(&mut piece).expect("read");
                got.extend_from_slice(&piece[..count]);
            }
        }
        assert_eq!(got, sent);
        drop(write);
        assert_eq!(tap.forward(), TapProgress::Ended);
    }

    #[test]
    fn a_reader_that_leaves_ends_the_flow_at_once() {
        let (ends, [read, write]) = PipelineTapEnds::open().expect("pipes");
        let mut tap = TapForwarder::new(ends);
        assert_eq!(tap.forward(), TapProgress::Open);
        drop(read);
        assert_eq!(tap.forward(), TapProgress::Ended, "though nothing was written");
        drop((tap, write));
    }
}
