//! Frames on a stream socket: a length, a protocol, an encoded message, and the descriptors that travel with its first
//! byte.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Length of the header: length of the body and protocol (4 bytes each, little endian), number of descriptors.
const HEADER: usize = 9;
/// The largest body: a command, its arguments and its environment, which the kernel limits to a few MiB.
const MAX_BODY: usize = 32 * 1024 * 1024;

/// A message of a protocol. This trait and [`DecodeFrame`] are the only places that encode and decode.
pub trait ProtocolMessage: Serialize + DeserializeOwned {
    /// The protocol of the message. A message of another protocol is refused instead of misunderstood.
    const PROTOCOL: u32;

    /// Takes the descriptors that travel with the message, in the order in which [`ProtocolMessage::attach`] expects
    /// them.
    fn take_descriptors(&mut self) -> Vec<OwnedFd> {
        Vec::new()
    }

    /// Puts the received descriptors in their places.
    fn attach(&mut self, descriptors: Vec<OwnedFd>) {
        drop(descriptors);
    }
}

/// A message, or a message of several protocols, as received from a frame.
pub trait DecodeFrame: Sized {
    /// Decodes a frame. `None` if it is damaged, or of another protocol.
    fn decode(frame: MessageFrame) -> Option<Self>;
}

impl<M: ProtocolMessage> DecodeFrame for M {
    fn decode(frame: MessageFrame) -> Option<Self> {
        let MessageFrame { protocol, body, descriptors } = frame;
        let mut message: M = (protocol == M::PROTOCOL).then(|| postcard::from_bytes(&body).ok())??;
        message.attach(descriptors);
        Some(message)
    }
}

/// A frame that is not decoded yet.
#[derive(Debug)]
pub struct MessageFrame {
    /// The protocol of the message in the frame.
    pub protocol: u32,
    body: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

/// Encodes a message into the bytes of a frame. Returns the descriptors that travel with the first byte.
pub fn encode<M: ProtocolMessage>(mut message: M) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let descriptors = message.take_descriptors();
    let invalid = |_| io::Error::from(io::ErrorKind::InvalidData);
    let mut bytes = Vec::with_capacity(512);
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&M::PROTOCOL.to_le_bytes());
    bytes.push(u8::try_from(descriptors.len()).unwrap_or(u8::MAX));
    let mut bytes = postcard::to_extend(&message, bytes).map_err(invalid)?;
    let length = u32::try_from(bytes.len() - HEADER).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok((bytes, descriptors))
}

/// Sends a message, and waits until the socket has room for it.
pub fn send<M: ProtocolMessage>(socket: &impl AsFd, message: M) -> io::Result<()> {
    let (bytes, descriptors) = encode(message)?;
    send_all(socket, &bytes, &raw_descriptors(&descriptors), PollTimeout::NONE)
}

/// Sends a message, and gives up on a peer that reads nothing for this long.
pub fn send_within<M: ProtocolMessage>(socket: &impl AsFd, message: M, patience: Duration) -> io::Result<()> {
    let (bytes, descriptors) = encode(message)?;
    send_all(
        socket,
        &bytes,
        &raw_descriptors(&descriptors),
        PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX),
    )
}

fn send_all(socket: &impl AsFd, bytes: &[u8], descriptors: &[RawFd], patience: PollTimeout) -> io::Result<()> {
    let mut sent = 0;
    while sent < bytes.len() {
        let descriptors = if sent == 0 { descriptors } else { &[] };
        // This call does not block. `wait_writable` does, for as long as the caller allows.
        match sys::send(socket.as_fd(), &bytes[sent..], descriptors) {
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

/// Returns the raw numbers of owned descriptors, for sending.
pub fn raw_descriptors(descriptors: &[OwnedFd]) -> Vec<RawFd> {
    descriptors.iter().map(AsRawFd::as_raw_fd).collect()
}

/// Assembles frames from the bytes that a socket delivers, in pieces of any size.
#[derive(Default)]
pub struct FrameReader {
    bytes: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

/// The result of one attempt to receive.
#[derive(Debug)]
pub enum ReceiveOutcome<T> {
    /// A whole message.
    Message(T),
    /// No whole message yet.
    Pending,
    /// The peer has closed its end.
    Closed,
}

impl FrameReader {
    /// Returns whether a whole frame was received already: the socket does not become readable for it again.
    pub fn has_frame(&self) -> bool {
        self.bytes
            .first_chunk::<4>()
            .is_some_and(|length| self.bytes.len() >= HEADER + u32::from_le_bytes(*length) as usize)
    }

    /// Takes the next whole frame from the bytes received already.
    fn take_frame(&mut self) -> io::Result<Option<MessageFrame>> {
        let Some(header) = self.bytes.first_chunk::<HEADER>() else { return Ok(None) };
        let [a, b, c, d, e, f, g, h, count] = *header;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if length > MAX_BODY {
            return Err(foreign_version());
        }
        if self.bytes.len() < HEADER + length {
            return Ok(None);
        }
        let body = self.bytes[HEADER..HEADER + length].to_vec();
        self.bytes.drain(..HEADER + length);
        let descriptors = self.descriptors.drain(..usize::from(count).min(self.descriptors.len())).collect();
        Ok(Some(MessageFrame { protocol: u32::from_le_bytes([e, f, g, h]), body, descriptors }))
    }

    /// Receives the next message without waiting. A frame that cannot be decoded is an error.
    pub fn receive<T: DecodeFrame>(&mut self, socket: &impl AsFd) -> io::Result<ReceiveOutcome<T>> {
        if let Some(frame) = self.take_frame()? {
            return T::decode(frame).map(ReceiveOutcome::Message).ok_or_else(foreign_version);
        }
        let mut buffer = [0_u8; 16 * 1024];
        loop {
            match sys::receive(socket.as_fd(), &mut buffer, &mut self.descriptors) {
                Ok(0) => return Ok(ReceiveOutcome::Closed),
                Ok(count) => {
                    self.bytes.extend_from_slice(&buffer[..count]);
                    if let Some(frame) = self.take_frame()? {
                        return T::decode(frame).map(ReceiveOutcome::Message).ok_or_else(foreign_version);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(ReceiveOutcome::Pending),
                Err(error) => return Err(error),
            }
        }
    }
}

fn foreign_version() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a helper process of another version answered")
}
