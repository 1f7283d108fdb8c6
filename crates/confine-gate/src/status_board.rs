//! Numbers that one process of a world posts for others, which read them without a question. A question would wake the
//! other process and wait for it, two or three times per command. That costs more than the rest of a confined start.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

/// The places of a board. Only one process posts at each place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldStatusSlot {
    /// Init: the number of the guards, or 0 while they may be outdated.
    Guards,
    /// The gate: how many refusals it has recorded.
    Refusals,
    /// A listener: the number of calls that it has recorded, or that the gate may know of.
    Records,
    /// Init: 1 while it has no descriptors for another shim.
    Full,
    /// A listener: the number of directories that it has looked into for what commands have left.
    LookedInto,
}

/// Size of a number, bytes.
const NUMBER: usize = size_of::<u64>();
/// Number of places.
const PLACES: usize = 5;

/// An unnamed file with a number at each place.
#[derive(Debug)]
pub struct WorldStatusBoard(File);

impl WorldStatusBoard {
    /// Makes a board of zeroes.
    pub fn new() -> io::Result<Self> {
        Ok(sys::anonymous_file(&[0; NUMBER * PLACES])?.into())
    }

    /// Returns another descriptor of the same board.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Posts a number.
    pub fn post(&self, place: WorldStatusSlot, number: u64) -> io::Result<()> {
        self.0.write_all_at(&number.to_ne_bytes(), (place as usize * NUMBER) as u64)
    }

    /// Reads a number. The process posted it before anything that it did afterwards.
    pub fn read(&self, place: WorldStatusSlot) -> io::Result<u64> {
        let mut number = [0; NUMBER];
        self.0.read_exact_at(&mut number, (place as usize * NUMBER) as u64)?;
        Ok(u64::from_ne_bytes(number))
    }
}

impl From<OwnedFd> for WorldStatusBoard {
    fn from(fd: OwnedFd) -> Self {
        Self(fd.into())
    }
}

impl From<WorldStatusBoard> for OwnedFd {
    fn from(board: WorldStatusBoard) -> Self {
        board.0.into()
    }
}

impl AsFd for WorldStatusBoard {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_own_number_for_all_that_share_the_board() {
        let board = WorldStatusBoard::new().expect("a board");
        let other = board.try_clone().expect("the same");
        board.post(WorldStatusSlot::Guards, 7).expect("room");
        other.post(WorldStatusSlot::Records, u64::MAX).expect("room");
        let read = |place| board.read(place).expect("a number");
        let places = [WorldStatusSlot::Guards, WorldStatusSlot::Refusals, WorldStatusSlot::Records];
        assert_eq!(places.map(read), [7, 0, u64::MAX]);
    }
}
