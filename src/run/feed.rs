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
    /// Somebody may still bring more.
    open: bool,
    /// Somebody waits for all of it to be written.
    waited: bool,
}

impl Feed {
    /// `open`: more may come, by [`Feed::push`].
    pub fn new(pipe: Option<OwnedFd>, bytes: &[u8], open: bool) -> io::Result<Self> {
        let pipe = pipe.map(|pipe| sys::watch(pipe, Interest::WRITABLE)).transpose()?;
        Ok(Self { pipe, bytes: bytes.to_vec(), written: 0, open, waited: false })
    }

    /// Until the command takes more; for ever when there is nothing more to write.
    pub async fn writable(&self) {
        match &self.pipe {
            Some(pipe) if !self.open || self.written < self.bytes.len() => drop(pipe.writable().await),
            _ => std::future::pending().await,
        }
    }

    /// More to write, after all that came before; `None` is the end of it.
    pub fn push(&mut self, more: Option<Vec<u8>>) {
        match more {
            Some(more) => {
                self.waited = true;
                if self.pipe.is_some() {
                    self.bytes.drain(..self.written);
                    self.written = 0;
                    self.bytes.extend(more);
                }
            }
            None => self.open = false,
        }
    }

    /// What is to be told to somebody who waits, once: everything is written (`true`), or nobody reads it any more.
    pub fn told(&mut self) -> Option<bool> {
        let done = self.waited && (self.pipe.is_none() || self.written == self.bytes.len());
        if !done {
            return None;
        }
        self.waited = false;
        Some(self.pipe.is_some())
    }

    /// Writes what fits. The pipe is closed at the end, and when nobody reads it any more.
    pub fn write(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let rest = &self.bytes[self.written..];
        let next = &rest[..rest.len().min(CHUNK)];
        if next.is_empty() {
            if !self.open {
                self.close();
            }
            return;
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
