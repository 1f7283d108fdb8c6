//! Calls that create a name without opening a file: directories, nodes, links.

use std::ffi::CStr;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;

use super::asked::Asked;
use super::links::link_of;
use super::place::{Base, Place};
use super::reply::Reply;
use sys::Follow;

/// `mkdir`
pub(super) fn directory(asked: &mut Asked<'_>, descriptor: i32, at: usize, mode: u32) -> Result<Reply, Errno> {
    let (base, path) = asked.place(descriptor, at)?.path()?;
    asked.take_umask()?;
    asked.check()?;
    let (base, name) = asked.creation(base, &path)?;
    let made = sys::make_directory(base.descriptor(), &name, mode & 0o1777);
    if made.is_ok() {
        asked.left.makes(&base, &name);
    }
    done(asked, &base, &name, made)
}

/// `mknod`
pub(super) fn node(asked: &mut Asked<'_>, descriptor: i32, at: usize, mode: u32) -> Result<Reply, Errno> {
    let device = asked.call.args[at + 2];
    let (base, path) = asked.place(descriptor, at)?.path()?;
    asked.take_umask()?;
    asked.check()?;
    let (base, name) = asked.creation(base, &path)?;
    done(asked, &base, &name, sys::make_node(base.descriptor(), &name, mode, device))
}

/// `symlink`
pub(super) fn symlink(asked: &mut Asked<'_>, text: usize, descriptor: i32, at: usize) -> Result<Reply, Errno> {
    let text = asked.text(text)?;
    let (base, path) = asked.place(descriptor, at)?.path()?;
    asked.check()?;
    let (base, name) = asked.creation(base, &path)?;
    done(asked, &base, &name, sys::make_symlink(&text, base.descriptor(), &name))
}

/// The two paths of a call, each as the descriptor that it starts at and the index of an argument.
pub(super) struct Two {
    pub from: (i32, usize),
    pub to: (i32, usize),
}

/// `AT_EMPTY_PATH`
const EMPTY_PATH: i32 = 0x1000;
/// `AT_SYMLINK_FOLLOW`
const SYMLINK_FOLLOW: i32 = 0x400;

/// `link`
pub(super) fn link(asked: &mut Asked<'_>, two: &Two, flags: i32) -> Result<Reply, Errno> {
    let old = asked.text(two.from.1)?;
    let open = flags & EMPTY_PATH != 0 && old.is_empty() && two.from.0 != libc::AT_FDCWD;
    let from = if open {
        Place::Open(asked.caller()?.process.descriptor(two.from.0)?)
    } else {
        Place::of(asked.caller()?, two.from.0, old)?
    };
    let (base, path) = asked.place(two.to.0, two.to.1)?.path()?;
    asked.check()?;
    let (base, name) = asked.creation(base, &path)?;
    let to = (base.descriptor(), name.as_c_str());
    let made = match &from {
        // This is how a file without a name gets a name.
        Place::Open(file) if flags & SYMLINK_FOLLOW != 0 => {
            sys::make_link((AT_FDCWD, &link_of(file.as_fd())?), to, SYMLINK_FOLLOW)
        }
        Place::Open(file) if open => sys::make_link((file.as_fd(), c""), to, EMPTY_PATH),
        Place::Open(_) | Place::OwnProc(..) => Err(Errno::EXDEV),
        Place::Path(from, path) => {
            // The kernel would follow a link of `/proc` to files that only the listener may reach.
            let from = sys::open_place(from.descriptor(), path, flags & SYMLINK_FOLLOW != 0, Follow::Texts)?;
            asked.remember_names(from.as_fd(), &base);
            sys::make_link((AT_FDCWD, &link_of(from.as_fd())?), to, SYMLINK_FOLLOW)
        }
    };
    done(asked, &base, &name, made)
}

/// Returns the answer to a call that creates a name.
pub(super) fn done(asked: &mut Asked<'_>, base: &Base, name: &CStr, made: nix::Result<()>) -> Result<Reply, Errno> {
    match made {
        Ok(()) => Ok(Reply::DONE),
        Err(errno) => Err(asked.refused(base, name, errno)),
    }
}
