//! Servers of the internet.

use std::net::IpAddr;

/// A listening TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListeningSocket {
    /// The address, which may stand for all.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
    /// The number of the socket on this host.
    pub socket: u64,
}
