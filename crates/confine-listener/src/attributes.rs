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

use super::caller::CallerThread;
use super::caller_path::CallerPath;
use super::pending_syscall::PendingSyscall;
use super::proc_links::{link_of, path_of_open};
use super::syscall_reply::SyscallReply;
use confine_world::{filter::SET_GROUP, filter::SyscallEntry, filter::SyscallHandling};
use sys::{DIRECTORY, LinkResolution};

/// `AT_EMPTY_PATH`
const EMPTY_PATH: i32 = 0x1000;
/// The longest value of an extended attribute, bytes.
const LONGEST: usize = 64 * 1024;

/// `AT_SYMLINK_NOFOLLOW`
pub(super) const NO_FOLLOW: i32 = 0x100;

/// Changes the file of a call.
pub(super) fn change_attributes(asked: &mut PendingSyscall<'_>, entry: &SyscallEntry) -> Result<SyscallReply, Errno> {
    let base = |at: usize| if at == 0 { libc::AT_FDCWD } else { asked.int(0) };
    let (place, at, flags) = match entry.handling {
        SyscallHandling::Fchmod | SyscallHandling::Descriptor => return of_descriptor(asked, entry),
        // Without a path, these calls change the file of the descriptor.
        SyscallHandling::Times(1) | SyscallHandling::TimesAt(1, _) if asked.call.args[1] == 0 => {
            return of_descriptor(asked, entry);
        }
        SyscallHandling::Truncate | SyscallHandling::Chmod => (libc::AT_FDCWD, 0, 0),
        SyscallHandling::ChmodAt => (asked.int(0), 1, if entry.name == "fchmodat2" { asked.int(3) } else { 0 }),
        SyscallHandling::File(at) | SyscallHandling::Times(at) => (base(at), at, 0),
        SyscallHandling::Itself(at) => (base(at), at, NO_FOLLOW),
        SyscallHandling::FileAt(at, flags) | SyscallHandling::TimesAt(at, flags) => (base(at), at, asked.int(flags)),
        _ => return Err(Errno::ENOSYS),
    };
    if flags & EMPTY_PATH != 0 && asked.copy_string(at)?.is_empty() {
        return of_descriptor(asked, entry);
    }
    let act = copy_change(asked, entry)?;
    let thing = open_named(asked, place, at, flags)?;
    asked.judge_change(thing.as_fd())?;
    let thing = asked.file_to_change(thing)?;
    apply_to_file(asked, &thing, &act)
}

/// Changes the file of the descriptor that is the first argument.
fn of_descriptor(asked: &mut PendingSyscall<'_>, entry: &SyscallEntry) -> Result<SyscallReply, Errno> {
    let act = copy_change(asked, entry)?;
    if asked.shared.bounds.is_none() && !act.is_privileged() && is_alone(asked, asked.int(0)) {
        return Ok(SyscallReply::CONTINUE);
    }
    let number = asked.int(0);
    let thing = asked.caller()?.place_of_descriptor(number)?;
    asked.check_caller()?;
    asked.judge_change(thing.as_fd())?;
    asked.stay_here(thing.as_fd())?;
    apply_to_file(asked, &thing, &act)
}

/// Returns whether a descriptor of the caller is for a file with one name, and no other thread can exchange it.
fn is_alone(asked: &mut PendingSyscall<'_>, number: i32) -> bool {
    let thread = asked.call.thread;
    asked.caller().is_ok_and(CallerThread::is_alone)
        && asked.shared.callers.open_file(thread, number).is_some_and(|(_, file)| file.links < 2)
}

/// Opens the thing that a path names as a place.
pub(super) fn open_named(
    asked: &mut PendingSyscall<'_>,
    descriptor: i32,
    at: usize,
    flags: i32,
) -> Result<OwnedFd, Errno> {
    let follow = flags & NO_FOLLOW == 0;
    let path = asked.copy_string(at)?;
    let thing = match asked.place_of(descriptor, path)? {
        CallerPath::Path(base, path) => sys::open_place(base.descriptor(), &path, follow, LinkResolution::Texts)
            .map_err(|errno| {
                if asked.shared.bounds.is_none() { asked.record_failed_change(&base, &path, errno) } else { errno }
            })?,
        CallerPath::OwnProc(directory, path) => {
            sys::open_place(directory.as_fd(), &path, follow, LinkResolution::Texts)?
        }
        CallerPath::Open(thing) => thing,
    };
    asked.check_caller()?;
    Ok(thing)
}

