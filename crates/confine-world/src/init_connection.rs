//! A way to the init of a world.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::unistd::Pid;

use super::NameGuards;
use super::guard_freshness::GuardFreshness;
use super::init_messages::{self, DOOR, GUARDS, KEEP, PUBLISH, REACH, REFRESH, SHOW, SHOWN};
use super::published_world::PublishedWorld;

/// Time init may take to answer, ms. Only a machine that does nothing else takes so long.
const PATIENCE: u16 = 10_000;

/// A way to the init of a world. Each process that asks has its own door, because answers have no address.
#[derive(Debug)]
pub struct InitConnection {
    socket: OwnedFd,
    /// The number of the guards. 0: none were received.
    number: u64,
    guards: NameGuards,
    /// Shows without a question whether the guards are current.
    freshness: Option<GuardFreshness>,
}

impl InitConnection {
    /// Wraps the socket to init.
    pub fn new(socket: OwnedFd) -> Self {
        Self::from_socket(socket, None)
    }

    /// Wraps the socket, with the facts that show whether a question is needed.
    pub(super) fn from_socket(socket: OwnedFd, freshness: Option<GuardFreshness>) -> Self {
        Self { socket, number: 0, guards: NameGuards::default(), freshness }
    }

    /// Protects new repositories. Returns after they are protected.
    ///
    /// # Errors
    /// If init is gone, or could not protect a path. No command may start then.
    pub fn refresh(&mut self) -> io::Result<()> {
        if self.freshness.as_ref().is_some_and(|freshness| freshness.refresh(self.number)) {
            return Ok(());
        }
        init_messages::send(&self.socket, REFRESH, self.number, &[])?;
        let mut answer = init_messages::receive_within(&self.socket, GUARDS, PATIENCE)?;
        if let Some(file) = answer.fds.pop() {
            self.guards = init_messages::unpack(file)?;
            self.number = answer.number;
        }
        if answer.number == self.number { Ok(()) } else { Err(io::Error::other("a repository cannot be protected")) }
    }

    /// Returns the names that must not be created, as of the last [`InitConnection::refresh`].
    pub fn guards(&self) -> &NameGuards {
        &self.guards
    }

    /// Lets the world read a file whose path a result names, at the same path.
    ///
    /// # Errors
    /// If init is gone, or a command of the world has put another file in the way.
    pub fn show(&mut self, path: &Path) -> io::Result<()> {
        init_messages::send(&self.socket, SHOW, 0, &[init_messages::pack(&path)?.as_fd()])?;
        match init_messages::receive_within(&self.socket, SHOWN, PATIENCE)?.number {
            0 => Ok(()),
            errno => Err(io::Error::from_raw_os_error(i32::try_from(errno).unwrap_or(libc::EIO))),
        }
    }

    /// Returns a new socket of the world's network, and the address at which it reaches the server of a TCP port of the
    /// loopback. `None`: no server listens there.
    ///
    /// # Errors
    /// If init is gone, or could not make the socket.
    pub fn reach(&mut self, port: u16) -> io::Result<Option<(OwnedFd, SocketAddr)>> {
        init_messages::send(&self.socket, REACH, port.into(), &[])?;
        let mut answer = init_messages::receive_within(&self.socket, REACH, PATIENCE)?;
        let address = match answer.number {
            0 => return Ok(None),
            6 => SocketAddr::from((Ipv6Addr::LOCALHOST, port)),
            _ => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        };
        let socket = answer.fds.pop().ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Some((socket, address)))
    }

    /// Sends init the facts that another supervisor needs to join the world.
    pub(super) fn publish(&self, published: &PublishedWorld, gate: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let packed = init_messages::pack(published)?;
        let fds: Vec<_> = std::iter::once(packed.as_fd()).chain(gate).collect();
        init_messages::send(&self.socket, PUBLISH, 0, &fds)
    }

    /// Returns the way as a descriptor, for another process.
    pub fn into_fd(self) -> OwnedFd {
        self.socket
    }

    /// Returns the number of these guards, and the facts that show whether the number is current.
    pub fn freshness(&self) -> Option<(u64, &GuardFreshness)> {
        self.freshness.as_ref().map(|freshness| (self.number, freshness))
    }

    /// Returns another way to the same init.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        let (ours, inits) = sys::socket_pair()?;
        init_messages::send(&self.socket, DOOR, 0, &[inits.as_fd()])?;
        let freshness = self.freshness.as_ref().map(GuardFreshness::try_clone).transpose()?;
        Ok(Self { number: self.number, guards: self.guards.clone(), ..Self::from_socket(ours, freshness) })
    }

    /// Keeps the world until this process has exited.
    pub(super) fn keep_for(&self, process: Pid) -> io::Result<()> {
        init_messages::send(&self.socket, KEEP, 0, &[sys::open_pid(process)?.as_fd()])
    }
}
