//! The loopback of a world without namespaces: an address of 127/8 that no other world has.
//!
//! A server of the world that binds port 3000 of a loopback, or of every address, gets any port of that address, which
//! its listener asks for here. So ports collide neither with those of this machine nor with those of other worlds. A
//! client that connects to port 3000 of a loopback is led to that port. All other connections lead to the gate, which
//! has been told where to.
//!
//! A server's port is also held at the next address, without a server. Until it is given up, no program of this machine
//! can listen to it at every address, and so meet the clients of a server that has ended.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::socket::{SockaddrIn, bind, getsockname};
use serde::{Deserialize, Serialize};

/// The port of gates. The next one is tried if a program of the machine has it.
const ENTRY: u16 = 47_474;
/// The addresses and ports that are tried.
const TRIES: u16 = 64;
/// The servers after which those that have ended are given up.
const MANY: usize = 256;
/// The most servers, and connections on their way to the gate.
const MOST: usize = 4096;

/// The note on a machine that permits no filter of packets, as Linux 6.18 to ordinary users.
const OPEN: &str = "programs of this machine can reach the commands' servers, at other addresses and ports";
/// Bytes of the longest list of servers.
const LONGEST: u64 = 1 << 20;
/// The name of a file in the private directory of a world.
const SERVERS: &str = "servers";

/// Returns the servers of a world without namespaces: the address of each, and the address that it has asked for.
/// `home` is the directory of the world's private files. `None`: the world has a network of its own, or none of ours.
#[must_use]
pub fn servers_of(home: &Path) -> Option<Vec<(SocketAddr, SocketAddr)>> {
    let text = String::from_utf8(sys::read_regular(&home.join(SERVERS), LONGEST).ok()?).ok()?;
    let parse = |line: &str| {
        let (address, asked) = line.split_once(' ')?;
        Some((address.parse().ok()?, asked.parse().ok()?))
    };
    Some(text.lines().filter_map(parse).collect())
}

/// The families in which a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressFamilies {
    /// IPv4 alone.
    V4,
    /// IPv6 alone.
    V6,
    /// Both.
    Both,
}

impl AddressFamilies {
    /// Returns, for each family, whether it is IPv6.
    fn v6_flags(self) -> &'static [bool] {
        match self {
            Self::V4 => &[false],
            Self::V6 => &[true],
            Self::Both => &[false, true],
        }
    }
}

/// A server.
#[derive(Debug)]
struct LoopbackServer {
    /// The port at the address of the world.
    port: u16,
    /// The address and port that the server has asked for, or the port that it has got instead of 0.
    asked: SocketAddr,
    /// The port at the next address.
    _held: OwnedFd,
}

/// The loopback of a world.
#[derive(Debug)]
pub struct WorldLoopback {
    own: Ipv4Addr,
    /// Whether programs of this machine reach the servers, since a filter of packets is not permitted.
    is_open: bool,
    /// The file that names the servers, for the host.
    published: PathBuf,
    /// The listener for connections that lead elsewhere.
    pub(super) entry: TcpListener,
    port: u16,
    servers: Vec<LoopbackServer>,
    /// The servers at the ports of both families.
    ports: BTreeMap<(bool, u16), u16>,
    /// Where the connections from these ports lead.
    expected: HashMap<u16, SocketAddr>,
}

impl WorldLoopback {
    /// Takes an address for a world with private files in a directory.
    ///
    /// # Errors
    /// If no address can be had.
    pub fn claim(home: &Path) -> io::Result<Self> {
        let mut error = io::Error::from(io::ErrorKind::AddrInUse);
        for number in 0..TRIES {
            let own = any_address();
            match TcpListener::bind((own, ENTRY + number)) {
                Ok(entry) => {
                    let is_open = sys::accept_only_from(entry.as_fd(), own).is_err();
                    entry.set_nonblocking(true)?;
                    let (published, port) = (home.join(SERVERS), ENTRY + number);
                    let (servers, ports, expected) = (Vec::new(), BTreeMap::new(), HashMap::new());
                    let loopback = Self { own, is_open, published, entry, port, servers, ports, expected };
                    loopback.publish()?;
                    return Ok(loopback);
                }
                Err(other) => error = other,
            }
        }
        Err(error)
    }

