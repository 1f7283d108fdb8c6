//! Passes the bytes of a connection to the other side and back. Both sides of a forwarded port are this.

use std::io;
use std::os::fd::AsRawFd;
use std::task::{Context, Poll};

use nix::sys::socket::{Shutdown, shutdown};
use tokio::net::TcpStream;

use crate::flow_control::{CHUNK, TRANSFER_CREDIT, TransferWindow};
use crate::messages::TransferPart;

/// Bytes of one read.
const READ: usize = 32 * 1024;

/// Passes bytes until both directions have ended. `next`: what comes from the other side. `send`: passes a part to it.
/// Returns whether all of them arrived.
pub async fn relay_connection(
    stream: &TcpStream,
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
    stream: &TcpStream,
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
            shutdown(stream.as_raw_fd(), Shutdown::Write)?;
        }
    }
    Ok(())
}

/// Most bytes that wait to be written: the credit, and the chunk that may pass it.
const MOST_PENDING: usize = TRANSFER_CREDIT as usize + CHUNK;

fn may_wait(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::WouldBlock { Ok(()) } else { Err(error) }
}
