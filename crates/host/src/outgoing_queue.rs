//! Messages on their way to a client.

use std::io;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::Instant;

/// Unsent bytes beyond which nothing but answers is added.
const ENOUGH: usize = 128 * 1024;
/// Unsent bytes beyond which no request is read either.
const FULL: usize = 1024 * 1024;
/// Time without progress after which a client counts as gone.
pub const STALLED: Duration = Duration::from_secs(30);

/// The bytes that a client has not taken.
#[derive(Debug)]
pub struct OutgoingQueue {
    bytes: Vec<u8>,
    sent: usize,
    /// When the client has last taken something, or had nothing to take.
    progress: Instant,
}

impl OutgoingQueue {
    /// Makes an empty queue.
    pub fn new() -> Self {
        Self { bytes: Vec::new(), sent: 0, progress: Instant::now() }
    }

    /// Adds a message.
    pub fn push(&mut self, line: &[u8]) {
        if self.is_empty() {
            self.progress = Instant::now();
        }
        self.bytes.extend_from_slice(line);
    }

    /// Returns the number of bytes that the client has not taken.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Returns whether the client has taken everything.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether there is room for a batch.
    pub fn has_room(&self) -> bool {
        self.len() <= ENOUGH
    }

    /// Returns whether there is no room for another answer.
    pub fn is_full(&self) -> bool {
        self.len() >= FULL
    }

    /// Returns when the client counts as gone.
    pub fn stalled_at(&self) -> Option<Instant> {
        (!self.is_empty()).then(|| self.progress + STALLED)
    }

    /// Sends as much as the client takes now.
    ///
    /// # Errors
    /// If the client is gone.
    pub fn send(&mut self, stream: &UnixStream) -> io::Result<()> {
        while !self.is_empty() {
            match stream.try_write(&self.bytes[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.sent += count;
                    self.progress = Instant::now();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.is_empty() {
            // The room for a large message is given back.
            self.bytes = Vec::new();
            self.sent = 0;
        } else if self.sent >= ENOUGH {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }
}
