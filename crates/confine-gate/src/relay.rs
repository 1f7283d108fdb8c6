//! Bytes between a program in a world and its server.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;

use nix::sys::socket::{setsockopt, sockopt};

use confine_broker::{StandInSearch, ValueSearch};
use sys::PollInterest;

use super::handshake::{ForwardingDecision, HandshakeInspector, HandshakeMismatch};

/// The first byte of a handshake of TLS (RFC 8446, 5.1).
const TLS_HANDSHAKE: u8 = 22;

/// Reads of one direction in a row, after which other connections get their turn.
const TURNS: usize = 8;

/// Why a connection ends.
#[derive(Debug)]
pub(super) enum RelayEnd {
    /// Both sides have closed the connection.
    Closed,
    /// A side has reset the connection, or cannot be reached.
    Reset,
    /// The handshake names another host.
    Refused(HandshakeMismatch),
    /// The connection begins with TLS, and is one to open.
    Tls,
    /// The bytes of the program hold the stand-in of this secret, or those of the host its value.
    Leaked(String),
}

impl From<io::Error> for RelayEnd {
    fn from(_: io::Error) -> Self {
        Self::Reset
    }
}

impl From<HandshakeMismatch> for RelayEnd {
    fn from(mismatch: HandshakeMismatch) -> Self {
        Self::Refused(mismatch)
    }
}

/// A side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelaySide {
    /// The program.
    Client,
    /// The server.
    Server,
}

/// A direction of a connection. It holds the bytes of one read that the receiver has not taken yet.
#[derive(Debug, Default)]
struct RelayDirection {
    pending: Vec<u8>,
    taken: usize,
    /// The sender has closed its side.
    ended: bool,
    /// The close was passed on.
    closed: bool,
}

impl RelayDirection {
    /// Passes bytes on, and keeps the rest until the receiver takes it.
    fn pass(&mut self, bytes: &[u8], to: &TcpStream) -> io::Result<()> {
        let passed = if self.is_clear() { write(to, bytes)? } else { 0 };
        self.pending.extend_from_slice(&bytes[passed..]);
        Ok(())
    }

    /// Passes kept bytes on. Returns whether none are left.
    fn flush(&mut self, to: &TcpStream) -> io::Result<bool> {
        self.taken += write(to, &self.pending[self.taken..])?;
        let clear = self.taken == self.pending.len();
        if clear {
            (self.pending, self.taken) = (Vec::new(), 0);
        }
        Ok(clear)
    }

    fn is_clear(&self) -> bool {
        self.pending.is_empty()
    }
}

