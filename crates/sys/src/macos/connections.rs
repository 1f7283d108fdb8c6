//! macOS has no network namespaces.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use nix::unistd::Pid;

use crate::InternetTransport;

/// Always false.
pub fn listens_at(_: SocketAddr) -> bool {
    false
}

/// Always false.
pub fn listens(_: Pid, _: u16) -> bool {
    false
}

/// Always `None`.
pub fn loopback_server(_: Pid, _: u16) -> Option<SocketAddr> {
    None
}

/// Always false.
pub fn has_other_network(_: Pid) -> bool {
    false
}

/// Always empty.
pub fn processes_in_network(_: BorrowedFd<'_>) -> Vec<Pid> {
    Vec::new()
}

/// Always `None`.
pub fn socket_owner(_: &[Pid], _: InternetTransport, _: SocketAddr) -> Option<Pid> {
    None
}

/// Always `None`.
pub fn variable_of(_: Pid, _: &str) -> Option<String> {
    None
}
