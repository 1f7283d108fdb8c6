//! One connection to the other side: an end to read and an end to write.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, timeout, timeout_at};

use crate::link_mailbox::LinkMailbox;
use crate::messages::{decode, encode};
use wire::{FrameKind, MAX_PAYLOAD, MailboxMessage, WireError, WireFrame, WireFrameReader};

/// Bytes of one read.
const READ: usize = 64 * 1024;
/// Longest greeting, bytes: it has the login environment, and systems bound what a program is started with.
const MAX_GREETING: usize = 8 * 1024 * 1024;

/// A connection that carries frames.
#[derive(Debug)]
pub struct FrameLink {
    input: AsyncFd<OwnedFd>,
    output: AsyncFd<OwnedFd>,
    frames: WireFrameReader,
    /// Frames that were taken from the mailbox and not written.
    unsent: Vec<u8>,
}

/// Why a link carries nothing more.
#[derive(Debug)]
pub enum LinkEnd {
    /// The other side is gone for good.
    Goodbye,
    /// The connection ended, or nothing came for too long.
    Lost(io::Error),
    /// The other side is none of ours.
    Broken(LinkError),
}

/// What the other side did that no program of ours does.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A frame cannot be taken.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A message has no meaning.
    #[error("a message that this version does not know")]
    Message(#[from] postcard::Error),
    /// A message is about a run that the other side cannot know, or comes at the wrong time.
    #[error("{0}")]
    Unexpected(&'static str),
}

impl<E: Into<LinkError>> From<E> for LinkEnd {
    fn from(error: E) -> Self {
        Self::Broken(error.into())
    }
}

impl FrameLink {
    /// Takes both ends of a connection.
    ///
    /// # Errors
    /// If an end is a file, which cannot be waited for.
    pub fn new(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        sys::set_nonblocking(&input)?;
        sys::set_nonblocking(&output)?;
        let (input, output) = (sys::watch(input, Interest::READABLE)?, sys::watch(output, Interest::WRITABLE)?);
        Ok(Self { input, output, frames: WireFrameReader::default(), unsent: Vec::new() })
    }

    /// Sends a greeting, in as many frames as it needs.
    ///
    /// # Errors
    /// If the connection ended, or the greeting is too long.
    pub async fn send_greeting(&mut self, greeting: &impl Serialize) -> io::Result<()> {
        let mut bytes = Vec::new();
        let mut rest = encode(greeting).map_err(io::Error::other)?;
        if rest.len() > MAX_GREETING {
            return Err(io::Error::other(format!("a greeting of {} bytes; the environment is too large", rest.len())));
        }
        while rest.len() > MAX_PAYLOAD {
            let after = rest.split_off(MAX_PAYLOAD);
            WireFrame::unnumbered(FrameKind::Part, rest).encode(&mut bytes);
            rest = after;
        }
        WireFrame::unnumbered(FrameKind::Greeting, rest).encode(&mut bytes);
        write_all(&self.output, &bytes).await
    }

    /// Waits for a greeting of the other side.
    ///
    /// # Errors
    /// The end of the link.
    pub async fn receive_greeting<T: DeserializeOwned>(&mut self) -> Result<T, LinkEnd> {
        let (mut buffer, mut said) = (vec![0; READ], Vec::new());
        loop {
            while let Some(frame) = self.frames.next_frame()? {
                said.extend(frame.payload);
                match frame.kind {
                    FrameKind::Greeting => return Ok(decode(&said)?),
                    FrameKind::Part if said.len() <= MAX_GREETING => {}
                    FrameKind::Goodbye => return Err(LinkEnd::Goodbye),
                    _ => return Err(LinkError::Unexpected("a message before the greeting").into()),
                }
            }
            let count = read(&self.input, &mut buffer).await.map_err(LinkEnd::Lost)?;
            self.frames.push(&buffer[..count]);
        }
    }

    /// Sends bytes that the process that holds the transport passes on as they are.
    ///
    /// # Errors
    /// If the process is gone.
    pub async fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut frame = Vec::new();
        for payload in bytes.chunks(MAX_PAYLOAD) {
            frame.clear();
            WireFrame::unnumbered(FrameKind::Raw, payload.to_vec()).encode(&mut frame);
            write_all(&self.output, &frame).await?;
        }
        Ok(())
    }

    /// Returns the next bytes, before the other side speaks in frames.
    ///
    /// # Errors
    /// If the connection ended.
    pub async fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; READ];
        let count = read(&self.input, &mut buffer).await?;
        buffer.truncate(count);
        Ok(buffer)
    }

    /// Takes bytes that were read already, the first ones of frames.
    pub fn begin_frames(&mut self, bytes: &[u8]) {
        self.frames.push(bytes);
    }

    /// Returns both ends, for another process. `None` if bytes were read that belong to it.
    pub fn ends(&self) -> Option<[BorrowedFd<'_>; 2]> {
        (!self.frames.is_inside()).then(|| [self.input.as_fd(), self.output.as_fd()])
    }
}

