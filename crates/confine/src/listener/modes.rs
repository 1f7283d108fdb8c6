//! Permissions. A directory may have the set-group-id bit, as shared repositories do; a program may not.

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{FchmodatFlags, Mode, fchmod, fchmodat};

use super::asked::Asked;
use super::changes::{self, Change};
use super::links::link_of;
use super::reply::Reply;
use crate::filter::SET_GROUP;
use sys::{DIRECTORY, Follow};

/// `chmod`, with the arguments of its path and its mode.
pub(super) fn of_path(asked: &mut Asked<'_>, descriptor: i32, at: usize, mode: usize) -> Result<Reply, Errno> {
    let mode = asked.unsigned(mode);
    if mode & SET_GROUP == 0 {
        return changes::record(asked, descriptor, at, Change::File);
    }
    let (base, path) = asked.place(descriptor, at)?.path().map_err(|_| Errno::EPERM)?;
    asked.check()?;
    let place = sys::open_place(base.descriptor(), &path, true, Follow::Texts)?;
    if !sys::file_status(place.as_fd())?.is(DIRECTORY) {
        return Err(Errno::EPERM);
    }
    let mode = Mode::from_bits_truncate(mode as _);
    match fchmodat(AT_FDCWD, link_of(place.as_fd())?.as_c_str(), mode, FchmodatFlags::FollowSymlink) {
        Ok(()) => Ok(Reply::DONE),
        Err(errno) => Err(asked.refused(&base, &path, errno)),
    }
}

/// `fchmod`
pub(super) fn of_descriptor(asked: &mut Asked<'_>) -> Result<Reply, Errno> {
    let number = asked.int(0);
    let mode = Mode::from_bits_truncate(asked.unsigned(1) as _);
    let file = asked.caller()?.process.descriptor(number)?;
    asked.check()?;
    if !sys::file_status(file.as_fd())?.is(DIRECTORY) {
        return Err(Errno::EPERM);
    }
    fchmod(&file, mode).map(|()| Reply::DONE)
}
