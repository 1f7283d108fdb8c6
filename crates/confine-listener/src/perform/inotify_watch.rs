//! Watches.

use std::os::fd::AsFd;

use nix::errno::Errno;

use super::super::attributes::{NO_FOLLOW, open_named};
use super::super::pending_syscall::PendingSyscall;
use super::super::proc_links::{c_string, link_of, path_of_open};
use super::super::syscall_reply::SyscallReply;
use super::bounds;

/// `IN_DONT_FOLLOW`
const WATCH_LINK: u32 = 0x0200_0000;

/// `inotify_add_watch`, which shows the names of the files that change in a directory.
pub(super) fn watch(asked: &mut PendingSyscall<'_>) -> Result<SyscallReply, Errno> {
    let mask = asked.unsigned(2);
    let flags = if mask & WATCH_LINK == 0 { 0 } else { NO_FOLLOW };
    let number = asked.int(0);
    let watches = asked.caller()?.process.descriptor(number)?;
    let thing = open_named(asked, libc::AT_FDCWD, 1, flags)?;
    let path = path_of_open(thing.as_fd())?;
    if !bounds::is_nameless(&path) && !asked.world_bounds()?.may_read(&path) {
        return Err(Errno::EACCES);
    }
    let link = c_string(link_of(thing.as_fd())?.to_bytes())?;
    sys::add_watch(watches.as_fd(), &link, mask & !WATCH_LINK).map(|number| SyscallReply::value(number.into()))
}
