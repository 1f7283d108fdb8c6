//! macOS has no network namespaces, and so no gate.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::{Interest, Readiness};

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not supported.
pub fn packet_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    unsupported()
}

/// Not supported.
pub fn stream_socket(_: bool) -> io::Result<OwnedFd> {
    unsupported()
}

/// Not supported.
pub fn enter_namespace(_: BorrowedFd<'_>) -> io::Result<()> {
    unsupported()
}

/// Does nothing.
pub fn close_all_but(_: &[RawFd]) {}

/// Cannot be made.
pub struct Poller(std::convert::Infallible);

impl Poller {
    /// Not supported.
    pub fn new() -> io::Result<Self> {
        unsupported()
    }

    /// Never called.
    pub fn add(&self, _: BorrowedFd<'_>, _: u64, _: Interest) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub fn change(&self, _: BorrowedFd<'_>, _: u64, _: Interest) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub fn remove(&self, _: BorrowedFd<'_>) {
        match self.0 {}
    }

    /// Never called.
    pub fn wait(&self, _: Option<Duration>, _: &mut Vec<Readiness>) -> io::Result<()> {
        match self.0 {}
    }
}

/// Not supported.
pub fn opening_packets() -> io::Result<OwnedFd> {
    unsupported()
}
