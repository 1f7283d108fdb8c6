//! The system's own bash cannot be made to load a library, so no command has a witness.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;

use crate::witness::{PipelineTapState, WitnessTrace};

/// A witness that does not exist.
#[derive(Debug)]
pub enum BashWitness {}

impl BashWitness {
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
    pub fn set_tap(&self, _: PipelineTapState) -> io::Result<()> {
        match *self {}
    }

    /// Returns what became of the ends of a tap.
    pub fn tap(&self) -> PipelineTapState {
        match *self {}
    }

    /// Returns the number of events so far.
    pub fn events(&self) -> usize {
        match *self {}
    }

    /// Reads the events from this number on.
    pub fn read(&self, _: usize) -> Option<WitnessTrace> {
        match *self {}
    }
}

impl AsFd for BashWitness {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match *self {}
    }
}

/// Returns false.
pub fn takes_witness(_: &Path) -> bool {
    false
}
