//! Access to a warm shell from outside.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::proc::after_name;
use super::proc_root::proc_of;

/// Whether a started shell can receive its command later.
pub const HAS_WARM_SHELLS: bool = true;

/// The identity of a file or directory, whatever its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInode {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

impl DeviceInode {
    /// Returns the identity of the file at this path.
    pub fn of(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|data| Self { device: data.dev(), inode: data.ino() })
    }

    /// Returns the identities of a process's directory and program.
    pub fn of_process(pid: Pid) -> io::Result<(Self, Self)> {
        Ok((Self::of(format!("{}/cwd", proc_of(pid)).as_ref())?, Self::of(format!("{}/exe", proc_of(pid)).as_ref())?))
    }
}

/// Returns the range of a process's arguments in its memory, or `None` if it may not be read.
pub fn argument_addresses(pid: Pid) -> Option<(usize, usize)> {
    let stat = fs::read(format!("{}/stat", proc_of(pid))).ok()?;
    let fields = after_name(&stat)?;
    let field = |at: usize| fields.get(at)?.parse::<usize>().ok().filter(|address| *address > 0);
    Some((field(45)?, field(46)?))
}

/// Writes into the memory of a descendant process. Fails if that is not permitted (Yama's `ptrace_scope` 2 and 3, a
/// filter).
pub fn write_memory(pid: Pid, at: usize, bytes: &[u8]) -> io::Result<()> {
    let ours = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let theirs = libc::iovec { iov_base: std::ptr::without_provenance_mut(at), iov_len: bytes.len() };
    // SAFETY: reads from our slice only. The destination belongs to the other process, and the kernel checks it.
    let written = unsafe { libc::process_vm_writev(pid.as_raw(), &raw const ours, 1, &raw const theirs, 1, 0) };
    match usize::try_from(written) {
        Ok(written) if written == bytes.len() => Ok(()),
        Ok(_) => Err(io::Error::from_raw_os_error(libc::EFAULT)),
        Err(_) => Err(io::Error::last_os_error()),
    }
}
