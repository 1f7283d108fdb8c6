//! `rename`.

use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::caller_path::{PathStart, split_parent};
use super::directory_moves::{self, RenamePath};
use super::name_creation::{SyscallPathPair, creation_reply};
use super::pending_syscall::PendingSyscall;
use super::syscall_reply::SyscallReply;
use sys::{LinkResolution, REGULAR};

/// The largest file that is compared, bytes.
const COMPARED: u64 = 1 << 20;

/// `rename`. With `RENAME_EXCHANGE` both names are new, so both are checked.
pub(super) fn rename(asked: &mut PendingSyscall<'_>, two: &SyscallPathPair, flags: u32) -> Result<SyscallReply, Errno> {
    let (from, old) = asked.resolve_path(two.from.0, two.from.1)?.path()?;
    let (base, path) = asked.resolve_path(two.to.0, two.to.1)?.path()?;
    asked.check_caller()?;
    let (from, old) = split_parent(from, &old)?;
    let (base, name) = asked.creation_target(base, &path)?;
    if flags != 0 {
        asked.check_guards(&from, &old)?;
    }
    let (source, target) = ((from.descriptor(), old.as_c_str()), (base.descriptor(), name.as_c_str()));
    let renamed = match sys::rename_file(source, target, flags) {
        Err(Errno::EXDEV)
            if flags & !sys::RENAME_NOREPLACE == 0
                && asked.shared.paths.is_drafted(&asked.absolute_path(&from, &old))
                && directory_moves::is_directory_move(source, target) =>
        {
            directory_moves::move_directory(source, target)
        }
        renamed => renamed,
    };
    match renamed {
        Err(Errno::EBUSY) if flags == 0 && changes_nothing(source, target) => {
            unlinkat(source.0, source.1, UnlinkatFlags::NoRemoveDir)?;
            Ok(SyscallReply::DONE)
        }
        Err(Errno::EBUSY) => Err(record_mount_point(asked, &[(&base, &name), (&from, &old)])),
        // The reason may be on either side.
        Err(Errno::EROFS) => {
            let side = if is_read_only(&from) { (&from, &old) } else { (&base, &name) };
            Err(asked.record_failed_change(side.0, side.1, Errno::EROFS))
        }
        renamed => {
            asked.left.note_move(&base, &name);
            if flags != 0 {
                asked.left.note_move(&from, &old);
            }
            creation_reply(asked, &base, &name, renamed)
        }
    }
}

fn is_read_only(base: &PathStart) -> bool {
    sys::is_read_only(base.descriptor()).unwrap_or(false)
}

/// Records the name that is a mount point, because it or a path below it is protected. Returns the error that programs
/// expect for a mount point.
fn record_mount_point(asked: &mut PendingSyscall<'_>, sides: &[(&PathStart, &CString)]) -> Errno {
    for (base, name) in sides {
        if sys::is_mount_point(base.descriptor(), name).unwrap_or(false) {
            let path = asked.absolute_path(base, name);
            asked.count_refused_change(&path);
            let place = sys::open_place(base.descriptor(), name, false, LinkResolution::Texts);
            let is_read_only = place.is_ok_and(|place| sys::is_read_only(place.as_fd()) == Ok(true));
            return if is_read_only { Errno::EROFS } else { Errno::EACCES };
        }
    }
    Errno::EBUSY
}

/// Returns whether a file would replace a protected file with equal content. Git rewrites its configuration to rename
/// and remove branches, even if no branch is in it.
fn changes_nothing(source: RenamePath<'_>, target: RenamePath<'_>) -> bool {
    sys::is_mount_point(target.0, target.1) == Ok(true) && is_alike(source, target)
}

/// Returns whether two small files have equal content.
pub(super) fn is_alike(source: RenamePath<'_>, target: RenamePath<'_>) -> bool {
    small_file_content(target).is_some_and(|old| small_file_content(source).is_some_and(|new| new == old))
}

/// Returns the content of a small regular file.
fn small_file_content((base, name): RenamePath<'_>) -> Option<Vec<u8>> {
    let place = sys::open_place(base, name, false, LinkResolution::Texts).ok()?;
    if !sys::file_status(place.as_fd()).ok()?.has_kind(REGULAR) {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::from(PendingSyscall::reopen(place.as_fd(), OFlag::O_RDONLY.bits()).ok()?);
    file.take(COMPARED + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= COMPARED).then_some(bytes)
}
