//! macOS does not let a process write to another one's memory, so every shell starts with its command.

use std::io;
use std::path::Path;

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// Whether a started shell can receive its command later.
pub const HAS_WARM_SHELLS: bool = false;

/// The identity of a file or directory, whatever its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInode {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::from_raw_os_error(libc::ENOTSUP))
}

impl DeviceInode {
    /// Never called on macOS.
    pub fn of(_: &Path) -> io::Result<Self> {
        unsupported()
    }

    /// Never called on macOS.
    pub fn of_process(_: Pid) -> io::Result<(Self, Self)> {
        unsupported()
    }
}

/// Not available on macOS.
pub fn argument_addresses(_: Pid) -> Option<(usize, usize)> {
    None
}

/// Not possible on macOS.
pub fn write_memory(_: Pid, _: usize, _: &[u8]) -> io::Result<()> {
    unsupported()
}
