//! The connections of a world, from their arrival to their end.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{SockaddrStorage, connect};

use sys::{PollEvent, PollInterest};

use super::dns::DnsTcpStream;
use super::handshake::{DialledDestination, HandshakeInspector, HandshakeMismatch};
use super::relay::{ConnectionRelay, RelayEnd, RelaySide, SecretGuard, reset};

/// Time limit for the resolution of a name.
const RESOLVING: Duration = Duration::from_secs(30);
/// Time that a server may take to accept, if there are other addresses to try.
const TRYING: Duration = Duration::from_secs(5);
/// Time that the last address of a server may take to accept.
const DIALLING: Duration = Duration::from_secs(60);

/// An address to dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DialCandidate {
    /// The address.
    pub address: SocketAddr,
    /// Whether the address belongs to the world's own network.
    pub inside: bool,
}

impl DialCandidate {
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
pub(super) enum ConnectionNeed {
    /// The next event.
    Event,
    /// Another address.
    Dial,
    /// Answers to its queries.
    Answers,
    /// The end of the connection.
    End,
    /// A refusal.
    Refuse(HandshakeMismatch),
    /// The broker, which opens the connection.
    Broker,
    /// A refusal, because the bytes hold the stand-in of this secret.
    RefuseLeak(String),
}

/// The stage of a connection.
#[derive(Debug)]
enum ConnectionStage {
    /// The destination is not known yet.
    Waiting(TcpStream),
    /// Addresses are tried, the last one first.
    Dialling { client: TcpStream, server: Option<TcpStream>, rest: Vec<DialCandidate> },
    /// Both sides are connected.
    Open(ConnectionRelay),
    /// A connection to the resolver.
    ResolverQueries(DnsTcpStream),
    /// The end.
    Over,
}

/// A connection.
#[derive(Debug)]
pub(super) struct GatedConnection {
    /// The socket of the program.
    pub from: SocketAddr,
    /// The address that the program has dialled.
    pub to: SocketAddr,
    /// The meaning of the dialled address. `None`: nothing is checked.
    pub dialled: Option<DialledDestination>,
    stage: ConnectionStage,
    deadline: Option<Instant>,
    /// Opens the connection, or looks for stand-ins in it, once both sides are connected.
    pub secrets: SecretGuard,
    /// The interest in the client and in the server. `None`: the poller does not know the socket.
    pub(super) watched: [Option<PollInterest>; 2],
}

impl GatedConnection {
    /// Returns a connection that was accepted.
    pub fn new(client: TcpStream, from: SocketAddr, to: SocketAddr) -> Self {
        let deadline = Some(Instant::now() + RESOLVING);
        Self {
            from,
            to,
            dialled: None,
            stage: ConnectionStage::Waiting(client),
            deadline,
            secrets: SecretGuard::default(),
            watched: [None; 2],
        }
    }

    /// Returns when the connection has waited long enough.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the number of bytes that the connection keeps.
    pub fn kept_bytes(&self) -> usize {
        match &self.stage {
            ConnectionStage::Open(relay) => relay.kept_bytes(),
            ConnectionStage::ResolverQueries(queries) => queries.kept_bytes(),
            _ => 0,
        }
    }

    /// Returns a socket of this connection, and the events to report about it.
    pub fn socket(&self, side: RelaySide) -> Option<(&TcpStream, Option<PollInterest>)> {
        match (&self.stage, side) {
            (ConnectionStage::Waiting(client) | ConnectionStage::Dialling { client, .. }, RelaySide::Client) => {
                Some((client, Some(PollInterest::NONE)))
            }
            (ConnectionStage::Dialling { server, .. }, RelaySide::Server) => {
                Some((server.as_ref()?, Some(PollInterest::WRITE)))
            }
            (ConnectionStage::Open(relay), side) => Some((relay.socket(side), relay.interest(side))),
            (ConnectionStage::ResolverQueries(queries), RelaySide::Client) => {
                Some((queries.socket(), Some(queries.interest())))
            }
            _ => None,
        }
    }

    /// Turns this into a connection to the resolver.
    pub fn become_dns_stream(&mut self) -> ConnectionNeed {
        self.deadline = None;
        match std::mem::replace(&mut self.stage, ConnectionStage::Over) {
            ConnectionStage::Waiting(client) => {
                self.stage = ConnectionStage::ResolverQueries(DnsTcpStream::new(client))
            }
            other => self.stage = other,
        }
        ConnectionNeed::Event
    }

    /// Reads queries. Returns whether the program may still want answers.
    pub fn read_queries(&mut self, buffer: &mut [u8], queries: &mut Vec<Vec<u8>>) -> bool {
        let ConnectionStage::ResolverQueries(asking) = &mut self.stage else { return false };
        asking.read(buffer, queries).is_ok()
    }

