//! Modes, owners, times, extended attributes and sizes of files.
//!
//! A path is opened as a place, judged, and changed through its link in `/proc`. The kernel gets a call only if it
//! names a descriptor that nobody else can exchange, for a file with one name.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{FchmodatFlags, Mode, UtimensatFlags, fchmodat, utimensat};
use nix::sys::time::TimeSpec;
use nix::unistd::{Gid, Uid};

use super::asked::Asked;
use super::caller::Caller;
use super::links::{link_of, shown};
use super::place::Place;
use super::reply::Reply;
use crate::filter::{Entry, Question, SET_GROUP};
use sys::{DIRECTORY, Follow};

/// `AT_EMPTY_PATH`
const EMPTY_PATH: i32 = 0x1000;
/// The longest value of an extended attribute, bytes.
const LONGEST: usize = 64 * 1024;

/// `AT_SYMLINK_NOFOLLOW`
pub(super) const NO_FOLLOW: i32 = 0x100;

/// Changes the file of a call.
pub(super) fn change(asked: &mut Asked<'_>, entry: &Entry) -> Result<Reply, Errno> {
    let base = |at: usize| if at == 0 { libc::AT_FDCWD } else { asked.int(0) };
    let (place, at, flags) = match entry.question {
        Question::Fchmod | Question::Descriptor => return of_descriptor(asked, entry),
        // Without a path, these calls change the file of the descriptor.
        Question::Times(1) | Question::TimesAt(1, _) if asked.call.args[1] == 0 => return of_descriptor(asked, entry),
        Question::Truncate | Question::Chmod => (libc::AT_FDCWD, 0, 0),
        Question::ChmodAt => (asked.int(0), 1, if entry.name == "fchmodat2" { asked.int(3) } else { 0 }),
        Question::File(at) | Question::Times(at) => (base(at), at, 0),
        Question::Itself(at) => (base(at), at, NO_FOLLOW),
        Question::FileAt(at, flags) | Question::TimesAt(at, flags) => (base(at), at, asked.int(flags)),
        _ => return Err(Errno::ENOSYS),
    };
    if flags & EMPTY_PATH != 0 && asked.text(at)?.is_empty() {
        return of_descriptor(asked, entry);
    }
    let act = act(asked, entry)?;
    let thing = named(asked, place, at, flags)?;
    asked.judge_change(thing.as_fd())?;
    let thing = asked.parted(thing)?;
    perform(asked, &thing, &act)
}

/// Changes the file of the descriptor that is the first argument.
fn of_descriptor(asked: &mut Asked<'_>, entry: &Entry) -> Result<Reply, Errno> {
    let act = act(asked, entry)?;
    if asked.shared.bounds.is_none() && !act.is_privileged() && is_alone(asked, asked.int(0)) {
        return Ok(Reply::CONTINUE);
    }
    let number = asked.int(0);
    let thing = asked.caller()?.place_of_descriptor(number)?;
    asked.check()?;
    asked.judge_change(thing.as_fd())?;
    asked.stay_here(thing.as_fd())?;
    perform(asked, &thing, &act)
}

/// Returns whether a descriptor of the caller is for a file with one name, and no other thread can exchange it.
fn is_alone(asked: &mut Asked<'_>, number: i32) -> bool {
    let thread = asked.call.thread;
    asked.caller().is_ok_and(Caller::is_alone)
        && asked.shared.callers.open_file(thread, number).is_some_and(|(_, file)| file.links < 2)
}

/// Opens the thing that a path names as a place.
pub(super) fn named(asked: &mut Asked<'_>, descriptor: i32, at: usize, flags: i32) -> Result<OwnedFd, Errno> {
    let follow = flags & NO_FOLLOW == 0;
    let path = asked.text(at)?;
    let thing = match asked.place_of(descriptor, path)? {
        Place::Path(base, path) => sys::open_place(base.descriptor(), &path, follow, Follow::Texts)
            .map_err(|errno| if asked.shared.bounds.is_none() { asked.refused(&base, &path, errno) } else { errno })?,
        Place::OwnProc(directory, path) => sys::open_place(directory.as_fd(), &path, follow, Follow::Texts)?,
        Place::Open(thing) => thing,
    };
    asked.check()?;
    Ok(thing)
}

