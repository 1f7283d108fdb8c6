//! The mounts of the world.
//!
//! A process can receive a directory from a process of another world, by a socket that both reach. A call below that
//! directory would obey the mounts of the other world, and the guards of this one, so it could create what neither
//! world may create. The listener performs nothing there.

use std::cell::RefCell;
use std::collections::HashSet;
use std::os::fd::BorrowedFd;

use nix::errno::Errno;

/// The mounts that are known to belong to the world.
#[derive(Debug, Default)]
pub(super) struct OwnMounts(RefCell<HashSet<u64>>);

impl OwnMounts {
    /// Fails if a directory lies in a mount of another world.
    pub fn check(&self, directory: BorrowedFd<'_>) -> Result<(), Errno> {
        let unique = sys::mount_name(directory)?;
        if unique.is_some_and(|name| self.0.borrow().contains(&name)) {
            return Ok(());
        }
        let number = sys::mount_number(directory)?;
        // Kernels before 6.8 have no unique number. Their numbers may be reused, but not as long as the directory is
        // open.
        let name = unique.unwrap_or(number);
        if self.0.borrow().contains(&name) {
            return Ok(());
        }
        let mounts = std::fs::read("/proc/self/mountinfo").map_err(|_| Errno::EACCES)?;
        let is_own = mounts.split(|byte| *byte == b'\n').any(|line| {
            let first = line.split(|byte| *byte == b' ').next().unwrap_or_default();
            std::str::from_utf8(first).is_ok_and(|first| first.parse() == Ok(number))
        });
        if !is_own {
            return Err(Errno::EACCES);
        }
        self.0.borrow_mut().insert(name);
        Ok(())
    }

    /// Forgets all mounts, because their numbers may have other owners by now.
    pub fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}
