//! Why a call has no change.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

/// Why a call has no change to report.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnrecordedSyscall {
    /// The call fails, or changes no file.
    Nothing,
    /// The call may make a change that cannot be followed.
    Missed(PathBuf, &'static str),
}

impl UnrecordedSyscall {
    /// Returns the reason for an error along a path: the call fails with the same error, unless the error is this
    /// process's own.
    pub fn on_path(path: &[u8], errno: Errno) -> Self {
        match errno {
            Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM => Self::Missed(to_path(path), "no descriptor was left"),
            _ => Self::Nothing,
        }
    }
}

/// Returns a path from bytes.
pub(super) fn to_path(bytes: &[u8]) -> PathBuf {
    Path::new(OsStr::from_bytes(bytes)).to_owned()
}
