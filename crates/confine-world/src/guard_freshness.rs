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
    /// The file systems of drafted directories, in which others may have changed names that the kernel remembers.
    drafted: Vec<OwnedFd>,
}

impl GuardFreshness {
    /// Makes the facts from a board, descriptors of the watches on hidden and protected files, and on directories, and
    /// the file systems of drafted directories.
    pub fn new(board: WorldStatusBoard, watches: [OwnedFd; 2], drafted: Vec<OwnedFd>) -> Self {
        Self { board, watches, drafted }
    }

    /// Makes the kernel forget the names of drafted directories. Returns whether all existing paths are protected, and
    /// the guards with this number are current. Otherwise the caller has to ask init.
    pub fn refresh(&self, number: u64) -> bool {
        // The order matters: a path that becomes visible here is in the queue, and a path that has left the queue was
        // read after the post of 0.
        let is_fresh = self.drafted.iter().all(|drafted| sys::drop_found_names(drafted, false).is_ok());
        let mut watches = self.watches.each_ref().map(|watch| PollFd::new(watch.as_fd(), PollFlags::POLLIN));
        let is_read = is_fresh && matches!(poll(&mut watches, PollTimeout::ZERO), Ok(0));
        is_read && number != 0 && self.board.read(WorldStatusSlot::Guards).is_ok_and(|posted| posted == number)
    }

    /// Returns duplicates of the descriptors.
    pub fn try_clone(&self) -> io::Result<Self> {
        let [first, second] = &self.watches;
        let drafted = self.drafted.iter().map(OwnedFd::try_clone).collect::<io::Result<_>>()?;
        Ok(Self::new(self.board.try_clone()?, [first.try_clone()?, second.try_clone()?], drafted))
    }

    /// Makes the facts from the descriptors of [`GuardFreshness::into_list`]. `None`: some are missing.
    pub fn from_list(descriptors: Vec<OwnedFd>) -> Option<Self> {
        let mut next = descriptors.into_iter();
        let (board, watches) = (next.next()?, [next.next()?, next.next()?]);
        Some(Self::new(board.into(), watches, next.collect()))
    }

    /// Returns all descriptors, which can be sent to another process.
    pub fn into_list(self) -> Vec<OwnedFd> {
        [self.board.into()].into_iter().chain(self.watches).chain(self.drafted).collect()
    }
}