    /// Returns the address.
    pub fn address(&self) -> Ipv4Addr {
        self.own
    }

    /// Returns a note on the programs of this machine that reach servers of the world, if they do.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        self.is_open.then(|| OPEN.to_owned())
    }

    /// Returns the descriptor that keeps the address.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.entry.as_fd()
    }

    /// Returns the port for a server that asks for an address, of the loopback or of all. The system finds out whether
    /// another server has it already.
    pub(super) fn add_server(&mut self, asked: SocketAddr, families: AddressFamilies) -> Result<u16, Errno> {
        let known = families.v6_flags().iter().find_map(|family| self.ports.get(&(*family, asked.port())).copied());
        let port = match known {
            Some(port) => port,
            None => self.hold_server_port(asked, families)?,
        };
        let name = if asked.port() == 0 { port } else { asked.port() };
        for family in families.v6_flags() {
            self.ports.insert((*family, name), port);
        }
        if let Some(server) = self.servers.iter_mut().find(|server| server.port == port) {
            server.asked = SocketAddr::new(asked.ip(), name);
        }
        // The host names the wrong ports if this fails.
        let _ = self.publish();
        Ok(port)
    }

    fn publish(&self) -> io::Result<()> {
        let line =
            |server: &LoopbackServer| format!("{} {}\n", SocketAddr::from((self.own, server.port)), server.asked);
        let next = self.published.with_extension("next");
        fs::write(&next, self.servers.iter().map(line).collect::<String>())?;
        fs::rename(next, &self.published)
    }

    /// Takes another port.
    fn hold_server_port(&mut self, asked: SocketAddr, families: AddressFamilies) -> Result<u16, Errno> {
        if self.servers.len() >= MANY {
            self.give_up();
        }
        if self.servers.len() >= MOST {
            return Err(Errno::EADDRINUSE);
        }
        for _ in 0..TRIES {
            let (port, held) = bind_port(holding_address(self.own), 0)?;
            let is_taken = families.v6_flags().iter().any(|family| self.ports.contains_key(&(*family, port)));
            if (asked.port() != 0 || !is_taken) && bind_port(self.own, port).is_ok() {
                self.servers.push(LoopbackServer { port, asked, _held: held });
                return Ok(port);
            }
        }
        Err(Errno::EADDRINUSE)
    }

    /// Forgets the servers that have ended.
    fn give_up(&mut self) {
        let own = self.own;
        self.servers.retain(|server| bind_port(own, server.port).is_err());
        let servers = &self.servers;
        self.ports.retain(|_, port| servers.iter().any(|server| server.port == *port));
    }

    /// Returns the servers at a port of the loopback.
    pub(super) fn servers_at_port(&self, port: u16) -> impl Iterator<Item = SocketAddr> {
        let own = self.own;
        [false, true]
            .into_iter()
            .filter_map(move |family| self.ports.get(&(family, port)))
            .map(move |port| (own, *port).into())
    }

    /// Returns the server that a loopback address means. `None`: the address is no loopback.
    pub(super) fn server_at(&self, to: SocketAddr) -> Option<Result<SocketAddr, Errno>> {
        let ip = to.ip().to_canonical();
        if !ip.is_loopback() && !ip.is_unspecified() {
            return None;
        }
        // Where a program sees the port that its server really has, it may ask for that one.
        let real = || self.servers.iter().map(|server| &server.port).find(|port| **port == to.port());
        let port = self.ports.get(&(ip.is_ipv6(), to.port())).or_else(real);
        Some(port.map(|port| (self.own, *port).into()).ok_or(Errno::ECONNREFUSED))
    }

    /// Expects a connection from a port, which leads to an address. Returns the address of the gate.
    pub(super) fn expect_connection(&mut self, from: u16, to: SocketAddr) -> SocketAddr {
        if self.expected.len() >= MOST {
            self.expected.clear();
        }
        self.expected.insert(from, to);
        (self.own, self.port).into()
    }

    /// Returns where a connection from an address leads.
    pub(super) fn take_expected(&mut self, from: SocketAddr) -> Option<SocketAddr> {
        self.expected.remove(&from.port())
    }

    /// Returns the address that a server at a port has asked for, or the loopback.
    pub(super) fn name(&self, port: u16) -> SocketAddr {
        let server = self.servers.iter().find(|server| server.port == port);
        server.map_or_else(|| (Ipv4Addr::LOCALHOST, port).into(), |server| server.asked)
    }

    /// Returns whether a port is that of the gate.
    pub(super) fn is_gate(&self, port: u16) -> bool {
        port == self.port
    }

    /// Makes a socket that comes from the world.
    pub(super) fn outgoing_socket(&self) -> io::Result<OwnedFd> {
        let socket = sys::stream_socket(false)?;
        bind(socket.as_raw_fd(), &sockaddr(self.own, 0))?;
        Ok(socket)
    }
}