fn apply_to_file(
    asked: &mut PendingSyscall<'_>,
    thing: &OwnedFd,
    act: &AttributeChange,
) -> Result<SyscallReply, Errno> {
    // A directory may have the set-group-id bit, as shared repositories do; a program may not.
    if act.is_privileged() && !sys::file_status(thing.as_fd())?.has_kind(DIRECTORY) {
        return Err(Errno::EPERM);
    }
    let done = act.apply_at_link(&link_of(thing.as_fd())?);
    if done == Err(Errno::EROFS) {
        let path = path_of_open(thing.as_fd())?;
        asked.count_refused_change(&path);
    }
    done.map(|()| SyscallReply::DONE)
}

/// A change of a file, with the copied arguments of its call.
enum AttributeChange {
    Mode(u32),
    Size(i64),
    Own(u32, u32),
    Times([TimeSpec; 2]),
    Set(CString, Vec<u8>, i32),
    Remove(CString),
}

impl AttributeChange {
    fn is_privileged(&self) -> bool {
        matches!(self, Self::Mode(mode) if mode & SET_GROUP != 0)
    }

    /// Performs the change at a link of `/proc` to the open file.
    fn apply_at_link(&self, link: &CStr) -> Result<(), Errno> {
        match self {
            Self::Mode(mode) => {
                fchmodat(AT_FDCWD, link, Mode::from_bits_truncate(*mode as _), FchmodatFlags::FollowSymlink)
            }
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
fn copy_change(asked: &mut PendingSyscall<'_>, entry: &SyscallEntry) -> Result<AttributeChange, Errno> {
    Ok(match entry.name {
        "chmod" | "fchmod" => AttributeChange::Mode(asked.unsigned(1)),
        "fchmodat" | "fchmodat2" => AttributeChange::Mode(asked.unsigned(2)),
        "truncate" => AttributeChange::Size(i64::from_ne_bytes(asked.call.args[1].to_ne_bytes())),
        "chown" | "lchown" | "fchown" => AttributeChange::Own(asked.unsigned(1), asked.unsigned(2)),
        "fchownat" => AttributeChange::Own(asked.unsigned(2), asked.unsigned(3)),
        "utime" => AttributeChange::Times(copy_times(asked, 1, FileTimeUnit::Seconds)?),
        "utimes" => AttributeChange::Times(copy_times(asked, 1, FileTimeUnit::Microseconds)?),
        "futimesat" => AttributeChange::Times(copy_times(asked, 2, FileTimeUnit::Microseconds)?),
        "utimensat" => AttributeChange::Times(copy_times(asked, 2, FileTimeUnit::Nanoseconds)?),
        "setxattr" | "lsetxattr" | "fsetxattr" => {
            let size = usize::try_from(asked.call.args[3]).unwrap_or(usize::MAX);
            if size > LONGEST {
                return Err(Errno::E2BIG);
            }
            AttributeChange::Set(asked.copy_string(1)?, asked.copy_bytes(2, size)?, asked.int(4))
        }
        "removexattr" | "lremovexattr" | "fremovexattr" => AttributeChange::Remove(asked.copy_string(1)?),
        _ => return Err(Errno::ENOSYS),
    })
}

/// What the second number of a time counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileTimeUnit {
    /// There is none.
    Seconds,
    Microseconds,
    Nanoseconds,
}

/// Copies two times from argument `at`. A null pointer means now.
fn copy_times(asked: &mut PendingSyscall<'_>, at: usize, unit: FileTimeUnit) -> Result<[TimeSpec; 2], Errno> {
    if asked.call.args[at] == 0 {
        return Ok([TimeSpec::new(0, libc::UTIME_NOW); 2]);
    }
    let count = if unit == FileTimeUnit::Seconds { 2 } else { 4 };
    let bytes = asked.copy_bytes(at, count * 8)?;
    let words: Vec<i64> =
        bytes.chunks_exact(8).filter_map(|word| word.try_into().ok().map(i64::from_ne_bytes)).collect();
    let time = |seconds: i64, parts: i64| match unit {
        FileTimeUnit::Microseconds if !(0..1_000_000).contains(&parts) => Err(Errno::EINVAL),
        FileTimeUnit::Microseconds => Ok(TimeSpec::new(seconds, parts * 1000)),
        _ => Ok(TimeSpec::new(seconds, parts)),
    };
    match words.as_slice() {
        [access, change] => Ok([time(*access, 0)?, time(*change, 0)?]),
        [access, parts, change, more] => Ok([time(*access, *parts)?, time(*change, *more)?]),
        _ => Err(Errno::EFAULT),
    }
}
