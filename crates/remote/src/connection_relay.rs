//! Passes the bytes of a connection to the other side and back. Both sides of a forwarded port are this, and both sides
//! of a transport on another target.

use std::io;
use std::os::fd::AsRawFd;
use std::task::{Context, Poll};

use nix::sys::socket::{Shutdown, shutdown};
use tokio::net::{TcpStream, UnixStream};

use crate::flow_control::{CHUNK, TRANSFER_CREDIT, TransferWindow};
use crate::messages::TransferPart;

/// Bytes of one read.
const READ: usize = 32 * 1024;

/// A stream whose bytes are passed on.
#[derive(Clone, Copy)]
pub enum RelayedStream<'a> {
    /// A connection to a port. One that is reset has lost bytes.
    Tcp(&'a TcpStream),
    /// A process of ours. After it stops reading, its remaining output is still relayed.
    Socket(&'a UnixStream),
}

impl RelayedStream<'_> {
    async fn readable(self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.readable().await,
            Self::Socket(stream) => stream.readable().await,
        }
    }

    async fn writable(self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.writable().await,
            Self::Socket(stream) => stream.writable().await,
        }
    }

    fn try_read(self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_read(buffer),
            Self::Socket(stream) => or_end(stream.try_read(buffer), 0),
        }
    }

    fn try_write(self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Socket(stream) => or_end(stream.try_write(bytes), bytes.len()),
        }
    }

    fn end_writing(self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => Ok(shutdown(stream.as_raw_fd(), Shutdown::Write)?),
            Self::Socket(stream) => or_end(shutdown(stream.as_raw_fd(), Shutdown::Write).map_err(Into::into), ()),
        }
    }
}

/// Returns this value for the errors of a process that is gone.
fn or_end<T>(result: io::Result<T>, end: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Ok(end),
        other => other,
    }
}

/// Passes bytes until both directions have ended. `next`: what comes from the other side. `send`: passes a part to it.
/// Returns whether all of them arrived.
pub async fn relay_connection(
    stream: RelayedStream<'_>,
    next: impl FnMut(&mut Context<'_>) -> Poll<Option<TransferPart>>,
    send: impl Fn(TransferPart) -> bool,
) -> bool {
    relay_parts(stream, next, send).await.is_ok()
}

/// Lets the connection be reset when it is dropped: its other end must not take a part for the whole.
pub fn reset_on_drop(stream: &TcpStream) {
    // A connection that has gone already has nothing to reset.
    let _gone = stream.set_zero_linger();
}

async fn relay_parts(
    stream: RelayedStream<'_>,
    mut next: impl FnMut(&mut Context<'_>) -> Poll<Option<TransferPart>>,
    send: impl Fn(TransferPart) -> bool,
) -> io::Result<()> {
    let send = |part| if send(part) { Ok(()) } else { Err(io::Error::from(io::ErrorKind::BrokenPipe)) };
    let (mut reads, mut writes, mut untaken) = (true, true, TransferWindow::default());
    let (mut pending, mut ended) = (Vec::new(), false);
    let mut buffer = vec![0; READ];
    while reads || writes {
        tokio::select! {
            part = std::future::poll_fn(&mut next) => match part {
                Some(TransferPart::Taken(bytes)) => untaken.count_taken(bytes),
                Some(TransferPart::Bytes(bytes)) if !ended && pending.len() + bytes.len() <= MOST_PENDING => {
                    pending.extend(bytes);
                }
                Some(TransferPart::End) => ended = true,
                Some(TransferPart::Bytes(_)) | None => return Err(io::ErrorKind::ConnectionAborted.into()),
            },
            ready = stream.readable(), if reads && untaken.has_room() => {
                ready?;
                match stream.try_read(&mut buffer) {
                    Ok(0) => {
                        reads = false;
                        send(TransferPart::End)?;
                    }
                    Ok(count) => {
                        untaken.count_sent(count);
                        send(TransferPart::Bytes(buffer[..count].to_vec()))?;
                    }
                    Err(error) => may_wait(error)?,
                }
            }
            ready = stream.writable(), if !pending.is_empty() => {
                ready?;
                match stream.try_write(&pending) {
                    Ok(count) => {
                        pending.drain(..count);
                        send(TransferPart::Taken(count as u64))?;
                    }
                    Err(error) => may_wait(error)?,
                }
            }
        }
        if ended && writes && pending.is_empty() {
            writes = false;
            stream.end_writing()?;
        }
    }
    Ok(())
}

/// Most bytes that wait to be written: the credit, and the chunk that may pass it.
const MOST_PENDING: usize = TRANSFER_CREDIT as usize + CHUNK;

fn may_wait(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::WouldBlock { Ok(()) } else { Err(error) }
}
