//! The connections of a world, from their arrival to their end.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{SockaddrStorage, connect};

use sys::{Interest, Readiness};

use super::dns::Queries;
use super::handshake::{Dialled, Inspector, Mismatch};
use super::relay::{End, Relay, Side, reset};

/// Time limit for the resolution of a name.
const RESOLVING: Duration = Duration::from_secs(30);
/// Time that a server may take to accept, if there are other addresses to try.
const TRYING: Duration = Duration::from_secs(5);
/// Time that the last address of a server may take to accept.
const DIALLING: Duration = Duration::from_secs(60);

/// An address to dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The address.
    pub address: SocketAddr,
    /// Whether the address belongs to the world's own network.
    pub inside: bool,
}

impl Candidate {
    /// Returns an address of the host's network.
    pub fn outside(address: SocketAddr) -> Self {
        Self { address, inside: false }
    }

    /// Returns an address of the world's own network.
    pub fn inside(address: SocketAddr) -> Self {
        Self { address, inside: true }
    }

    /// Returns the loopback addresses of the world.
    pub fn loopback(port: u16) -> Vec<Self> {
        [(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()].map(Self::inside).into()
    }

    /// Begins to connect a socket.
    pub fn dial(self, socket: OwnedFd) -> io::Result<TcpStream> {
        match connect(socket.as_raw_fd(), &SockaddrStorage::from(self.address)) {
            Ok(()) | Err(Errno::EINPROGRESS) => Ok(socket.into()),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// The next need of a connection.
#[derive(Debug)]
pub(super) enum Need {
    /// The next event.
    Event,
    /// Another address.
    Dial,
    /// Answers to its queries.
    Answers,
    /// The end of the connection.
    End,
    /// A refusal.
    Refuse(Mismatch),
}

/// The stage of a connection.
#[derive(Debug)]
enum Stage {
    /// The destination is not known yet.
    Waiting(TcpStream),
    /// Addresses are tried, the last one first.
    Dialling { client: TcpStream, server: Option<TcpStream>, rest: Vec<Candidate> },
    /// Both sides are connected.
    Open(Relay),
    /// A connection to the resolver.
    Asking(Queries),
    /// The end.
    Over,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// The socket of the program.
    pub from: SocketAddr,
    /// The address that the program has dialled.
    pub to: SocketAddr,
    /// The meaning of the dialled address. `None`: nothing is checked.
    pub dialled: Option<Dialled>,
    stage: Stage,
    deadline: Option<Instant>,
    /// The interest in the client and in the server. `None`: the poller does not know the socket.
    pub(super) watched: [Option<Interest>; 2],
}

impl Connection {
    /// Returns a connection that was accepted.
    pub fn new(client: TcpStream, from: SocketAddr, to: SocketAddr) -> Self {
        let deadline = Some(Instant::now() + RESOLVING);
        Self { from, to, dialled: None, stage: Stage::Waiting(client), deadline, watched: [None; 2] }
    }

    /// Returns when the connection has waited long enough.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the number of bytes that the connection keeps.
    pub fn kept(&self) -> usize {
        match &self.stage {
            Stage::Open(relay) => relay.kept(),
            Stage::Asking(queries) => queries.kept(),
            _ => 0,
        }
    }

    /// Returns a socket of this connection, and the events to report about it.
    pub fn socket(&self, side: Side) -> Option<(&TcpStream, Option<Interest>)> {
        match (&self.stage, side) {
            (Stage::Waiting(client) | Stage::Dialling { client, .. }, Side::Client) => {
                Some((client, Some(Interest::NONE)))
            }
            (Stage::Dialling { server, .. }, Side::Server) => Some((server.as_ref()?, Some(Interest::WRITE))),
            (Stage::Open(relay), side) => Some((relay.socket(side), relay.interest(side))),
            (Stage::Asking(queries), Side::Client) => Some((queries.socket(), Some(queries.interest()))),
            _ => None,
        }
    }

    /// Turns this into a connection to the resolver.
    pub fn ask(&mut self) -> Need {
        self.deadline = None;
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Waiting(client) => self.stage = Stage::Asking(Queries::new(client)),
            other => self.stage = other,
        }
        Need::Event
    }

    /// Reads queries. Returns whether the program may still want answers.
    pub fn read_queries(&mut self, buffer: &mut [u8], queries: &mut Vec<Vec<u8>>) -> bool {
        let Stage::Asking(asking) = &mut self.stage else { return false };
        asking.read(buffer, queries).is_ok()
    }

    /// Sends the answers to the queries that were read.
    pub fn answer(&mut self, answers: Vec<Vec<u8>>) -> Need {
        let Stage::Asking(asking) = &mut self.stage else { return Need::End };
        if matches!(asking.answer(answers), Ok(true)) { Need::Event } else { Need::End }
    }

    /// Sets the destination.
    pub fn go_to(&mut self, mut candidates: Vec<Candidate>, dialled: Option<Dialled>) -> Need {
        candidates.reverse();
        self.dialled = dialled;
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Waiting(client) => {
                self.stage = Stage::Dialling { client, server: None, rest: candidates };
                Need::Dial
            }
            other => {
                self.stage = other;
                Need::Event
            }
        }
    }

    /// Takes the next address to dial, and forgets the last one. `None`: no address is left.
    pub fn next_candidate(&mut self) -> Option<Candidate> {
        let Stage::Dialling { server, rest, .. } = &mut self.stage else { return None };
        *server = None;
        self.watched[1] = None;
        let next = rest.pop();
        self.deadline = Some(Instant::now() + if rest.is_empty() { DIALLING } else { TRYING });
        next
    }

    /// Starts to wait for a server to accept.
    pub fn dial(&mut self, socket: TcpStream) -> Need {
        if let Stage::Dialling { server, .. } = &mut self.stage {
            *server = Some(socket);
        }
        Need::Event
    }

    /// Handles an event of a socket of this connection.
    pub fn on_event(&mut self, side: Side, event: Readiness, buffer: &mut [u8]) -> Need {
        match &mut self.stage {
            // A waiting client reports only a failure.
            Stage::Waiting(_) => Need::End,
            Stage::Dialling { .. } if side == Side::Client => {
                self.reset();
                Need::End
            }
            Stage::Dialling { server, .. } => match server {
                Some(socket) if !event.failed && is_reached(socket) => self.open(buffer),
                _ => Need::Dial,
            },
            Stage::Open(relay) if event.failed && !matches!(relay.socket(side).take_error(), Ok(None)) => {
                self.reset();
                Need::End
            }
            Stage::Open(_) => self.go_on(buffer),
            Stage::Asking(_) => Need::Answers,
            Stage::Over => Need::End,
        }
    }

    /// Connects both sides.
    fn open(&mut self, buffer: &mut [u8]) -> Need {
        self.deadline = None;
        if let Stage::Dialling { client, server: Some(server), .. } = std::mem::replace(&mut self.stage, Stage::Over) {
            self.stage = Stage::Open(Relay::new(client, server, self.dialled.clone().map(Inspector::new)));
        }
        self.go_on(buffer)
    }

    fn go_on(&mut self, buffer: &mut [u8]) -> Need {
        let Stage::Open(relay) = &mut self.stage else { return Need::End };
        match relay.go_on(buffer) {
            Ok(()) => Need::Event,
            Err(End::Closed) => Need::End,
            Err(End::Refused(mismatch)) => Need::Refuse(mismatch),
            Err(End::Reset) => {
                self.reset();
                Need::End
            }
        }
    }

    /// Handles the end of the waiting time.
    pub fn on_late(&mut self) -> Need {
        match &self.stage {
            Stage::Dialling { .. } => Need::Dial,
            _ => {
                self.reset();
                Need::End
            }
        }
    }

    /// Makes the end of the connection a reset for both sides.
    pub fn reset(&self) {
        for side in [Side::Client, Side::Server] {
            self.socket(side).iter().for_each(|(socket, _)| reset(&socket.as_fd()));
        }
    }
}

/// Returns whether a server has accepted. Without a server, a socket may connect to itself, because the kernel may have
/// given it the very port that it dials.
fn is_reached(socket: &TcpStream) -> bool {
    let ends = || Ok::<_, io::Error>((socket.local_addr()?, socket.peer_addr()?));
    if ends().is_ok_and(|(own, other)| own == other) {
        // Frees the port at once for the server that is still to start there.
        reset(socket);
        return false;
    }
    matches!(socket.take_error(), Ok(None))
}

#[cfg(test)]
mod tests {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, getsockname, socket};

    use super::*;

    #[test]
    fn a_socket_that_has_connected_to_itself_has_reached_nobody() {
        let (family, kind) = (AddressFamily::Inet, SockType::Stream);
        let socket = socket(family, kind, SockFlag::empty(), None).expect("a socket");
        bind(socket.as_raw_fd(), &SockaddrIn::new(127, 0, 0, 1, 0)).expect("bound");
        let own: SockaddrIn = getsockname(socket.as_raw_fd()).expect("a name");
        let dialled = Candidate::outside(SocketAddr::new(own.ip().into(), own.port())).dial(socket).expect("dialled");
        assert_eq!(dialled.local_addr().expect("one end"), dialled.peer_addr().expect("the other"));
        assert!(!is_reached(&dialled));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        let reached = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        assert!(is_reached(&reached));
    }
}
