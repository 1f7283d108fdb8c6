//! C strings, links, and those of `/proc` that stand for the open files of this process.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;

/// The most symbolic links that are followed in a row, as the kernel does.
pub(super) const LINKS: usize = 40;

/// Makes a C string from a text of this process.
pub(super) fn c_string(text: impl Into<Vec<u8>>) -> Result<CString, Errno> {
    CString::new(text).map_err(|_| Errno::EINVAL)
}

/// Returns the current path of a descriptor of this process.
pub(super) fn path_of(file: BorrowedFd<'_>) -> Result<CString, Errno> {
    sys::link_text(AT_FDCWD, &link_of(file)?)
}

/// Returns the path in `/proc` that stands for a descriptor of this process.
pub(super) fn link_of(file: BorrowedFd<'_>) -> Result<CString, Errno> {
    c_string(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Returns the path of an open thing, as the kernel shows it.
pub(super) fn path_of_open(thing: BorrowedFd<'_>) -> Result<PathBuf, Errno> {
    Ok(PathBuf::from(OsStr::from_bytes(path_of(thing)?.to_bytes())))
}
