//! Whether an act may be performed.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::super::caller_path::{PathStart, last_component};
use super::super::pending_syscall::PendingSyscall;
use super::super::proc_links::path_of_open;
use super::bounds::{WorldBounds, is_nameless};
use sys::LinkResolution;

/// Returns the path of a name in a directory. `None`: the name is the directory itself, or the one above it.
pub(super) fn path_of_name(directory: &PathStart, name: &CStr) -> Result<Option<PathBuf>, Errno> {
    let (_, bare) = last_component(name);
    if matches!(bare, b"" | b"." | b"..") {
        return Ok(None);
    }
    let above = match directory {
        PathStart::Root => PathBuf::from("/"),
        PathStart::Directory(directory) => path_of_open(directory.as_fd())?,
    };
    Ok(Some(above.join(OsStr::from_bytes(bare))))
}

/// Returns whether a name exists.
pub(super) fn name_exists(directory: &PathStart, name: &CStr) -> bool {
    sys::open_place(directory.descriptor(), name, false, LinkResolution::Texts).is_ok()
}

impl PendingSyscall<'_> {
    pub(super) fn world_bounds(&self) -> Result<&WorldBounds, Errno> {
        self.shared.bounds.as_ref().ok_or(Errno::EACCES)
    }

    /// Records a refused change, and returns its error: that of a read-only mount, or of a name that must not be made.
    pub(super) fn record_change_outside(&mut self, path: &Path) -> Errno {
        let is_guarded =
            self.world_bounds().is_ok_and(|bounds| bounds.is_in_root(path)) && path.symlink_metadata().is_err();
        self.count_refused_change(path);
        if is_guarded { Errno::EACCES } else { Errno::EROFS }
    }

    /// Fails unless a name may be created in a directory, whether it exists or not.
    pub(crate) fn judge_new(&mut self, directory: &PathStart, name: &CStr) -> Result<(), Errno> {
        let Some(path) = path_of_name(directory, name)? else { return Err(Errno::EEXIST) };
        if self.world_bounds()?.may_change(&path) {
            return Ok(());
        }
        // The call would have failed without confinement, too.
        if name_exists(directory, name) { Err(Errno::EEXIST) } else { Err(self.record_change_outside(&path)) }
    }

    /// Fails unless an open thing may be changed. The kernel finds the mounts of a world read-only.
    pub(crate) fn judge_change(&mut self, thing: BorrowedFd<'_>) -> Result<(), Errno> {
        if self.shared.bounds.is_none() {
            return Ok(());
        }
        let path = path_of_open(thing)?;
        if is_nameless(&path) {
            return Ok(());
        }
        self.caller()?.check_mount(thing)?;
        if self.world_bounds()?.may_change(&path) { Ok(()) } else { Err(self.record_change_outside(&path)) }
    }
}
