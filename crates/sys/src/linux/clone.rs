//! Files that share their blocks.

use std::fs::File;
use std::io;

use rustix::fs::ioctl_ficlone;

/// Gives an empty file the contents of another one, without copying. Few file systems can do that.
pub fn clone_contents(from: &File, to: &File) -> io::Result<()> {
    Ok(ioctl_ficlone(to, from)?)
}
