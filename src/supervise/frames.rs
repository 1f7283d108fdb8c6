//! Frames on a stream socket: a length, a kind, a body, and descriptors that come with the first byte.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::sys;

/// Length (4 bytes, little endian, of the body), version, kind, number of descriptors, nothing.
const HEADER: usize = 8;
/// Spoken by both sides; a supervisor of another release is refused instead of misunderstood.
pub const VERSION: u8 = 1;
/// The largest body: a command, its arguments and its environment, which the kernel limits to a few MiB.
pub const MAX_BODY: usize = 32 * 1024 * 1024;

/// One message.
#[derive(Debug)]
pub struct Frame {
    /// What it means, see `protocol`.
    pub kind: u8,
    /// Its contents.
    pub body: Vec<u8>,
    /// The descriptors that came with it.
    pub fds: Vec<OwnedFd>,
}

/// The bytes of a frame.
pub fn encode(kind: u8, body: &[u8], fds: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&[VERSION, kind, u8::try_from(fds).unwrap_or(u8::MAX), 0]);
    bytes.extend_from_slice(body);
    bytes
}

/// Sends a frame, waiting for room where need be.
pub fn send(socket: &impl AsFd, kind: u8, body: &[u8], fds: &[RawFd]) -> io::Result<()> {
    send_all(socket, &encode(kind, body, fds.len()), fds, PollTimeout::NONE)
}

/// The same, but gives up on a peer that takes nothing for this long.
pub fn send_within(socket: &impl AsFd, kind: u8, body: &[u8], patience: Duration) -> io::Result<()> {
    let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
    send_all(socket, &encode(kind, body, 0), &[], patience)
}

fn send_all(socket: &impl AsFd, bytes: &[u8], fds: &[RawFd], patience: PollTimeout) -> io::Result<()> {
    let mut sent = 0;
    while sent < bytes.len() {
        let fds = if sent == 0 { fds } else { &[] };
        // Never blocking here: whoever waits does so below, for as long as it wants.
        match sys::send(socket.as_fd(), &bytes[sent..], fds) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_writable(socket, patience)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wait_writable(socket: &impl AsFd, patience: PollTimeout) -> io::Result<()> {
    match poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)], patience) {
        Ok(0) => Err(io::ErrorKind::TimedOut.into()),
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Puts frames together from what a socket delivers, in whatever pieces.
#[derive(Default)]
pub struct Reader {
    bytes: Vec<u8>,
    fds: Vec<OwnedFd>,
}

/// What came of reading.
pub enum Read {
    /// A whole frame.
    Frame(Frame),
    /// Not a whole one yet.
    Pending,
    /// The peer is gone.
    Closed,
}

impl Reader {
    /// Whether a whole frame was received already: the socket will not become readable for it again.
    pub fn has_frame(&self) -> bool {
        self.bytes
            .first_chunk::<4>()
            .is_some_and(|length| self.bytes.len() >= HEADER + u32::from_le_bytes(*length) as usize)
    }

    /// The next whole frame among what was received already.
    fn take(&mut self) -> io::Result<Option<Frame>> {
        let Some(header) = self.bytes.first_chunk::<HEADER>() else { return Ok(None) };
        let [a, b, c, d, version, kind, fds, _] = *header;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if version != VERSION || length > MAX_BODY {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a helper process of another version answered"));
        }
        if self.bytes.len() < HEADER + length {
            return Ok(None);
        }
        let body = self.bytes[HEADER..HEADER + length].to_vec();
        self.bytes.drain(..HEADER + length);
        let fds = self.fds.drain(..usize::from(fds).min(self.fds.len())).collect();
        Ok(Some(Frame { kind, body, fds }))
    }

    /// Reads once without waiting.
    pub fn read(&mut self, socket: &impl AsFd) -> io::Result<Read> {
        if let Some(frame) = self.take()? {
            return Ok(Read::Frame(frame));
        }
        let mut buffer = [0_u8; 16 * 1024];
        loop {
            match sys::receive(socket.as_fd(), &mut buffer, &mut self.fds) {
                Ok(0) => return Ok(Read::Closed),
                Ok(count) => {
                    self.bytes.extend_from_slice(&buffer[..count]);
                    if let Some(frame) = self.take()? {
                        return Ok(Read::Frame(frame));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Read::Pending),
                Err(error) => return Err(error),
            }
        }
    }
}

/// The raw numbers of owned descriptors, for sending.
pub fn raw(fds: &[OwnedFd]) -> Vec<RawFd> {
    fds.iter().map(AsRawFd::as_raw_fd).collect()
}

/// Writes the body of a frame.
#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// A number.
    pub fn number(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Bytes of any length.
    pub fn bytes(mut self, value: &[u8]) -> Self {
        self = self.number(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// The finished body.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads the body of a frame in the order in which it was written.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// A number; `None` at the end of the body.
    pub fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    /// Bytes; `None` at the end of the body.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }
}