/// Passes frames between a link and the mailbox until the link ends. `alive`: silence that counts as a cut.
/// `on_message` takes each message that arrives. After this was given up, it goes on over the same link.
pub async fn carry_frames(
    link: &mut FrameLink,
    post: &LinkMailbox,
    alive: Duration,
    on_message: impl FnMut(MailboxMessage) -> Result<(), LinkError>,
) -> LinkEnd {
    let FrameLink { input, output, frames, unsent } = link;
    tokio::select! {
        cut = receive(input, frames, post, alive, on_message) => cut,
        cut = send(output, unsent, post, alive / 3) => cut,
    }
}

async fn receive(
    input: &AsyncFd<OwnedFd>,
    frames: &mut WireFrameReader,
    post: &LinkMailbox,
    alive: Duration,
    mut on_message: impl FnMut(MailboxMessage) -> Result<(), LinkError>,
) -> LinkEnd {
    let mut buffer = vec![0; READ];
    loop {
        loop {
            let frame = match frames.next_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(error) => return error.into(),
            };
            match frame.kind {
                FrameKind::Goodbye => return LinkEnd::Goodbye,
                FrameKind::Beat | FrameKind::Message | FrameKind::Part => {}
                FrameKind::Greeting | FrameKind::Raw => {
                    return LinkError::Unexpected("a frame that has no place among messages").into();
                }
            }
            let taken = post.receive(frame).map_err(LinkError::from);
            if let Err(error) = taken.and_then(|message| message.map_or(Ok(()), &mut on_message)) {
                return error.into();
            }
        }
        let read = timeout(alive, read(input, &mut buffer)).await;
        match read.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(count) => frames.push(&buffer[..count]),
            Err(error) => return LinkEnd::Lost(error),
        }
    }
}

async fn send(output: &AsyncFd<OwnedFd>, unsent: &mut Vec<u8>, post: &LinkMailbox, beat: Duration) -> LinkEnd {
    let mut due = Instant::now() + beat;
    loop {
        if unsent.is_empty() {
            // A link that is never silent beats, too: it tells more than that it is alive.
            let _filled = timeout_at(due, post.fill(unsent)).await;
            if due <= Instant::now() {
                post.append_beat(unsent);
                due = Instant::now() + beat;
            }
        }
        while !unsent.is_empty() {
            match write(output, unsent).await {
                Ok(count) => drop(unsent.drain(..count)),
                Err(error) => return LinkEnd::Lost(error),
            }
        }
    }
}

/// Reads at least one byte. The end is an error.
pub(crate) async fn read(input: &AsyncFd<OwnedFd>, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut ready = input.readable().await?;
        match ready.try_io(|input| Ok(nix::unistd::read(input, buffer)?)) {
            Ok(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(read) => return read,
            Err(_not_ready) => {}
        }
    }
}

async fn write_all(output: &AsyncFd<OwnedFd>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        bytes = &bytes[write(output, bytes).await?..];
    }
    Ok(())
}

/// Writes some of the bytes.
async fn write(output: &AsyncFd<OwnedFd>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        let mut ready = output.writable().await?;
        match ready.try_io(|output| Ok(nix::unistd::write(output, bytes)?)) {
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(written) => return written,
            Err(_not_ready) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{MachineLoad, TargetEvent};

    const TOLD: MachineLoad = MachineLoad { hundredths: 1, memory_free: 2 };

    #[tokio::test]
    async fn a_link_that_is_never_silent_tells_the_load_too() {
        let (program, host) = (LinkMailbox::telling(|| TOLD), LinkMailbox::default());
        let [(to_host, from_program), (to_program, from_host)] = [(); 2].map(|()| sys::pipe().expect("a pipe"));
        let mut there = FrameLink::new(to_program, from_program).expect("pipes");
        let mut here = FrameLink::new(to_host, from_host).expect("pipes");
        let (beat, long) = (Duration::from_millis(20), Duration::from_mins(1));
        let never_silent = async {
            while host.load() != TOLD {
                program.send(1, &TargetEvent::Exited).expect("room");
                tokio::time::sleep(beat / 20).await;
            }
        };
        tokio::select! {
            end = carry_frames(&mut there, &program, beat * 3, |_| Ok(())) => panic!("{end:?}"),
            end = carry_frames(&mut here, &host, long, |_| Ok(())) => panic!("{end:?}"),
            heard = timeout(long, never_silent) => heard.expect("a heartbeat"),
        }
    }
}
