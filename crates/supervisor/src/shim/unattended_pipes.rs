//! The pipes that a shim looks after because the addon does not.

use std::os::fd::{AsFd, OwnedFd};

use nix::poll::{PollFd, PollFlags};

use super::pipeline_tap::{TapForwarder, TapProgress};

/// Most bytes per read of output that is dropped.
const DROPPED: usize = 64 * 1024;

/// What flows through a shim.
#[derive(Default)]
pub struct UnattendedPipes {
    /// Output pipes that no other process reads. Their output is dropped.
    pub unread: Vec<OwnedFd>,
    /// The tap of the command, once the addon has left it to the shim.
    pub tap: Option<TapForwarder>,
}

impl UnattendedPipes {
    /// Adds the descriptors to poll. Returns their number.
    pub fn poll_fds<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) -> usize {
        let before = fds.len();
        fds.extend(self.unread.iter().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)));
        fds.extend(self.tap.iter().flat_map(TapForwarder::poll_fds));
        fds.len() - before
    }

    /// Handles which of these descriptors are ready: closes pipes that have ended.
    pub fn serve(&mut self, ready: &[bool]) {
        let (unread, tap) = ready.split_at(self.unread.len());
        if unread.contains(&true) {
            self.drop_output();
        }
        if tap.contains(&true) {
            self.tap.take_if(|tap| tap.forward() == TapProgress::Ended);
        }
    }

    /// Reads and drops the output of unread pipes, and closes pipes that have ended.
    pub fn drop_output(&mut self) {
        let mut buffer = vec![0_u8; DROPPED];
        self.unread.retain(|pipe| !matches!(nix::unistd::read(pipe, &mut buffer), Ok(0)));
    }
}
