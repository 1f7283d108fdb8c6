//! Calls that remove names, and where Landlock alone bounds a command, those that change or create files. They are only
//! recorded. The kernel performs them and finds their bounds, so it does no harm if the path in the caller's memory has
//! changed since it was read here.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;

use super::caller_path::{CallerPath, PathStart, split_parent};
use super::pending_syscall::PendingSyscall;
use super::proc_links::path_of;
use super::syscall_reply::SyscallReply;
use sys::LinkResolution;

/// The object that a call changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangedObject {
    /// The contents of a file. A device on a read-only mount can be written.
    Contents,
    /// The directory that contains the file.
    Entry,
    /// The directory, if the file does not exist. Such changes are recorded where no mounts bound changes.
    Creation,
    /// The directory, whether the file exists or not. Such changes are recorded where no mounts bound changes.
    Replacement,
}

impl ChangedObject {
    fn is_of_directory(self) -> bool {
        matches!(self, Self::Entry | Self::Creation | Self::Replacement)
    }
}

/// Records a change that is about to fail.
pub(super) fn record_refused_change(
    asked: &mut PendingSyscall<'_>,
    descriptor: i32,
    at: usize,
    change: ChangedObject,
) -> Result<SyscallReply, Errno> {
    // The kernel reports an error here itself.
    let Ok(path) = asked.copy_string(at) else { return Ok(SyscallReply::CONTINUE) };
    // Write roots contain mount points that cannot be removed.
    if !change.is_of_directory() && is_plainly_allowed(asked, path.to_bytes()) {
        return Ok(SyscallReply::CONTINUE);
    }
    let place = asked.caller().and_then(|caller| CallerPath::of(caller, descriptor, path));
    if let Ok(CallerPath::Path(base, path)) = place
        && asked.check_caller().is_ok()
        && let Some(refused) = refused_path(asked, base, path, change)
    {
        asked.count_refused_change(&refused);
    }
    Ok(SyscallReply::CONTINUE)
}

/// Returns whether a path, by its text, may be changed. Links that lead elsewhere are not noticed.
fn is_plainly_allowed(asked: &PendingSyscall<'_>, path: &[u8]) -> bool {
    let path = Path::new(OsStr::from_bytes(path));
    let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    plain && path.is_absolute() && asked.shared.paths.may_change(path)
}

/// The most directories one below another that are looked into.
const NESTED: u32 = 64;

/// Returns whether a directory that is kept in its place has an entry that its caller could have removed. The removal
/// of the directory then fails without confinement, too, as git's does that tries to remove what may be empty.
fn holds_more(base: BorrowedFd<'_>, name: &CStr, nested: u32) -> bool {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let Ok(directory) = openat(base, name, flags, Mode::empty()) else { return false };
    let directory = directory.as_fd();
    let Ok(entries) = Dir::openat(directory, c".", flags, Mode::empty()) else { return false };
    let can_go = |name: &CStr| sys::is_mount_point(directory, name) == Ok(false);
    let has_more = |name: &CStr| can_go(name) || (nested > 0 && holds_more(directory, name, nested - 1));
    let is_entry = |name: &CStr| !matches!(name.to_bytes(), b"." | b"..");
    sys::is_read_only(directory) != Ok(true)
        && entries.into_iter().flatten().any(|entry| is_entry(entry.file_name()) && has_more(entry.file_name()))
}

/// Returns the path of a file or directory that the kernel will refuse to change.
fn refused_path(asked: &PendingSyscall<'_>, base: PathStart, path: CString, change: ChangedObject) -> Option<PathBuf> {
    let (base, path) = if change.is_of_directory() { split_parent(base, &path).ok()? } else { (base, path) };
    let place = if change.is_of_directory() {
        sys::open_place(base.descriptor(), c".", true, LinkResolution::Texts)
    } else {
        sys::open_place(base.descriptor(), &path, true, LinkResolution::Texts)
    };
    let place = match place {
        Ok(place) => place,
        // The path is hidden or lies below a hidden path.
        Err(Errno::EACCES) => {
            let path = asked.absolute_path(&base, &path);
            return (!asked.shared.paths.may_change(&path)).then_some(path);
        }
        Err(_) => return None,
    };
    let status = sys::file_status(place.as_fd()).ok()?;
    if change == ChangedObject::Contents && !(status.has_kind(sys::REGULAR) || status.has_kind(sys::DIRECTORY)) {
        return None;
    }
    let found = path_of(place.as_fd()).ok()?;
    let found = Path::new(OsStr::from_bytes(found.to_bytes()));
    if asked.shared.settings.mounts {
        let is_pinned = || {
            let is_mount = sys::is_mount_point(base.descriptor(), &path) == Ok(true);
            change == ChangedObject::Entry && is_mount && !holds_more(base.descriptor(), &path, NESTED)
        };
        if !sys::is_read_only(place.as_fd()).ok()? && !is_pinned() {
            return None;
        }
    } else if asked.shared.paths.may_change(found) {
        return None;
    }
    if !change.is_of_directory() {
        return Some(found.to_owned());
    }
    let exists = sys::open_place(base.descriptor(), &path, false, LinkResolution::Texts).is_ok();
    // These calls fail for another reason.
    let fails_anyway = (change == ChangedObject::Entry && !exists) || (change == ChangedObject::Creation && exists);
    (!fails_anyway).then(|| asked.absolute_path(&base, &path))
}
