//! Questions to a gate. Each question travels with a socket for its answer, so that several processes may ask.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use super::refusals::GateRefusals;
use super::world_loopback::AddressFamilies;

/// The largest message, in bytes.
pub(super) const LARGEST: usize = 256 * 1024;
/// Time a gate may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A question to a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum GateRequest {
    /// Whether the gate listens.
    Started,
    /// The certificate of the world's authority, as PEM.
    Certificate,
    /// The refusals.
    Take(Option<String>),
    /// Whether a server listens at a port of the world's loopback.
    Listens(u16),
    /// The port for a server that asks for an address.
    Serve(SocketAddr, AddressFamilies),
    /// The address to which a socket of a process has to be connected, to reach an address.
    Reach(RequestedConnection),
    /// The address that a socket at a port has for its program, or that of its peer at another port.
    Name(u16, Option<u16>),
}

/// A connection that a program wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedConnection {
    /// The port of its socket, at the address of the world.
    pub from: u16,
    /// The address that it wants.
    pub to: SocketAddr,
    /// Its process.
    pub process: i32,
}

/// The answer of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum GateAnswer {
    /// The gate listens.
    Started,
    /// The gate could not start: the step in words, and the system's error number.
    Failed(String, i32),
    /// The certificate. `None`: the world has no secrets.
    Certificate(Option<String>),
    /// The refusals.
    Taken(GateRefusals),
    /// Whether a server listens.
    Listens(bool),
    /// A port, or why there is none, as the system's error number.
    Port(Result<u16, i32>),
    /// An address, or why it cannot be reached.
    Address(Result<SocketAddr, i32>),
}

/// A handle of a gate. Copies of its descriptor may be passed to other processes.
#[derive(Debug)]
pub struct GateControl(OwnedFd);

impl From<OwnedFd> for GateControl {
    fn from(fd: OwnedFd) -> Self {
        Self(fd)
    }
}

impl AsFd for GateControl {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl GateControl {
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// Waits until the gate listens. An error says why the gate cannot listen.
    pub fn wait_until_started(&self) -> io::Result<()> {
        match self.ask(&GateRequest::Started)? {
            GateAnswer::Started => Ok(()),
            GateAnswer::Failed(step, errno) => {
                let error = io::Error::from_raw_os_error(errno);
                Err(io::Error::new(error.kind(), format!("{step}: {error}")))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Returns the certificate that the programs of the world have to trust, as PEM. `None`: the world has no secrets.
    pub fn certificate(&self) -> io::Result<Option<String>> {
        match self.ask(&GateRequest::Certificate)? {
            GateAnswer::Certificate(pem) => Ok(pem),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Takes the refusals since the last call. `mark` is the value of `AGENT_BASH_ID` of a command: the refusals of
    /// other commands then stay.
    pub fn take(&self, mark: Option<&str>) -> io::Result<GateRefusals> {
        match self.ask(&GateRequest::Take(mark.map(str::to_owned)))? {
            GateAnswer::Taken(refusals) => Ok(refusals),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Returns whether a server listens at a TCP port of the world's loopback.
    pub fn listens(&self, port: u16) -> io::Result<bool> {
        match self.ask(&GateRequest::Listens(port))? {
            GateAnswer::Listens(listens) => Ok(listens),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Returns the port for a server of a world without namespaces.
    ///
    /// # Errors
    /// The error of `bind`.
    pub fn port_for_server(&self, asked: SocketAddr, families: AddressFamilies) -> Result<u16, Errno> {
        match self.ask(&GateRequest::Serve(asked, families)) {
            Ok(GateAnswer::Port(port)) => port.map_err(Errno::from_raw),
            _ => Err(Errno::EADDRINUSE),
        }
    }

    /// Returns the address to which a socket of a world without namespaces has to be connected.
    ///
    /// # Errors
    /// The error of `connect`.
    pub fn reach_address(&self, journey: RequestedConnection) -> Result<SocketAddr, Errno> {
        self.address(&GateRequest::Reach(journey)).unwrap_or(Err(Errno::ENETUNREACH))
    }

    /// Returns the address that a socket at a port has for its program, or with `peer` that of its peer at that port.
    pub fn name(&self, port: u16, peer: Option<u16>) -> Option<SocketAddr> {
        self.address(&GateRequest::Name(port, peer))?.ok()
    }

    fn address(&self, request: &GateRequest) -> Option<Result<SocketAddr, Errno>> {
        match self.ask(request) {
            Ok(GateAnswer::Address(address)) => Some(address.map_err(Errno::from_raw)),
            _ => None,
        }
    }

    /// Returns another handle.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    fn ask(&self, request: &GateRequest) -> io::Result<GateAnswer> {
        let question = postcard::to_allocvec(request).map_err(io::Error::other)?;
        // The supervisor gets a signal for each child that exits.
        let answer = sys::ask(self.0.as_fd(), &question, PATIENCE, LARGEST)?;
        postcard::from_bytes(&answer).map_err(io::Error::other)
    }
}

/// Receives the next question with the socket for its answer. `None`: no question is there now, or it makes no sense.
pub(super) fn receive(control: BorrowedFd<'_>) -> Option<(GateRequest, OwnedFd)> {
    let (mut buffer, mut sockets) = ([0; 1024], Vec::new());
    let length = sys::receive(control, &mut buffer, &mut sockets).ok()?;
    let request = postcard::from_bytes(&buffer[..length]).ok()?;
    Some((request, sockets.pop()?))
}

/// Answers a question. An asker that is gone needs no answer.
pub(super) fn send_answer(socket: &OwnedFd, answer: &GateAnswer) {
    if let Ok(bytes) = postcard::to_allocvec(answer) {
        let _ = sys::send(socket.as_fd(), &bytes, &[]);
    }
}
