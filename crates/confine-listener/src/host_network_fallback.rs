//! The network of a world without namespaces, beside that of this machine.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use confine_gate::GateControl;

/// The most sockets that are kept.
const KEPT: usize = 256;

/// The network of a world without namespaces, as a listener has it.
pub(super) struct HostNetworkFallback {
    pub gate: GateControl,
    pub own: Ipv4Addr,
    /// Whether sockets of callers can be duplicated. `None`: not tried yet.
    pub duplicates: Option<bool>,
    /// Sockets that this process has made, by their inodes.
    pub made: VecDeque<(u64, OwnedFd)>,
}

impl HostNetworkFallback {
    pub fn new(gate: GateControl, own: Ipv4Addr) -> Self {
        Self { gate, own, duplicates: None, made: VecDeque::new() }
    }

    /// Keeps a socket that this process has made, in the place of the oldest one if there are many.
    pub fn keep_socket(&mut self, inode: u64, socket: OwnedFd) {
        if self.made.len() >= KEPT {
            self.made.pop_front();
        }
        self.made.push_back((inode, socket));
    }
}
