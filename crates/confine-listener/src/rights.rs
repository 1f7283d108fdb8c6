//! Compares the rights of a caller with this process's. With equal rights, this process may make a change in the
//! caller's place.
//!
//! The listener sees every call after which a process has other rights, and checks again for each later call of that
//! process. Rules that a process imposes on itself are not visible anywhere, so after them no caller counts as equal.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag};

use sys::LinkResolution;

/// The lines of `/proc/…/status` that decide about rights.
const LINES: [&str; 4] = ["Uid:", "Gid:", "Groups:", "CapEff:"];
/// The call that imposes invisible rules on a process.
pub(super) const OWN_RULES: &str = "landlock_restrict_self";

/// The rights of a thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ThreadRights {
    lines: Vec<String>,
    /// The name of the user namespace.
    users: CString,
    /// The label that a security module gave the thread, if the module has labels.
    label: Vec<u8>,
}

impl ThreadRights {
    /// Reads the rights of a thread from its directory in `/proc`.
    pub fn of(thread: BorrowedFd<'_>) -> Result<Self, Errno> {
        let status = read(thread, c"status")?;
        let status = String::from_utf8_lossy(&status);
        let lines: Vec<_> =
            status.lines().filter(|line| LINES.iter().any(|name| line.starts_with(name))).map(str::to_owned).collect();
        if lines.len() != LINES.len() {
            return Err(Errno::ENODATA);
        }
        Ok(Self { lines, users: sys::link_text(thread, c"ns/user")?, label: security_label(thread) })
    }

    /// Reads the rights of this thread.
    pub fn of_this_thread() -> Result<Self, Errno> {
        Self::of(sys::open_directory(AT_FDCWD, c"/proc/thread-self", LinkResolution::Texts)?.as_fd())
    }

    /// Returns whether a thread that had these rights has the same label, which changes with its program.
    pub fn is_label_of(&self, thread: BorrowedFd<'_>) -> bool {
        self.label.is_empty() || self.label == security_label(thread)
    }
}

fn security_label(thread: BorrowedFd<'_>) -> Vec<u8> {
    read(thread, c"attr/current").unwrap_or_default()
}

fn read(thread: BorrowedFd<'_>, name: &std::ffi::CStr) -> Result<Vec<u8>, Errno> {
    let file = sys::open_path(thread, name, OFlag::O_RDONLY.bits(), 0, LinkResolution::Texts)?;
    let mut bytes = vec![0; 4096];
    let length = nix::unistd::read(&file, &mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}
