//! How far the shell that reads the rc files has come, as it says itself.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::sys;

/// Messages, each ended by a NUL: `read N`, `syntax N`, `end CODE`.
pub struct Progress {
    pipe: AsyncFd<OwnedFd>,
    bytes: Vec<u8>,
}

/// What was said.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The file that is being read, or was the last.
    pub file: Option<usize>,
    /// One that has a syntax error.
    pub syntax: Option<usize>,
    /// How the shell has ended.
    pub end: Option<i32>,
}

impl Progress {
    pub fn new(pipe: OwnedFd) -> io::Result<Self> {
        Ok(Self { pipe: sys::watch(pipe, Interest::READABLE)?, bytes: Vec::new() })
    }

    /// Until the shell has ended.
    pub async fn ended(&mut self) {
        while self.said().end.is_none() {
            let Ok(mut guard) = self.pipe.readable().await else { return std::future::pending().await };
            let mut buffer = [0_u8; 1024];
            match guard.try_io(|pipe| Ok(nix::unistd::read(pipe, &mut buffer)?)) {
                // The writing end is held open here.
                Ok(Err(_) | Ok(0)) => return std::future::pending().await,
                Ok(Ok(count)) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(_) => {}
            }
        }
    }

    pub fn said(&self) -> Said {
        said(&self.bytes)
    }
}

fn said(bytes: &[u8]) -> Said {
    let mut said = Said::default();
    for message in bytes.split_inclusive(|byte| *byte == 0).filter_map(|message| message.strip_suffix(&[0])) {
        match std::str::from_utf8(message).ok().and_then(|message| message.split_once(' ')) {
            Some(("read", number)) => said.file = number.parse().ok(),
            Some(("syntax", number)) => said.syntax = number.parse().ok(),
            Some(("end", code)) => said.end = code.parse().ok(),
            _ => {}
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_messages_count() {
        assert_eq!(said(b"read 0\0read 1\0syntax 0\0end 1"), Said { file: Some(1), syntax: Some(0), end: None });
        assert_eq!(said(b"read 0\0end 137\0"), Said { file: Some(0), syntax: None, end: Some(137) });
    }
}