    /// Sends the answers to the queries that were read.
    pub fn send_dns_answers(&mut self, answers: Vec<Vec<u8>>) -> ConnectionNeed {
        let ConnectionStage::ResolverQueries(asking) = &mut self.stage else { return ConnectionNeed::End };
        if matches!(asking.answer(answers), Ok(true)) { ConnectionNeed::Event } else { ConnectionNeed::End }
    }

    /// Sets the destination.
    pub fn go_to(&mut self, mut candidates: Vec<DialCandidate>, dialled: Option<DialledDestination>) -> ConnectionNeed {
        candidates.reverse();
        self.dialled = dialled;
        match std::mem::replace(&mut self.stage, ConnectionStage::Over) {
            ConnectionStage::Waiting(client) => {
                self.stage = ConnectionStage::Dialling { client, server: None, rest: candidates };
                ConnectionNeed::Dial
            }
            other => {
                self.stage = other;
                ConnectionNeed::Event
            }
        }
    }

    /// Takes the next address to dial, and forgets the last one. `None`: no address is left.
    pub fn next_candidate(&mut self) -> Option<DialCandidate> {
        let ConnectionStage::Dialling { server, rest, .. } = &mut self.stage else { return None };
        *server = None;
        self.watched[1] = None;
        let next = rest.pop();
        self.deadline = Some(Instant::now() + if rest.is_empty() { DIALLING } else { TRYING });
        next
    }

    /// Starts to wait for a server to accept.
    pub fn dial(&mut self, socket: TcpStream) -> ConnectionNeed {
        if let ConnectionStage::Dialling { server, .. } = &mut self.stage {
            *server = Some(socket);
        }
        ConnectionNeed::Event
    }

    /// Handles an event of a socket of this connection.
    pub fn on_event(&mut self, side: RelaySide, event: PollEvent, buffer: &mut [u8]) -> ConnectionNeed {
        match &mut self.stage {
            // A waiting client reports only a failure.
            ConnectionStage::Waiting(_) => ConnectionNeed::End,
            ConnectionStage::Dialling { .. } if side == RelaySide::Client => {
                self.reset();
                ConnectionNeed::End
            }
            ConnectionStage::Dialling { server, .. } => match server {
                Some(socket) if !event.failed && is_reached(socket) => self.open(buffer),
                _ => ConnectionNeed::Dial,
            },
            ConnectionStage::Open(relay) if event.failed && !matches!(relay.socket(side).take_error(), Ok(None)) => {
                self.reset();
                ConnectionNeed::End
            }
            ConnectionStage::Open(_) => self.go_on(buffer),
            ConnectionStage::ResolverQueries(_) => ConnectionNeed::Answers,
            ConnectionStage::Over => ConnectionNeed::End,
        }
    }

    /// Connects both sides.
    fn open(&mut self, buffer: &mut [u8]) -> ConnectionNeed {
        self.deadline = None;
        if let ConnectionStage::Dialling { client, server: Some(server), .. } =
            std::mem::replace(&mut self.stage, ConnectionStage::Over)
        {
            self.stage = ConnectionStage::Open(ConnectionRelay::new(
                client,
                server,
                self.dialled.clone().map(HandshakeInspector::new),
                std::mem::take(&mut self.secrets),
            ));
        }
        self.go_on(buffer)
    }

    fn go_on(&mut self, buffer: &mut [u8]) -> ConnectionNeed {
        let ConnectionStage::Open(relay) = &mut self.stage else { return ConnectionNeed::End };
        match relay.go_on(buffer) {
            Ok(()) => ConnectionNeed::Event,
            Err(RelayEnd::Closed) => ConnectionNeed::End,
            Err(RelayEnd::Refused(mismatch)) => ConnectionNeed::Refuse(mismatch),
            Err(RelayEnd::Tls) => ConnectionNeed::Broker,
            Err(RelayEnd::Leaked(name)) => ConnectionNeed::RefuseLeak(name),
            Err(RelayEnd::Reset) => {
                self.reset();
                ConnectionNeed::End
            }
        }
    }

    /// Returns the sockets of an open connection.
    pub fn into_sockets(self) -> Option<(TcpStream, TcpStream)> {
        match self.stage {
            ConnectionStage::Open(relay) => Some(relay.into_sockets()),
            _ => None,
        }
    }

    /// Handles the end of the waiting time.
    pub fn on_late(&mut self) -> ConnectionNeed {
        match &self.stage {
            ConnectionStage::Dialling { .. } => ConnectionNeed::Dial,
            _ => {
                self.reset();
                ConnectionNeed::End
            }
        }
    }

    /// Makes the end of the connection a reset for both sides.
    pub fn reset(&self) {
        for side in [RelaySide::Client, RelaySide::Server] {
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
        let dialled =
            DialCandidate::outside(SocketAddr::new(own.ip().into(), own.port())).dial(socket).expect("dialled");
        assert_eq!(dialled.local_addr().expect("one end"), dialled.peer_addr().expect("the other"));
        assert!(!is_reached(&dialled));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        let reached = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        assert!(is_reached(&reached));
    }
}
