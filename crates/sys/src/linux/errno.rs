//! Errors of rustix.

use nix::errno::Errno;

/// Converts an error of rustix into one of nix.
pub(super) fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_raw(error.raw_os_error())
}
