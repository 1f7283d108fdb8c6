//! Modes, owners, times, extended attributes and sizes of files; watches.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{FchmodatFlags, Mode, UtimensatFlags, fchmodat, utimensat};
use nix::sys::time::TimeSpec;
use nix::unistd::{Gid, Uid};

use super::super::asked::Asked;
use super::super::links::{link_of, text};
use super::super::place::Place;
use super::super::reply::Reply;
use super::bounds;
use super::judge::{NO_FOLLOW, shown};
use crate::filter::{Entry, Question, SET_GROUP};
use sys::{DIRECTORY, Follow};

/// `AT_EMPTY_PATH`
const EMPTY_PATH: i32 = 0x1000;
/// The longest value of an extended attribute, bytes.
const LONGEST: usize = 64 * 1024;

/// Opens the thing that a path names as a place.
fn named(asked: &mut Asked<'_>, descriptor: i32, at: usize, flags: i32) -> Result<OwnedFd, Errno> {
    let path = asked.text(at)?;
    if path.is_empty() && flags & EMPTY_PATH != 0 {
        return open(asked, descriptor);
    }
    let follow = flags & NO_FOLLOW == 0;
    let thing = match asked.place_of(descriptor, path)? {
        Place::Path(base, path) => sys::open_place(base.descriptor(), &path, follow, Follow::Texts)?,
        Place::OwnProc(directory, path) => sys::open_place(directory.as_fd(), &path, follow, Follow::Texts)?,
        Place::Open(thing) => thing,
    };
    asked.check()?;
    Ok(thing)
}

/// Opens the thing of a descriptor as a place.
fn open(asked: &mut Asked<'_>, descriptor: i32) -> Result<OwnedFd, Errno> {
    let thing = asked.caller()?.place_of_descriptor(descriptor)?;
    asked.check()?;
    Ok(thing)
}

/// `chmod`
pub(super) fn mode(asked: &mut Asked<'_>, path: (i32, usize), mode: usize, flags: i32) -> Result<Reply, Errno> {
    let mode = asked.unsigned(mode);
    let thing = named(asked, path.0, path.1, flags)?;
    set_mode(asked, &thing, mode)
}

/// `fchmod`
pub(super) fn mode_of_descriptor(asked: &mut Asked<'_>) -> Result<Reply, Errno> {
    let thing = open(asked, asked.int(0))?;
    set_mode(asked, &thing, asked.unsigned(1))
}

fn set_mode(asked: &mut Asked<'_>, thing: &OwnedFd, mode: u32) -> Result<Reply, Errno> {
    asked.judge_change(thing.as_fd())?;
    // A directory may have the set-group-id bit, as shared repositories do; a program may not.
    if mode & SET_GROUP != 0 && !sys::file_status(thing.as_fd())?.is(DIRECTORY) {
        return Err(Errno::EPERM);
    }
    let mode = Mode::from_bits_truncate(mode as _);
    fchmodat(AT_FDCWD, link_of(thing.as_fd())?.as_c_str(), mode, FchmodatFlags::FollowSymlink).map(|()| Reply::DONE)
}

/// `truncate`
pub(super) fn truncate(asked: &mut Asked<'_>) -> Result<Reply, Errno> {
    let thing = named(asked, libc::AT_FDCWD, 0, 0)?;
    asked.judge_change(thing.as_fd())?;
    let length = i64::from_ne_bytes(asked.call.args[1].to_ne_bytes());
    nix::unistd::truncate(link_of(thing.as_fd())?.as_c_str(), length).map(|()| Reply::DONE)
}

/// Owners, times and extended attributes.
pub(super) fn of_entry(asked: &mut Asked<'_>, entry: &Entry) -> Result<Reply, Errno> {
    let thing = match entry.question {
        Question::Descriptor => open(asked, asked.int(0))?,
        // Without a path, these calls change the file of the descriptor.
        Question::Times(1) | Question::TimesAt(1, _) if asked.call.args[1] == 0 => open(asked, asked.int(0))?,
        Question::File(at) | Question::Times(at) => named(asked, base(asked, at), at, 0)?,
        Question::Itself(at) => named(asked, base(asked, at), at, NO_FOLLOW)?,
        Question::FileAt(at, flags) | Question::TimesAt(at, flags) => {
            named(asked, base(asked, at), at, asked.int(flags))?
        }
        _ => return Err(Errno::ENOSYS),
    };
    let act = act(asked, entry.name)?;
    asked.judge_change(thing.as_fd())?;
    let link = link_of(thing.as_fd())?;
    act.perform(&link).map(|()| Reply::DONE)
}

fn base(asked: &Asked<'_>, at: usize) -> i32 {
    if at == 0 { libc::AT_FDCWD } else { asked.int(0) }
}

/// A change of a file, with the copied arguments of its call.
enum Act {
    Own(u32, u32),
    Times([TimeSpec; 2]),
    Set(CString, Vec<u8>, i32),
    Remove(CString),
}

impl Act {
    /// Performs the change at a link of `/proc` to the open file.
    fn perform(&self, link: &CStr) -> Result<(), Errno> {
        match self {
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
fn act(asked: &mut Asked<'_>, name: &str) -> Result<Act, Errno> {
    Ok(match name {
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

/// `IN_DONT_FOLLOW`
const WATCH_LINK: u32 = 0x0200_0000;

/// `inotify_add_watch`, which shows the names of the files that change in a directory.
pub(super) fn watch(asked: &mut Asked<'_>) -> Result<Reply, Errno> {
    let mask = asked.unsigned(2);
    let flags = if mask & WATCH_LINK == 0 { 0 } else { NO_FOLLOW };
    let number = asked.int(0);
    let watches = asked.caller()?.process.descriptor(number)?;
    let thing = named(asked, libc::AT_FDCWD, 1, flags)?;
    let path = shown(thing.as_fd())?;
    if !bounds::is_nameless(&path) && !asked.bounds()?.may_read(&path) {
        return Err(Errno::EACCES);
    }
    let link = text(link_of(thing.as_fd())?.to_bytes())?;
    sys::add_watch(watches.as_fd(), &link, mask & !WATCH_LINK).map(|number| Reply::value(number.into()))
}
