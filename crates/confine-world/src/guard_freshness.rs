//! Shows whether the protection of a world is up to date, for processes that would otherwise have to ask init.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use confine_gate::{WorldStatusBoard, WorldStatusSlot};

/// Facts that show whether anything changed since init looked.
///
/// Changes that init has not read are readable from a watch. Before init reads them, it posts 0. Once it has protected
/// the new paths, it posts the number of the guards.
#[derive(Debug)]
pub struct GuardFreshness {
    board: WorldStatusBoard,
    watches: [OwnedFd; 2],
}

impl GuardFreshness {
    /// Makes the facts from a board, and descriptors of the watches on hidden and protected files, and on directories.
    pub fn new(board: WorldStatusBoard, watches: [OwnedFd; 2]) -> Self {
        Self { board, watches }
    }

    /// Returns whether all existing paths are protected, and the guards with this number are current. Otherwise the
    /// caller has to ask init.
    pub fn is_current(&self, number: u64) -> bool {
        // The order matters: a path that has left the queue was read after the post of 0.
        let mut watches = self.watches.each_ref().map(|watch| PollFd::new(watch.as_fd(), PollFlags::POLLIN));
        let is_read = matches!(poll(&mut watches, PollTimeout::ZERO), Ok(0));
        is_read && number != 0 && self.board.read(WorldStatusSlot::Guards).is_ok_and(|posted| posted == number)
    }

    /// Returns duplicates of the descriptors.
    pub fn try_clone(&self) -> io::Result<Self> {
        let [first, second] = &self.watches;
        Ok(Self { board: self.board.try_clone()?, watches: [first.try_clone()?, second.try_clone()?] })
    }

    /// Makes the facts from the descriptors of [`GuardFreshness::into_list`].
    pub fn from_list([board, first, second]: [OwnedFd; 3]) -> Self {
        Self::new(board.into(), [first, second])
    }

    /// Returns all descriptors, which can be sent to another process.
    pub fn into_list(self) -> [OwnedFd; 3] {
        let [first, second] = self.watches;
        [self.board.into(), first, second]
    }
}
