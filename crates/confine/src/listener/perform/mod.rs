//! What the listener performs in a world without mounts: whatever opens, changes or names a file.
//!
//! | file | what |
//! |---|---|
//! | `bounds` | what may be read and changed, by the paths of open things; pure |
//! | `places` | the places that paths mean |
//! | `open` | opens files for reading and writing, and makes new ones |
//! | `entries` | removes, renames and links names |
//! | `attributes` | modes, owners, times, extended attributes, sizes; watches |
//!
//! Each act copies its arguments once, resolves the path below directories that are open, judges the open thing by the
//! path that the kernel shows for it, and acts on that thing. Only a rename can change the path of an open directory,
//! and each rename is judged as well: it moves nothing into a hidden or a protected place, or out of one.

mod attributes;
mod bounds;
mod entries;
mod open;
mod places;

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::asked::Asked;
use super::caller::path_of;
use super::names::Two;
use super::place::{Base, last};
use super::reply::Reply;
use crate::filter::{Entry, Question};
use sys::Follow;

pub(super) use bounds::Bounds;
pub(super) use places::place;

const AT_FDCWD: i32 = libc::AT_FDCWD;
/// `AT_SYMLINK_NOFOLLOW`
const NO_FOLLOW: i32 = 0x100;
/// `AT_REMOVEDIR`
const REMOVE_DIRECTORY: i32 = 0x200;
/// The flags of `creat`.
const CREAT: i32 = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

/// Performs a call. `None`: the call is answered as in a world with mounts.
pub(super) fn reply(asked: &mut Asked<'_>, entry: &Entry) -> Option<Result<Reply, Errno>> {
    let two = |from, to| Two { from, to };
    let flags = |at: usize| asked.int(at);
    Some(match entry.question {
        Question::OpenAt => open::open(asked, asked.int(0), 1, asked.int(2), asked.unsigned(3)),
        Question::Open => open::open(asked, AT_FDCWD, 0, asked.int(1), asked.unsigned(2)),
        Question::Creat => open::open(asked, AT_FDCWD, 0, CREAT, asked.unsigned(1)),
        Question::Link => entries::link(asked, &two((AT_FDCWD, 0), (AT_FDCWD, 1)), 0),
        Question::LinkAt => entries::link(asked, &two((asked.int(0), 1), (asked.int(2), 3)), asked.int(4)),
        Question::Rename => entries::rename(asked, &two((AT_FDCWD, 0), (AT_FDCWD, 1)), 0),
        Question::RenameAt => {
            let flags = if entry.name == "renameat2" { asked.unsigned(4) } else { 0 };
            entries::rename(asked, &two((asked.int(0), 1), (asked.int(2), 3)), flags)
        }
        Question::Entry(0) => entries::remove(asked, AT_FDCWD, 0, entry.name == "rmdir"),
        Question::Entry(at) => entries::remove(asked, asked.int(0), at, flags(2) & REMOVE_DIRECTORY != 0),
        Question::Truncate => attributes::truncate(asked),
        Question::Chmod => attributes::mode(asked, (AT_FDCWD, 0), 1, 0),
        Question::ChmodAt => {
            let flags = if entry.name == "fchmodat2" { flags(3) } else { 0 };
            attributes::mode(asked, (asked.int(0), 1), 2, flags)
        }
        Question::Fchmod => attributes::mode_of_descriptor(asked),
        Question::Watch => attributes::watch(asked),
        Question::File(_)
        | Question::Itself(_)
        | Question::FileAt(..)
        | Question::Times(_)
        | Question::TimesAt(..)
        | Question::Descriptor => attributes::of_entry(asked, entry),
        _ => return None,
    })
}

/// Returns the path of an open thing, as the kernel shows it.
fn shown(thing: BorrowedFd<'_>) -> Result<PathBuf, Errno> {
    Ok(PathBuf::from(OsStr::from_bytes(path_of(thing)?.to_bytes())))
}

/// Returns the path of a name in a directory. `None`: the name is the directory itself, or the one above it.
fn named(directory: &Base, name: &CStr) -> Result<Option<PathBuf>, Errno> {
    let (_, bare) = last(name);
    if matches!(bare, b"" | b"." | b"..") {
        return Ok(None);
    }
    let above = match directory {
        Base::Root => PathBuf::from("/"),
        Base::Directory(directory) => shown(directory.as_fd())?,
    };
    Ok(Some(above.join(OsStr::from_bytes(bare))))
}

/// Returns whether a name exists.
fn exists(directory: &Base, name: &CStr) -> bool {
    sys::open_place(directory.descriptor(), name, false, Follow::Texts).is_ok()
}

impl Asked<'_> {
    fn bounds(&self) -> Result<&Bounds, Errno> {
        self.shared.bounds.as_ref().ok_or(Errno::EACCES)
    }

    /// Records a refused change, and returns its error: that of a read-only mount, or of a name that must not be made.
    fn outside(&mut self, path: &Path) -> Errno {
        let is_guarded = self.bounds().is_ok_and(|bounds| bounds.is_in_root(path)) && path.symlink_metadata().is_err();
        self.refuse(path);
        if is_guarded { Errno::EACCES } else { Errno::EROFS }
    }

    /// Fails unless a name may be created in a directory, whether it exists or not.
    pub(super) fn judge_new(&mut self, directory: &Base, name: &CStr) -> Result<(), Errno> {
        let Some(path) = named(directory, name)? else { return Err(Errno::EEXIST) };
        if self.bounds()?.may_change(&path) {
            return Ok(());
        }
        // The call would have failed without confinement, too.
        if exists(directory, name) { Err(Errno::EEXIST) } else { Err(self.outside(&path)) }
    }

    /// Fails unless an open thing may be changed.
    fn judge_change(&mut self, thing: BorrowedFd<'_>) -> Result<(), Errno> {
        let path = shown(thing)?;
        if bounds::is_nameless(&path) {
            return Ok(());
        }
        self.caller()?.check_mount(thing)?;
        if self.bounds()?.may_change(&path) { Ok(()) } else { Err(self.outside(&path)) }
    }
}
