//! Whether the protection of a world is up to date, for processes that would have to ask init otherwise.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::{Board, Post};

/// The facts that show whether something changed since init has looked.
///
/// Changes that init has not read can be read from one of the watches. Before init reads them, it posts 0.
/// Once it has protected the new paths, it posts the number of the guards.
#[derive(Debug)]
pub struct Freshness {
    board: Board,
    watches: [OwnedFd; 2],
}

impl Freshness {
    /// A board, and descriptors of the watches on hidden and protected files, and on directories.
    pub fn new(board: Board, watches: [OwnedFd; 2]) -> Self {
        Self { board, watches }
    }

    /// Returns whether all that exists is protected, and the guards are those of this number. Otherwise init has to be
    /// asked.
    pub fn is_current(&self, number: u64) -> bool {
        // In this order: a path that is not in the queue any more was read after the post of 0.
        let mut watches = self.watches.each_ref().map(|watch| PollFd::new(watch.as_fd(), PollFlags::POLLIN));
        let is_read = matches!(poll(&mut watches, PollTimeout::ZERO), Ok(0));
        is_read && number != 0 && self.board.read(Post::Guards).is_ok_and(|posted| posted == number)
    }

    /// Returns other descriptors of the same.
    pub fn another(&self) -> io::Result<Self> {
        let [first, second] = &self.watches;
        Ok(Self { board: self.board.another()?, watches: [first.try_clone()?, second.try_clone()?] })
    }

    /// Returns all descriptors, in the order of [`Freshness::new`].
    pub fn into_list(self) -> [OwnedFd; 3] {
        let [first, second] = self.watches;
        [self.board.into(), first, second]
    }
}
