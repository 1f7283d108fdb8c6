//! The bytes that a command reads on its standard input.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The most that is written at once, bytes.
const CHUNK: usize = 256 * 1024;

/// The write end of standard input, and its unwritten bytes.
pub struct InputWriter {
    /// `None` once the input has ended, or the command reads no more.
    pipe: Option<AsyncFd<OwnedFd>>,
    bytes: Vec<u8>,
    written: usize,
    /// The caller may give more.
    open: bool,
    /// The caller gets an answer once everything is written.
    reports: bool,
}

/// The answer to the last bytes that the caller gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputTaken {
    /// All of them are written.
    Written,
    /// The command reads no more.
    Closed,
}

impl InputWriter {
    /// `open`: more bytes may come, by [`InputWriter::push`].
    pub fn new(pipe: Option<OwnedFd>, bytes: &[u8], open: bool) -> io::Result<Self> {
        let pipe = pipe.map(|pipe| sys::watch(pipe, Interest::WRITABLE)).transpose()?;
        Ok(Self { pipe, bytes: bytes.to_vec(), written: 0, open, reports: false })
    }

    /// Waits until the command takes more; forever when there is nothing to write.
    pub async fn writable(&self) {
        match &self.pipe {
            Some(pipe) if !self.open || self.written < self.bytes.len() => drop(pipe.writable().await),
            _ => std::future::pending().await,
        }
    }

    /// Appends bytes; `None` ends the input.
    pub fn push(&mut self, more: Option<Vec<u8>>) {
        match more {
            Some(more) => {
                self.reports = true;
                if self.pipe.is_some() {
                    self.bytes.drain(..self.written);
                    self.written = 0;
                    self.bytes.extend(more);
                }
            }
            None => self.open = false,
        }
    }

    /// The answer that the caller is still owed, once it is known.
    pub fn take_answer(&mut self) -> Option<InputTaken> {
        let done = self.reports && (self.pipe.is_none() || self.written == self.bytes.len());
        if !done {
            return None;
        }
        self.reports = false;
        Some(if self.pipe.is_some() { InputTaken::Written } else { InputTaken::Closed })
    }

    /// Writes as much as fits. The pipe is closed at the end of the input, and when the command reads no more.
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

    /// The pipe and a file with the bytes that are not written yet, for a shim to go on; empty when the input has
    /// ended.
    pub fn hand_over(&self) -> io::Result<Vec<OwnedFd>> {
        let Some(pipe) = &self.pipe else { return Ok(Vec::new()) };
        let rest = sys::anonymous_file(&self.bytes[self.written..])?;
        Ok(vec![pipe.get_ref().try_clone()?, rest])
    }

    /// Ends the input.
    pub fn close(&mut self) {
        self.pipe = None;
        self.bytes = Vec::new();
        self.written = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    fn pipe() -> (std::fs::File, OwnedFd) {
        let (read, write) = sys::pipe().expect("a pipe");
        sys::set_nonblocking(&write).expect("set");
        (read.into(), write)
    }

    #[tokio::test]
    async fn input_is_written_whole_and_then_ended() {
        let (mut read, write) = pipe();
        let mut input = InputWriter::new(Some(write), b"hello", false).expect("watched");
        input.writable().await;
        input.write();
        input.write();
        let mut text = String::new();
        read.read_to_string(&mut text).expect("ended");
        assert_eq!(text, "hello");
        assert_eq!(input.take_answer(), None, "the caller gave it with the request");
    }

    #[tokio::test]
    async fn the_caller_is_answered_once_its_bytes_are_written() {
        let (_read, write) = pipe();
        let mut input = InputWriter::new(Some(write), b"", true).expect("watched");
        input.push(Some(b"more".to_vec()));
        assert_eq!(input.take_answer(), None, "not written yet");
        input.writable().await;
        input.write();
        assert_eq!(input.take_answer(), Some(InputTaken::Written));
        assert_eq!(input.take_answer(), None, "once");
    }

    #[tokio::test]
    async fn a_command_that_reads_no_more_ends_the_input() {
        let (read, write) = pipe();
        let mut input = InputWriter::new(Some(write), b"", true).expect("watched");
        drop(read);
        input.push(Some(b"lost".to_vec()));
        input.writable().await;
        input.write();
        assert_eq!(input.take_answer(), Some(InputTaken::Closed));
        input.push(Some(b"late".to_vec()));
        assert_eq!(input.take_answer(), Some(InputTaken::Closed));
    }

    #[tokio::test]
    async fn a_shim_gets_the_bytes_that_are_left() {
        let (_read, write) = pipe();
        let mut input = InputWriter::new(Some(write), &vec![b'x'; 100_000], false).expect("watched");
        input.writable().await;
        input.write();
        let left = input.bytes.len() - input.written;
        assert!(left > 0, "more than a pipe holds");
        let handed = input.hand_over().expect("handed over");
        let [_, file] = <[OwnedFd; 2]>::try_from(handed).expect("a pipe and a file");
        let (mut file, mut rest) = (std::fs::File::from(file), Vec::new());
        file.rewind().expect("rewound");
        file.read_to_end(&mut rest).expect("read");
        assert_eq!(rest.len(), left);
        input.close();
        assert!(input.hand_over().expect("nothing").is_empty());
    }
}
