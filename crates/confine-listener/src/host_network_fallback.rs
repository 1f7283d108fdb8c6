//! The network of a world without namespaces, beside that of this machine.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use confine_gate::GateControl;

/// The most sockets that are kept.
const KEPT: usize = 256;

/// The most sockets that stand for sockets of UDP.
const PLACEHOLDERS: usize = 1024;

/// A socket in the place of one of UDP, as its program sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct DatagramPlaceholder {
    /// The inode of the socket.
    pub inode: u64,
    /// Whether the program has asked for one of IPv6.
    pub v6: bool,
    /// The address that it is connected to.
    pub peer: Option<SocketAddr>,
}

impl DatagramPlaceholder {
    /// Returns the address that the socket has for its program.
    pub fn own_address(&self) -> SocketAddr {
        let unspecified = if self.v6 { Ipv6Addr::UNSPECIFIED.into() } else { IpAddr::from(Ipv4Addr::UNSPECIFIED) };
        SocketAddr::new(self.peer.map_or(unspecified, |peer| peer.ip()), 0)
    }
}

/// The network of a world without namespaces, as a listener has it.
pub(super) struct HostNetworkFallback {
    pub gate: GateControl,
    pub own: Ipv4Addr,
    /// Whether sockets of callers can be duplicated. `None`: not tried yet.
    pub duplicates: Option<bool>,
    /// Sockets that this process has made, by their inodes.
    pub made: VecDeque<(u64, OwnedFd)>,
    /// The sockets in the place of those of UDP, the oldest first.
    pub placeholders: VecDeque<DatagramPlaceholder>,
}

impl HostNetworkFallback {
    pub fn new(gate: GateControl, own: Ipv4Addr) -> Self {
        Self { gate, own, duplicates: None, made: VecDeque::new(), placeholders: VecDeque::new() }
    }

    /// Keeps a socket that this process has made, in the place of the oldest one if there are many.
    pub fn keep_socket(&mut self, inode: u64, socket: OwnedFd) {
        if self.made.len() >= KEPT {
            self.made.pop_front();
        }
        self.made.push_back((inode, socket));
    }

    /// Remembers a socket in the place of one of UDP. The oldest one is forgotten if there are many.
    pub fn add_placeholder(&mut self, inode: u64, v6: bool) {
        if self.placeholders.len() >= PLACEHOLDERS {
            self.placeholders.pop_front();
        }
        self.placeholders.push_back(DatagramPlaceholder { inode, v6, peer: None });
    }
}
