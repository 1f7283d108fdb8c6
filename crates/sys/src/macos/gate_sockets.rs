//! macOS has no network namespaces, and so no gate.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::{PollEvent, PollInterest};

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
pub struct DescriptorPoller(std::convert::Infallible);

impl DescriptorPoller {
    /// Not supported.
    pub fn new() -> io::Result<Self> {
        unsupported()
    }

    /// Never called.
    pub fn add(&self, _: BorrowedFd<'_>, _: u64, _: PollInterest) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub fn change(&self, _: BorrowedFd<'_>, _: u64, _: PollInterest) -> io::Result<()> {
        match self.0 {}
    }

    /// Never called.
    pub fn remove(&self, _: BorrowedFd<'_>) {
        match self.0 {}
    }

    /// Never called.
    pub fn wait(&self, _: Option<Duration>, _: &mut Vec<PollEvent>) -> io::Result<()> {
        match self.0 {}
    }
}

/// Not supported.
pub fn opening_packets() -> io::Result<OwnedFd> {
    unsupported()
}

/// Not supported.
pub fn choose_port_late(_: BorrowedFd<'_>, _: bool) -> nix::Result<()> {
    Err(nix::errno::Errno::ENOSYS)
}

/// Not supported.
pub fn accept_only_from(_: BorrowedFd<'_>, _: Ipv4Addr) -> io::Result<()> {
    unsupported()
}
