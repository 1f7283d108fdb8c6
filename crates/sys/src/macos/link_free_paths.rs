//! Ways to things through directories without links.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, OFlag, open};
use nix::sys::stat::{FchmodatFlags, Mode, fchmodat};

/// Opens the directory of a path, through no symbolic link. A path that begins at an open directory does not exist
/// here, so the thing is reached by its own.
///
/// # Errors
/// If the directory cannot be opened, or a link leads to it.
pub fn open_without_links(path: &Path) -> io::Result<(Option<OwnedFd>, PathBuf)> {
    let Some(directory) = path.parent() else { return Ok((None, path.to_owned())) };
    let through_no_link = OFlag::from_bits_retain(libc::O_NOFOLLOW_ANY);
    let opened = open(directory, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | through_no_link, Mode::empty())?;
    Ok((Some(opened), path.to_owned()))
}

/// Sets the mode of a file or directory. A symbolic link is not followed.
///
/// # Errors
/// If the system refuses it.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let mode = Mode::from_bits_truncate(mode as _);
    Ok(fchmodat(AT_FDCWD, path, mode, FchmodatFlags::NoFollowSymlink)?)
}
