//! Calls that create a name without opening a file: directories, nodes, links.

use std::ffi::CStr;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;

use super::caller_path::{CallerPath, PathStart};
use super::pending_syscall::PendingSyscall;
use super::proc_links::link_of;
use super::syscall_reply::SyscallReply;
use sys::LinkResolution;

/// `mkdir`
pub(super) fn create_directory(
    asked: &mut PendingSyscall<'_>,
    descriptor: i32,
    at: usize,
    mode: u32,
) -> Result<SyscallReply, Errno> {
    let (base, path) = asked.resolve_path(descriptor, at)?.path()?;
    asked.take_umask()?;
    asked.check_caller()?;
    let (base, name) = asked.creation_target(base, &path)?;
    let made = sys::make_directory(base.descriptor(), &name, mode & 0o1777);
    if made.is_ok() {
        asked.left.note_made_directory(&base, &name);
    }
    creation_reply(asked, &base, &name, made)
}

/// `mknod`
pub(super) fn node(
    asked: &mut PendingSyscall<'_>,
    descriptor: i32,
    at: usize,
    mode: u32,
) -> Result<SyscallReply, Errno> {
    let device = asked.call.args[at + 2];
    let (base, path) = asked.resolve_path(descriptor, at)?.path()?;
    asked.take_umask()?;
    asked.check_caller()?;
    let (base, name) = asked.creation_target(base, &path)?;
    creation_reply(asked, &base, &name, sys::make_node(base.descriptor(), &name, mode, device))
}

/// `symlink`
pub(super) fn symlink(
    asked: &mut PendingSyscall<'_>,
    text: usize,
    descriptor: i32,
    at: usize,
) -> Result<SyscallReply, Errno> {
    let text = asked.copy_string(text)?;
    let (base, path) = asked.resolve_path(descriptor, at)?.path()?;
    asked.check_caller()?;
    let (base, name) = asked.creation_target(base, &path)?;
    creation_reply(asked, &base, &name, sys::make_symlink(&text, base.descriptor(), &name))
}

/// The two paths of a call, each as the descriptor that it starts at and the index of an argument.
pub(super) struct SyscallPathPair {
    pub from: (i32, usize),
    pub to: (i32, usize),
}

/// `AT_EMPTY_PATH`
const EMPTY_PATH: i32 = 0x1000;
/// `AT_SYMLINK_FOLLOW`
const SYMLINK_FOLLOW: i32 = 0x400;

/// `link`
pub(super) fn link(asked: &mut PendingSyscall<'_>, two: &SyscallPathPair, flags: i32) -> Result<SyscallReply, Errno> {
    let old = asked.copy_string(two.from.1)?;
    let open = flags & EMPTY_PATH != 0 && old.is_empty() && two.from.0 != libc::AT_FDCWD;
    let from = if open {
        CallerPath::Open(asked.caller()?.process.descriptor(two.from.0)?)
    } else {
        CallerPath::of(asked.caller()?, two.from.0, old)?
    };
    let (base, path) = asked.resolve_path(two.to.0, two.to.1)?.path()?;
    asked.check_caller()?;
    let (base, name) = asked.creation_target(base, &path)?;
    let to = (base.descriptor(), name.as_c_str());
    let made = match &from {
        // This is how a file without a name gets a name.
        CallerPath::Open(file) if flags & SYMLINK_FOLLOW != 0 => {
            sys::make_link((AT_FDCWD, &link_of(file.as_fd())?), to, SYMLINK_FOLLOW)
        }
        CallerPath::Open(file) if open => sys::make_link((file.as_fd(), c""), to, EMPTY_PATH),
        CallerPath::Open(_) | CallerPath::OwnProc(..) => Err(Errno::EXDEV),
        CallerPath::Path(from, path) => {
            // The kernel would follow a link of `/proc` to files that only the listener may reach.
            let from = sys::open_place(from.descriptor(), path, flags & SYMLINK_FOLLOW != 0, LinkResolution::Texts)?;
            asked.remember_names(from.as_fd(), &base);
            sys::make_link((AT_FDCWD, &link_of(from.as_fd())?), to, SYMLINK_FOLLOW)
        }
    };
    creation_reply(asked, &base, &name, made)
}

/// Returns the answer to a call that creates a name.
pub(super) fn creation_reply(
    asked: &mut PendingSyscall<'_>,
    base: &PathStart,
    name: &CStr,
    made: nix::Result<()>,
) -> Result<SyscallReply, Errno> {
    match made {
        Ok(()) => Ok(SyscallReply::DONE),
        Err(errno) => Err(asked.record_failed_change(base, name, errno)),
    }
}