fn perform(asked: &mut Asked<'_>, thing: &OwnedFd, act: &Act) -> Result<Reply, Errno> {
    // A directory may have the set-group-id bit, as shared repositories do; a program may not.
    if act.is_privileged() && !sys::file_status(thing.as_fd())?.is(DIRECTORY) {
        return Err(Errno::EPERM);
    }
    let done = act.perform(&link_of(thing.as_fd())?);
    if done == Err(Errno::EROFS) {
        let path = shown(thing.as_fd())?;
        asked.refuse(&path);
    }
    done.map(|()| Reply::DONE)
}

/// A change of a file, with the copied arguments of its call.
enum Act {
    Mode(u32),
    Size(i64),
    Own(u32, u32),
    Times([TimeSpec; 2]),
    Set(CString, Vec<u8>, i32),
    Remove(CString),
}

impl Act {
    fn is_privileged(&self) -> bool {
        matches!(self, Self::Mode(mode) if mode & SET_GROUP != 0)
    }

    /// Performs the change at a link of `/proc` to the open file.
    fn perform(&self, link: &CStr) -> Result<(), Errno> {
        match self {
            Self::Mode(mode) => fchmodat(AT_FDCWD, link, Mode::from_bits_truncate(*mode), FchmodatFlags::FollowSymlink),
            Self::Size(length) => nix::unistd::truncate(link, *length),
            // The number -1 means that an owner stays.
            Self::Own(user, group) => {
                let (user, group) = (Some(Uid::from_raw(*user)), Some(Gid::from_raw(*group)));
                nix::unistd::chown(link, user, group)
            }
            Self::Times([access, change]) => utimensat(AT_FDCWD, link, access, change, UtimensatFlags::FollowSymlink),
            Self::Set(name, value, flags) => sys::set_attribute_at(link, name, value, *flags),
            Self::Remove(name) => sys::remove_attribute_at(link, name),
        }
    }
}

/// Copies the arguments of a call.
fn act(asked: &mut Asked<'_>, entry: &Entry) -> Result<Act, Errno> {
    Ok(match entry.name {
        "chmod" | "fchmod" => Act::Mode(asked.unsigned(1)),
        "fchmodat" | "fchmodat2" => Act::Mode(asked.unsigned(2)),
        "truncate" => Act::Size(i64::from_ne_bytes(asked.call.args[1].to_ne_bytes())),
        "chown" | "lchown" | "fchown" => Act::Own(asked.unsigned(1), asked.unsigned(2)),
        "fchownat" => Act::Own(asked.unsigned(2), asked.unsigned(3)),
        "utime" => Act::Times(times(asked, 1, Unit::Seconds)?),
        "utimes" => Act::Times(times(asked, 1, Unit::Microseconds)?),
        "futimesat" => Act::Times(times(asked, 2, Unit::Microseconds)?),
        "utimensat" => Act::Times(times(asked, 2, Unit::Nanoseconds)?),
        "setxattr" | "lsetxattr" | "fsetxattr" => {
            let size = usize::try_from(asked.call.args[3]).unwrap_or(usize::MAX);
            if size > LONGEST {
                return Err(Errno::E2BIG);
            }
            Act::Set(asked.text(1)?, asked.bytes(2, size)?, asked.int(4))
        }
        "removexattr" | "lremovexattr" | "fremovexattr" => Act::Remove(asked.text(1)?),
        _ => return Err(Errno::ENOSYS),
    })
}

/// What the second number of a time counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// There is none.
    Seconds,
    Microseconds,
    Nanoseconds,
}

/// Copies two times from argument `at`. A null pointer means now.
fn times(asked: &mut Asked<'_>, at: usize, unit: Unit) -> Result<[TimeSpec; 2], Errno> {
    if asked.call.args[at] == 0 {
        return Ok([TimeSpec::new(0, libc::UTIME_NOW); 2]);
    }
    let count = if unit == Unit::Seconds { 2 } else { 4 };
    let bytes = asked.bytes(at, count * 8)?;
    let words: Vec<i64> =
        bytes.chunks_exact(8).filter_map(|word| word.try_into().ok().map(i64::from_ne_bytes)).collect();
    let time = |seconds: i64, parts: i64| match unit {
        Unit::Microseconds if !(0..1_000_000).contains(&parts) => Err(Errno::EINVAL),
        Unit::Microseconds => Ok(TimeSpec::new(seconds, parts * 1000)),
        _ => Ok(TimeSpec::new(seconds, parts)),
    };
    match words.as_slice() {
        [access, change] => Ok([time(*access, 0)?, time(*change, 0)?]),
        [access, parts, change, more] => Ok([time(*access, *parts)?, time(*change, *more)?]),
        _ => Err(Errno::EFAULT),
    }
}
