//! Names that are removed, renamed and linked.

use std::ffi::{CStr, CString};
use std::os::fd::AsFd;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::super::caller_path::{CallerPath, PathStart, split_parent};
use super::super::name_creation::SyscallPathPair;
use super::super::pending_syscall::PendingSyscall;
use super::super::proc_links::{link_of, path_of_open};
use super::super::renames::is_alike;
use super::super::syscall_reply::SyscallReply;
use super::bounds::WorldBounds;
use super::permission::{name_exists, path_of_name};
use sys::LinkResolution;

/// `AT_EMPTY_PATH`
const EMPTY_PATH: i32 = 0x1000;
/// `AT_SYMLINK_FOLLOW`
const SYMLINK_FOLLOW: i32 = 0x400;

/// `unlink`, `rmdir`
pub(super) fn remove(
    asked: &mut PendingSyscall<'_>,
    descriptor: i32,
    at: usize,
    is_directory: bool,
) -> Result<SyscallReply, Errno> {
    let (base, name) = asked.resolve_path(descriptor, at)?.path().map_err(|_| Errno::EPERM)?;
    asked.check_caller()?;
    let (base, name) = split_parent(base, &name)?;
    let how = if is_directory { UnlinkatFlags::RemoveDir } else { UnlinkatFlags::NoRemoveDir };
    let Some(path) = path_of_name(&base, &name)? else {
        return Err(if is_directory { Errno::EINVAL } else { Errno::EISDIR });
    };
    if !asked.world_bounds()?.may_move(&path) {
        return Err(match sys::open_place(base.descriptor(), &name, false, LinkResolution::Texts) {
            // It would have failed without confinement, too.
            Err(errno) => errno,
            Ok(_) if is_directory && holds_more(asked.world_bounds()?, &path, NESTED) => Errno::ENOTEMPTY,
            Ok(_) => asked.record_change_outside(&path),
        });
    }
    unlinkat(base.descriptor(), name.as_c_str(), how).map(|()| SyscallReply::DONE)
}

/// The most directories one below another that are looked into.
const NESTED: u32 = 64;

/// Returns whether a directory that is kept in its place has an entry that its caller could have removed.
fn holds_more(bounds: &WorldBounds, directory: &Path, nested: u32) -> bool {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let has_more = |path: &Path| bounds.may_move(path) || (nested > 0 && holds_more(bounds, path, nested - 1));
    bounds.may_change(directory) && entries.map(|entry| entry.path()).any(|path| has_more(&path))
}

/// `rename`
pub(super) fn rename(asked: &mut PendingSyscall<'_>, two: &SyscallPathPair, flags: u32) -> Result<SyscallReply, Errno> {
    let (from, old) = asked.resolve_path(two.from.0, two.from.1)?.path()?;
    let (to, new) = asked.resolve_path(two.to.0, two.to.1)?.path()?;
    asked.check_caller()?;
    let ((from, old), (to, new)) = (split_parent(from, &old)?, split_parent(to, &new)?);
    let (source, target) = ((from.descriptor(), old.as_c_str()), (to.descriptor(), new.as_c_str()));
    if !name_exists(&from, &old) {
        return Err(Errno::ENOENT);
    }
    check_movable(asked, &from, &old)?;
    match check_movable(asked, &to, &new) {
        // Git rewrites its configuration to rename and remove branches, even if no branch is in it.
        Err(_) if flags == 0 && is_alike(source, target) => {
            unlinkat(source.0, source.1, UnlinkatFlags::NoRemoveDir)?;
            return Ok(SyscallReply::DONE);
        }
        judged => judged?,
    }
    asked.check_guards(&to, &new)?;
    sys::rename_file(source, target, flags)?;
    asked.left.note_move(&to, &new);
    if flags != 0 {
        asked.left.note_move(&from, &old);
    }
    Ok(SyscallReply::DONE)
}

/// Fails unless a name may be moved away, or another file may take its place.
fn check_movable(asked: &mut PendingSyscall<'_>, base: &PathStart, name: &CStr) -> Result<(), Errno> {
    let Some(path) = path_of_name(base, name)? else { return Err(Errno::EBUSY) };
    if asked.world_bounds()?.may_move(&path) { Ok(()) } else { Err(asked.record_change_outside(&path)) }
}

/// `link`
pub(super) fn link(asked: &mut PendingSyscall<'_>, two: &SyscallPathPair, flags: i32) -> Result<SyscallReply, Errno> {
    let old = asked.copy_string(two.from.1)?;
    let source = if flags & EMPTY_PATH != 0 && old.is_empty() && two.from.0 != libc::AT_FDCWD {
        CallerPath::Open(asked.caller()?.place_of_descriptor(two.from.0)?)
    } else {
        asked.place_of(two.from.0, old)?
    };
    let (base, path) = asked.resolve_path(two.to.0, two.to.1)?.path()?;
    asked.check_caller()?;
    let thing = match source {
        CallerPath::Open(thing) => thing,
        CallerPath::OwnProc(..) => return Err(Errno::EXDEV),
        CallerPath::Path(from, path) => open_source(&from, &path, flags & SYMLINK_FOLLOW != 0)?,
    };
    let (base, name): (PathStart, CString) = split_parent(base, &path)?;
    asked.judge_new(&base, &name)?;
    asked.check_guards(&base, &name)?;
    let source = path_of_open(thing.as_fd())?;
    // A second name would make the file writable there. It lies elsewhere, as on another file system.
    if !asked.world_bounds()?.may_change(&source) {
        return Err(Errno::EXDEV);
    }
    asked.remember_names(thing.as_fd(), &base);
    asked.left.note_appearance(&base, &name);
    let to = (base.descriptor(), name.as_c_str());
    sys::make_link((AT_FDCWD, &link_of(thing.as_fd())?), to, SYMLINK_FOLLOW).map(|()| SyscallReply::DONE)
}

fn open_source(from: &PathStart, path: &CStr, follow: bool) -> Result<std::os::fd::OwnedFd, Errno> {
    sys::open_place(from.descriptor(), path, follow, LinkResolution::Texts)
}