/// Returns an address of 127/8 that is not likely to be another world's, and whose next one is of no world. Its first
/// part keeps clear of the addresses that machines use.
fn any_address() -> Ipv4Addr {
    let [a, b, c, ..] = RandomState::new().hash_one(ENTRY).to_ne_bytes();
    Ipv4Addr::new(127, 64 | a, b, (c & 0xfc) | 1)
}

/// Returns the address at which the ports of servers are held.
fn holding_address(own: Ipv4Addr) -> Ipv4Addr {
    Ipv4Addr::from_bits(own.to_bits() + 1)
}

fn sockaddr(ip: Ipv4Addr, port: u16) -> SockaddrIn {
    let [a, b, c, d] = ip.octets();
    SockaddrIn::new(a, b, c, d, port)
}

/// Binds a socket to a port. Fails if another socket has the port.
fn bind_port(ip: Ipv4Addr, port: u16) -> Result<(u16, OwnedFd), Errno> {
    let socket = sys::stream_socket(false).map_err(|_| Errno::EMFILE)?;
    bind(socket.as_raw_fd(), &sockaddr(ip, port))?;
    let bound: SockaddrIn = getsockname(socket.as_raw_fd())?;
    Ok((bound.port(), socket))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn claimed() -> (tempfile::TempDir, WorldLoopback) {
        let home = tempfile::tempdir().expect("a directory");
        let loopback = WorldLoopback::claim(home.path()).expect("an address");
        (home, loopback)
    }

    fn at(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    /// Listens as a server of the world does once it knows its port.
    fn listen(loopback: &WorldLoopback, port: u16) -> TcpListener {
        TcpListener::bind((loopback.own, port)).expect("a server")
    }

    #[test]
    fn a_server_is_found_at_the_port_that_it_has_asked_for() {
        let (home, mut loopback) = claimed();
        let asked = at("127.0.0.1:3000");
        let port = loopback.add_server(asked, AddressFamilies::V4).expect("a port");
        let own = SocketAddr::from((loopback.own, port));
        let _server = listen(&loopback, port);
        for (to, server) in [
            ("127.0.0.1:3000", Some(Ok(own))),
            ("127.9.9.9:3000", Some(Ok(own))),
            ("0.0.0.0:3000", Some(Ok(own))),
            ("[::ffff:127.0.0.1]:3000", Some(Ok(own))),
            ("[::1]:3000", Some(Err(Errno::ECONNREFUSED))),
            ("127.0.0.1:3001", Some(Err(Errno::ECONNREFUSED))),
            ("192.0.2.1:3000", None),
        ] {
            assert_eq!(loopback.server_at(at(to)), server, "{to}");
        }
        assert_eq!(loopback.server_at((loopback.own, port).into()), Some(Ok(own)), "the port that it really has");
        assert_eq!(
            loopback.server_at((loopback.own, loopback.port).into()),
            Some(Err(Errno::ECONNREFUSED)),
            "the gate"
        );
        assert_eq!((loopback.name(port), loopback.name(1)), (asked, at("127.0.0.1:1")));
        assert_eq!(servers_of(home.path()), Some(vec![(own, asked)]));
        assert_eq!(servers_of(&home.path().join("none")), None);
    }

    #[test]
    fn families_share_a_port_or_do_not() {
        let (_home, mut loopback) = claimed();
        let four = loopback.add_server(at("0.0.0.0:80"), AddressFamilies::V4).expect("a port");
        let six = loopback.add_server(at("[::]:80"), AddressFamilies::V6).expect("a port");
        assert_ne!(four, six);
        assert_eq!(loopback.servers_at_port(80).map(|server| server.port()).collect::<Vec<_>>(), [four, six]);
        let both = loopback.add_server(at("[::]:81"), AddressFamilies::Both).expect("a port");
        let reached = ["127.0.0.1:81", "[::1]:81"].map(|to| loopback.server_at(at(to)));
        assert_eq!(reached, [Some(Ok((loopback.own, both).into())); 2]);
        // The system then finds that the port is taken, or that both servers share it.
        assert_eq!(loopback.add_server(at("127.0.0.1:80"), AddressFamilies::V4), Ok(four));
        let any = loopback.add_server(at("127.0.0.1:0"), AddressFamilies::V4).expect("a port");
        assert_eq!(loopback.server_at((Ipv4Addr::LOCALHOST, any).into()), Some(Ok((loopback.own, any).into())));
    }

    #[test]
    fn nobody_else_gets_the_port_of_a_server_that_has_ended() {
        let (_home, mut loopback) = claimed();
        let port = loopback.add_server(at("127.0.0.1:3000"), AddressFamilies::V4).expect("a port");
        drop(listen(&loopback, port));
        // With SO_REUSEADDR, as most servers have it.
        let error = TcpListener::bind(("0.0.0.0", port)).expect_err("held");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        let _again = listen(&loopback, port);
        for number in 0..MANY as u16 {
            loopback.add_server(at(&format!("127.0.0.1:{}", 10_000 + number)), AddressFamilies::V4).expect("a port");
        }
        // Only the living server is left of those before.
        assert!(loopback.servers.len() <= 2, "{}", loopback.servers.len());
        assert_eq!(loopback.servers_at_port(3000).count(), 1);
        assert_eq!(loopback.servers_at_port(10_000).count(), 0);
    }

    #[test]
    fn other_programs_are_not_heard_where_that_is_permitted() {
        let (_home, loopback) = claimed();
        assert_eq!(loopback.is_open, loopback.note().is_some());
        assert!(!loopback.is_open || !nix::unistd::geteuid().is_root());
        let entry = SocketAddr::from((loopback.own, loopback.port));
        let patience = std::time::Duration::from_millis(200);
        let other = std::net::TcpStream::connect_timeout(&entry, patience);
        assert_eq!(other.is_ok(), loopback.is_open, "{other:?}");
        let own = std::net::TcpStream::from(loopback.outgoing_socket().expect("a socket"));
        own.set_nonblocking(false).expect("it waits");
        nix::sys::socket::connect(own.as_raw_fd(), &sockaddr(loopback.own, loopback.port)).expect("heard");
    }

    #[test]
    fn a_connection_is_expected_once() {
        let (_home, mut loopback) = claimed();
        let (to, from) = (at("192.0.2.1:443"), SocketAddr::from((loopback.own, 5)));
        assert_eq!(loopback.expect_connection(5, to), (loopback.own, loopback.port).into());
        assert_eq!((loopback.take_expected(from), loopback.take_expected(from)), (Some(to), None));
        assert!(loopback.is_gate(loopback.port) && !loopback.is_gate(5));
        let (_other, other) = claimed();
        assert_ne!(loopback.own, other.own);
    }
}
