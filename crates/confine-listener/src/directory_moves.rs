//! Renames of directories in a draft: the kernel moves no directory that the lower layer of an overlay has, and answers
//! `EXDEV`.
//!
//! The directory is made anew under another name, and everything in it is moved there. It gets its new name last. If
//! something in it cannot be moved, all of it goes back.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, UtimensatFlags, fchmod, fstat, fstatat, utimensat};
use nix::sys::time::TimeSpec;
use nix::unistd::{Gid, Uid, UnlinkatFlags, fchown, unlinkat};

/// A name below a directory.
pub(super) type RenamePath<'a> = (BorrowedFd<'a>, &'a CStr);

/// The longest chain of directories that is moved.
const DEEPEST: usize = 256;

/// Returns whether a rename is that of a directory, on one file system.
pub(super) fn is_directory_move(from: RenamePath<'_>, to: RenamePath<'_>) -> bool {
    let device = |file: BorrowedFd<'_>| fstat(file).map(|data| data.st_dev);
    let is_directory = fstatat(from.0, from.1, AtFlags::AT_SYMLINK_NOFOLLOW)
        .is_ok_and(|data| data.st_mode & libc::S_IFMT == libc::S_IFDIR);
    is_directory && device(from.0).is_ok_and(|one| device(to.0) == Ok(one))
}

/// Moves a directory to a name, where an empty directory may be.
pub(super) fn move_directory(from: RenamePath<'_>, to: RenamePath<'_>) -> nix::Result<()> {
    match unlinkat(to.0, to.1, UnlinkatFlags::RemoveDir) {
        Err(Errno::ENOENT) | Ok(()) => {}
        Err(error) => return Err(error),
    }
    let between = CString::new(format!(".agent-bash-move-{}", sys::monotonic_ns())).expect("no NUL");
    let between = (to.0, between.as_c_str());
    let moved = move_into(from, between, DEEPEST).and_then(|()| sys::rename_file(between, to, 0));
    if moved.is_err() {
        let _left_between = move_back(between, from, DEEPEST);
    }
    moved
}

/// Moves the entries of a directory into another one, which may already have some of them, and removes the first one.
fn move_back(from: RenamePath<'_>, to: RenamePath<'_>, deepest: usize) -> nix::Result<()> {
    let (source, target) = (open_directory(from)?, open_directory(to)?);
    for name in names_in(&source)? {
        let (from, to) = ((source.as_fd(), name.as_c_str()), (target.as_fd(), name.as_c_str()));
        match sys::rename_file(from, to, sys::RENAME_NOREPLACE) {
            Err(Errno::EEXIST) if deepest > 0 => move_back(from, to, deepest - 1)?,
            renamed => renamed?,
        }
    }
    unlinkat(from.0, from.1, UnlinkatFlags::RemoveDir)
}

/// Makes a directory with everything that another one has, which then is gone.
fn move_into(from: RenamePath<'_>, to: RenamePath<'_>, deepest: usize) -> nix::Result<()> {
    let source = open_directory(from)?;
    let data = fstat(&source)?;
    sys::make_directory(to.0, to.1, 0o700)?;
    let target = open_directory(to)?;
    for name in names_in(&source)? {
        let (from, to) = ((source.as_fd(), name.as_c_str()), (target.as_fd(), name.as_c_str()));
        match sys::rename_file(from, to, 0) {
            Err(Errno::EXDEV) if deepest > 0 => move_into(from, to, deepest - 1)?,
            renamed => renamed?,
        }
    }
    let (old, new) = (path_of(from), path_of(to));
    for (name, value) in sys::attributes(&old).unwrap_or_default() {
        let _refused = sys::set_attribute(&new, &name, &value);
    }
    // Only root may give a directory away.
    let _same_owner = fchown(&target, Some(Uid::from_raw(data.st_uid)), Some(Gid::from_raw(data.st_gid)));
    fchmod(&target, Mode::from_bits_truncate(data.st_mode))?;
    unlinkat(from.0, from.1, UnlinkatFlags::RemoveDir)?;
    let (read, written) =
        (TimeSpec::new(data.st_atime, data.st_atime_nsec), TimeSpec::new(data.st_mtime, data.st_mtime_nsec));
    utimensat(to.0, to.1, &read, &written, UtimensatFlags::NoFollowSymlink)
}

fn path_of((base, name): RenamePath<'_>) -> PathBuf {
    sys::path_in(&base, OsStr::from_bytes(name.to_bytes()))
}

fn open_directory((base, name): RenamePath<'_>) -> nix::Result<OwnedFd> {
    openat(base, name, OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC, Mode::empty())
}

fn names_in(directory: &OwnedFd) -> nix::Result<Vec<CString>> {
    let mut entries = Dir::from_fd(openat(directory, c".", OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?)?;
    let is_own = |name: &CStr| name != c"." && name != c"..";
    let mut names = Vec::new();
    for entry in entries.iter() {
        let name = entry?.file_name().to_owned();
        if is_own(&name) {
            names.push(name);
        }
    }
    Ok(names)
}
