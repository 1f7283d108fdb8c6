//! The sockets of a gate in other network namespaces. A short-lived child enters the namespace and opens them, because
//! the gate itself stays in the host's namespace.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpListener, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{Backlog, SockaddrIn, SockaddrIn6, bind, listen, setsockopt, sockopt};

use sys::{ForkOutcome, MAX_FDS};

use super::link::{DNS_PORT, GATE_V4, GATE_V6};

/// The sockets of the gate at its end of the link.
#[derive(Debug, Default)]
pub(super) struct LinkSockets {
    /// Listeners at every address, with their ports. They accept connections to any address.
    pub listeners: Vec<(u16, OwnedFd)>,
    /// The resolver.
    pub resolvers: Vec<UdpSocket>,
    /// Copies of packets that open connections. `None`: such packets may not be seen here, and refusals of the kernel
    /// are not recorded.
    pub openings: Option<OwnedFd>,
}

impl LinkSockets {
    /// Opens the sockets in the network namespace of this thread.
    pub fn open(ports: &BTreeSet<u16>) -> io::Result<Self> {
        let with_dns: BTreeSet<u16> = ports.iter().copied().chain([DNS_PORT]).collect();
        let listeners =
            with_dns.into_iter().map(|port| Ok((port, listen_everywhere(port)?))).collect::<io::Result<_>>()?;
        let v4 = UdpSocket::bind(SocketAddr::from((IpAddr::from(GATE_V4), DNS_PORT)))?;
        // The machine may have no IPv6.
        let v6 = UdpSocket::bind(SocketAddr::from((IpAddr::from(GATE_V6), DNS_PORT))).ok();
        Ok(Self { listeners, resolvers: [v4].into_iter().chain(v6).collect(), openings: sys::opening_packets().ok() })
    }

    /// Opens only a resolver, in this thread's network namespace: the world itself, which no packet leaves.
    pub fn open_resolver() -> io::Result<Self> {
        sys::NetworkSettings::open()?.add_address(sys::LOOPBACK, GATE_V4.into(), 32)?;
        let resolver = UdpSocket::bind((GATE_V4, DNS_PORT))?;
        let listener = TcpListener::bind((GATE_V4, DNS_PORT))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listeners: vec![(DNS_PORT, listener.into())], resolvers: vec![resolver], openings: None })
    }

    /// Opens sockets in another network namespace, through a child. This process has one thread.
    pub fn open_in(namespaces: &[BorrowedFd<'_>], open: impl FnOnce() -> io::Result<Self>) -> io::Result<Self> {
        let (ours, theirs) = sys::packet_pair()?;
        let ForkOutcome::Parent(child) = sys::fork()? else {
            drop(ours);
            let sent =
                enter_namespaces(namespaces).and_then(|()| open()).and_then(|sockets| sockets.send(theirs.as_fd()));
            let errno = sent.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
            let _ = sys::send(theirs.as_fd(), &errno.to_ne_bytes(), &[]);
            sys::exit_now(0);
        };
        drop(theirs);
        let received = Self::receive(ours.as_fd());
        // The child exits right after its last message.
        let _ = nix::sys::wait::waitpid(child, None);
        received
    }

    fn send(&self, to: BorrowedFd<'_>) -> io::Result<()> {
        let listeners = self.listeners.iter().map(|(port, fd)| (LinkSocketKind::Listener(*port), fd.as_raw_fd()));
        let resolvers = self.resolvers.iter().map(|socket| (LinkSocketKind::Resolver, socket.as_raw_fd()));
        let openings = self.openings.iter().map(|fd| (LinkSocketKind::Openings, fd.as_raw_fd()));
        let all: Vec<(LinkSocketKind, RawFd)> = listeners.chain(resolvers).chain(openings).collect();
        for some in all.chunks(MAX_FDS) {
            let kinds: Vec<u8> = some.iter().flat_map(|(kind, _)| kind.encode()).collect();
            let fds: Vec<RawFd> = some.iter().map(|(_, fd)| *fd).collect();
            wait_for(to, PollFlags::POLLOUT)?;
            sys::send(to, &kinds, &fds)?;
        }
        Ok(())
    }

    fn receive(from: BorrowedFd<'_>) -> io::Result<Self> {
        let mut sockets = Self::default();
        loop {
            wait_for(from, PollFlags::POLLIN)?;
            let (mut buffer, mut fds) = ([0; 3 * MAX_FDS], Vec::new());
            let length = sys::receive(from, &mut buffer, &mut fds)?;
            if fds.is_empty() {
                let errno = buffer.first_chunk().map_or(libc::EIO, |bytes| i32::from_ne_bytes(*bytes));
                return match errno {
                    0 if length == 4 => Ok(sockets),
                    0 => Err(io::ErrorKind::UnexpectedEof.into()),
                    errno => Err(io::Error::from_raw_os_error(errno)),
                };
            }
            for (kind, fd) in buffer[..length].chunks_exact(3).zip(fds) {
                match LinkSocketKind::decode(kind) {
                    LinkSocketKind::Listener(port) => sockets.listeners.push((port, fd)),
                    LinkSocketKind::Resolver => sockets.resolvers.push(fd.into()),
                    LinkSocketKind::Openings => sockets.openings = Some(fd),
                }
            }
        }
    }
}

/// The kind of a descriptor in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkSocketKind {
    Listener(u16),
    Resolver,
    Openings,
}

impl LinkSocketKind {
    fn encode(self) -> [u8; 3] {
        let (kind, [high, low]) = match self {
            Self::Listener(port) => (0, port.to_be_bytes()),
            Self::Resolver => (1, [0, 0]),
            Self::Openings => (2, [0, 0]),
        };
        [kind, high, low]
    }

    fn decode(bytes: &[u8]) -> Self {
        match bytes {
            [0, high, low] => Self::Listener(u16::from_be_bytes([*high, *low])),
            [1, ..] => Self::Resolver,
            _ => Self::Openings,
        }
    }
}

/// Moves this thread into namespaces, the user namespace first.
pub(super) fn enter_namespaces(namespaces: &[BorrowedFd<'_>]) -> io::Result<()> {
    namespaces.iter().try_for_each(|namespace| sys::enter_namespace(*namespace))
}

/// Waits until a socket is ready.
pub(super) fn wait_for(socket: BorrowedFd<'_>, what: PollFlags) -> io::Result<()> {
    loop {
        match poll(&mut [PollFd::new(socket, what)], PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            other => return Ok(other.map(|_| ())?),
        }
    }
}

/// Listens at a port of every address, in both families where the machine has both.
fn listen_everywhere(port: u16) -> io::Result<OwnedFd> {
    let listener = match sys::stream_socket(true) {
        Ok(v6) => {
            setsockopt(&v6, sockopt::Ipv6V6Only, &false)?;
            setsockopt(&v6, sockopt::ReuseAddr, &true)?;
            bind(v6.as_raw_fd(), &SockaddrIn6::from(SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, port, 0, 0)))?;
            v6
        }
        Err(_) => {
            let v4 = sys::stream_socket(false)?;
            setsockopt(&v4, sockopt::ReuseAddr, &true)?;
            bind(v4.as_raw_fd(), &SockaddrIn::new(0, 0, 0, 0, port))?;
            v4
        }
    };
    listen(&listener, Backlog::MAXCONN)?;
    Ok(listener)
}
