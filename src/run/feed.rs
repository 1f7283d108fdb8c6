//! The bytes that a command reads on its standard input.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::sys;

/// What is written at once.
const CHUNK: usize = 256 * 1024;

/// The writing end of a command's standard input, and what is still to be written.
pub struct Feed {
    pipe: Option<AsyncFd<OwnedFd>>,
    bytes: Vec<u8>,
    written: usize,
}

impl Feed {
    pub fn new(pipe: Option<OwnedFd>, bytes: &[u8]) -> io::Result<Self> {
        let pipe = pipe.map(|pipe| sys::watch(pipe, Interest::WRITABLE)).transpose()?;
        Ok(Self { pipe, bytes: bytes.to_vec(), written: 0 })
    }

    /// Until the command takes more; for ever when there is nothing more to write.
    pub async fn writable(&self) {
        match &self.pipe {
            Some(pipe) => drop(pipe.writable().await),
            None => std::future::pending().await,
        }
    }

    /// Writes what fits. The pipe is closed at the end, and when nobody reads it any more.
    pub fn write(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let rest = &self.bytes[self.written..];
        let next = &rest[..rest.len().min(CHUNK)];
        if next.is_empty() {
            return self.close();
        }
        match pipe.try_io(Interest::WRITABLE, |fd| Ok(nix::unistd::write(fd, next)?)) {
            Ok(count) => self.written += count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.close(),
        }
    }

    /// The pipe and a file with what is still to be written, for somebody else to go on; nothing when there is no more.
    pub fn hand_over(&self) -> io::Result<Vec<OwnedFd>> {
        let Some(pipe) = &self.pipe else { return Ok(Vec::new()) };
        let rest = sys::anonymous_file(&self.bytes[self.written..])?;
        Ok(vec![pipe.get_ref().try_clone()?, rest])
    }

    pub fn close(&mut self) {
        self.pipe = None;
        self.bytes = Vec::new();
        self.written = 0;
    }
}
