//! The input that a task has not read yet.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

/// Most bytes per write.
const CHUNK: usize = 64 * 1024;

/// The write end of a standard input, and a file with the rest of the input.
pub struct TaskInputWriter {
    pipe: OwnedFd,
    rest: File,
    at: u64,
}

impl TaskInputWriter {
    /// Reads `rest` from its beginning.
    pub fn new(pipe: OwnedFd, rest: OwnedFd) -> io::Result<Self> {
        sys::set_nonblocking(&pipe)?;
        Ok(Self { pipe, rest: File::from(rest), at: 0 })
    }

    /// Returns the pipe to poll.
    pub fn pipe(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Writes as much as fits. Returns whether the input is finished: all of it was written, or no process reads it.
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
