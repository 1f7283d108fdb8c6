//! What a task still has to read on its standard input.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use crate::sys;

/// What is written at once.
const CHUNK: usize = 64 * 1024;

/// The writing end of a standard input, and a file with the rest.
pub struct Feed {
    pipe: OwnedFd,
    rest: File,
    at: u64,
}

impl Feed {
    /// `rest` is read from its beginning.
    pub fn new(pipe: OwnedFd, rest: OwnedFd) -> io::Result<Self> {
        sys::set_nonblocking(&pipe)?;
        Ok(Self { pipe, rest: File::from(rest), at: 0 })
    }

    /// To be waited for.
    pub fn pipe(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Writes what fits. Returns whether that was all, or nobody reads it any more.
    pub fn write(&mut self) -> bool {
        let mut bytes = [0; CHUNK];
        let Ok(count @ 1..) = self.rest.read_at(&mut bytes, self.at) else { return true };
        match nix::unistd::write(&self.pipe, &bytes[..count]).map_err(io::Error::from) {
            Ok(written) => {
                self.at += written as u64;
                false
            }
            Err(error) => !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
        }
    }
}
