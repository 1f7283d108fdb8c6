//! The system's own bash cannot be made to load a library, so no command has a witness.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;

use crate::witness::{TapState, Trace};

/// A witness that does not exist.
#[derive(Debug)]
pub enum Witness {}

impl Witness {
    /// Fails.
    pub fn create(_: &[u8], _: Option<[RawFd; 2]>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns `None`.
    pub fn of(_: OwnedFd) -> Option<Self> {
        None
    }

    /// Returns another handle of the same file.
    pub fn share(&self) -> io::Result<OwnedFd> {
        match *self {}
    }

    /// Sets what becomes of the ends of a tap.
    pub fn set_tap(&self, _: TapState) -> io::Result<()> {
        match *self {}
    }

    /// Returns what became of the ends of a tap.
    pub fn tap(&self) -> TapState {
        match *self {}
    }

    /// Returns the number of events so far.
    pub fn events(&self) -> usize {
        match *self {}
    }

    /// Reads the events from this number on.
    pub fn read(&self, _: usize) -> Option<Trace> {
        match *self {}
    }
}

impl AsFd for Witness {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match *self {}
    }
}

/// Returns false.
pub fn takes_witness(_: &Path) -> bool {
    false
}