/// Writes as many bytes as the receiver takes now.
fn write(mut to: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match to.write(&bytes[written..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

/// A connection whose server was reached.
#[derive(Debug)]
pub(super) struct ConnectionRelay {
    client: TcpStream,
    server: TcpStream,
    up: RelayDirection,
    down: RelayDirection,
    inspector: Option<HandshakeInspector>,
    secrets: SecretGuard,
}

/// What a relay does for secrets.
#[derive(Debug, Default)]
pub(super) struct SecretGuard {
    /// Whether the connection is opened if it begins with TLS.
    pub opens: bool,
    /// Looks for stand-ins in bytes that are not those of TLS.
    pub search: Option<Box<StandInSearch>>,
    /// Looks for values in what a host of a secret answers.
    pub values: Option<Box<ValueSearch>>,
    /// Whether the first byte is known.
    pub begun: bool,
}

impl SecretGuard {
    /// Reads the first byte of a client without taking it. Returns whether there is one, or an end.
    fn begin(&mut self, client: &TcpStream) -> Result<bool, RelayEnd> {
        if self.begun || (!self.opens && self.search.is_none()) {
            return Ok(true);
        }
        let mut first = [0];
        match client.peek(&mut first) {
            Ok(0) => {}
            Ok(_) if first[0] == TLS_HANDSHAKE && self.opens => return Err(RelayEnd::Tls),
            Ok(_) if first[0] == TLS_HANDSHAKE => self.search = None,
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        self.begun = true;
        Ok(true)
    }

    /// Looks for a value in the next bytes of the server.
    fn check_answer(&mut self, bytes: &[u8]) -> Result<(), RelayEnd> {
        match self.values.as_mut().and_then(|values| values.find(bytes)) {
            Some(name) => Err(RelayEnd::Leaked(name)),
            None => Ok(()),
        }
    }

    /// Looks for a stand-in in the next bytes of the client.
    fn check(&mut self, bytes: &[u8]) -> Result<(), RelayEnd> {
        match self.search.as_mut().and_then(|search| search.find(bytes)) {
            Some(name) => Err(RelayEnd::Leaked(name)),
            None => Ok(()),
        }
    }
}

impl ConnectionRelay {
    /// Connects both sides. Without an inspector, the client's bytes are not read.
    pub fn new(
        client: TcpStream,
        server: TcpStream,
        inspector: Option<HandshakeInspector>,
        secrets: SecretGuard,
    ) -> Self {
        for side in [&client, &server] {
            let _ = side.set_nodelay(true);
        }
        Self { client, server, up: RelayDirection::default(), down: RelayDirection::default(), inspector, secrets }
    }

    /// Returns the sockets of the client and of the server.
    pub fn into_sockets(self) -> (TcpStream, TcpStream) {
        (self.client, self.server)
    }

    /// Returns the socket of a side.
    pub fn socket(&self, side: RelaySide) -> &TcpStream {
        match side {
            RelaySide::Client => &self.client,
            RelaySide::Server => &self.server,
        }
    }

    /// Returns the number of kept bytes. Bytes are kept if a receiver is slow, or the client's bytes do not suffice for
    /// a decision.
    pub fn kept_bytes(&self) -> usize {
        self.up.pending.len()
            + self.down.pending.len()
            + self.inspector.as_ref().map_or(0, HandshakeInspector::kept_bytes)
    }

    /// Returns the events to report about a side. `None`: no events, not even the close, which would be reported all
    /// the time.
    pub fn interest(&self, side: RelaySide) -> Option<PollInterest> {
        let (from, to) = match side {
            RelaySide::Client => (&self.up, &self.down),
            RelaySide::Server => (&self.down, &self.up),
        };
        let interest = PollInterest { readable: !from.ended && from.is_clear(), writable: !to.is_clear() };
        (interest != PollInterest::NONE || !to.closed).then_some(interest)
    }

    /// Moves all bytes that can be moved now, with reads into `buffer`.
    pub fn go_on(&mut self, buffer: &mut [u8]) -> Result<(), RelayEnd> {
        self.go_up(buffer)?;
        self.go_down(buffer)?;
        if self.up.closed && self.down.closed { Err(RelayEnd::Closed) } else { Ok(()) }
    }

    fn go_up(&mut self, buffer: &mut [u8]) -> Result<(), RelayEnd> {
        let Self { client, server, up, inspector, secrets, .. } = self;
        if !secrets.begin(client)? {
            return Ok(());
        }
        for _ in 0..TURNS {
            let Some(bytes) = next(up, client, server, buffer)? else { return Ok(()) };
            secrets.check(bytes)?;
            match inspector.as_mut().map_or(Ok(ForwardingDecision::Pass), |inspector| inspector.feed(bytes))? {
                ForwardingDecision::Pass => up.pass(bytes, server)?,
                ForwardingDecision::ReplaceWith(bytes) => up.pass(&bytes, server)?,
            }
        }
        Ok(())
    }

    fn go_down(&mut self, buffer: &mut [u8]) -> Result<(), RelayEnd> {
        let Self { client, server, up, down, inspector, secrets } = self;
        for _ in 0..TURNS {
            let Some(bytes) = next(down, server, client, buffer)? else { return Ok(()) };
            secrets.check_answer(bytes)?;
            if let Some(inspector) = inspector {
                let released = inspector.on_served(bytes)?;
                up.pass(&released, server)?;
            }
            down.pass(bytes, client)?;
        }
        Ok(())
    }
}

/// Lets the close of a socket reset its connection.
pub(super) fn reset(socket: &impl AsFd) {
    let _ = setsockopt(&socket.as_fd(), sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 });
}

/// Passes kept bytes on, and then reads. `None`: nothing more can be done now.
fn next<'a>(
    direction: &mut RelayDirection,
    mut from: &TcpStream,
    to: &TcpStream,
    buffer: &'a mut [u8],
) -> io::Result<Option<&'a [u8]>> {
    loop {
        if !direction.flush(to)? {
            return Ok(None);
        }
        if direction.ended {
            if !direction.closed {
                // A receiver that is gone already shows this by its own end.
                let _ = to.shutdown(Shutdown::Write);
                direction.closed = true;
            }
            return Ok(None);
        }
        match from.read(buffer) {
            Ok(0) => direction.ended = true,
            Ok(count) => return Ok(Some(&buffer[..count])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}
