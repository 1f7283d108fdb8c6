//! The progress of the shell that reads the rc files, as it reports it.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Messages, each ended by a NUL: `read N`, `syntax N`, `end CODE`.
pub struct RcProgressPipe {
    pipe: AsyncFd<OwnedFd>,
    bytes: Vec<u8>,
}

/// The shell's reports so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RcProgress {
    /// The number of the file that is being read, or was read last.
    pub file: Option<usize>,
    /// The number of a file with a syntax error.
    pub syntax: Option<usize>,
    /// The exit code of the shell.
    pub end: Option<i32>,
}

impl RcProgressPipe {
    pub fn new(pipe: OwnedFd) -> io::Result<Self> {
        Ok(Self { pipe: sys::watch(pipe, Interest::READABLE)?, bytes: Vec::new() })
    }

    /// Resolves when the shell has reported its exit.
    pub async fn ended(&mut self) {
        while self.reported().end.is_none() {
            let Ok(mut guard) = self.pipe.readable().await else { return std::future::pending().await };
            let mut buffer = [0_u8; 1024];
            match guard.try_io(|pipe| Ok(nix::unistd::read(pipe, &mut buffer)?)) {
                // The write end is open here, so an end of file is an error.
                Ok(Err(_) | Ok(0)) => return std::future::pending().await,
                Ok(Ok(count)) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(_) => {}
            }
        }
    }

    pub fn reported(&self) -> RcProgress {
        reported(&self.bytes)
    }
}

fn reported(bytes: &[u8]) -> RcProgress {
    let mut reported = RcProgress::default();
    for message in bytes.split_inclusive(|byte| *byte == 0).filter_map(|message| message.strip_suffix(&[0])) {
        match std::str::from_utf8(message).ok().and_then(|message| message.split_once(' ')) {
            Some(("read", number)) => reported.file = number.parse().ok(),
            Some(("syntax", number)) => reported.syntax = number.parse().ok(),
            Some(("end", code)) => reported.end = code.parse().ok(),
            _ => {}
        }
    }
    reported
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_messages_count() {
        assert_eq!(
            reported(b"read 0\0read 1\0syntax 0\0end 1"),
            RcProgress { file: Some(1), syntax: Some(0), end: None }
        );
        assert_eq!(reported(b"read 0\0end 137\0"), RcProgress { file: Some(0), syntax: None, end: Some(137) });
    }
}
