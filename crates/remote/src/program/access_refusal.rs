//! Why nothing is done with a file or a port.

use std::io;

use nix::errno::Errno;

use crate::messages::{MAX_ENTRIES, MAX_READ, system_code};
use reduce::recall::UnsearchablePattern;
use runner::error::RunError;

/// Why nothing is done.
#[derive(Debug, thiserror::Error)]
pub enum TargetAccessRefusal {
    /// The system refuses a step.
    #[error("{what} cannot be {done}: {}", system_error_text(source))]
    System {
        /// The path, or the address.
        what: String,
        /// What was to be done with it: `read`.
        done: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The file is a device, a pipe or a socket.
    #[error("{path} is no regular file and cannot be {done}: run a command that does")]
    NotRegular {
        /// The path.
        path: String,
        /// What was to be done with it.
        done: &'static str,
    },
    /// The file is too long to be read.
    #[error("{0} is longer than {MAX_READ} bytes: read it by a command, in parts")]
    TooLong(String),
    /// The directory is too long to be listed.
    #[error("{0} has more than {MAX_ENTRIES} entries: list it by a command")]
    TooMany(String),
    /// The path names no entry of a directory, as `/` and `..`.
    #[error("{0} names no entry of a directory: give the path with a name at its end")]
    NoName(String),
    /// The pattern is none that can be searched for.
    #[error(transparent)]
    Unsearchable(UnsearchablePattern),
    /// More bytes follow than the host has announced.
    #[error("more bytes for {0} than were announced")]
    Announced(String),
}

fn system_error_text(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), |errno| Errno::from_raw(errno).to_string())
}

impl From<TargetAccessRefusal> for RunError {
    fn from(refusal: TargetAccessRefusal) -> Self {
        let message = refusal.to_string();
        let TargetAccessRefusal::System { source, .. } = refusal else { return Self::InvalidArg(message) };
        // Only paths that hold a NUL, and names that no resolver knows, are refused without the system.
        let Some(errno) = source.raw_os_error() else { return Self::InvalidArg(message) };
        let errno = format!("{:?}", Errno::from_raw(errno));
        Self::FromTarget { code: system_code(&errno).unwrap_or("EIO"), message, errno: Some(errno) }
    }
}
