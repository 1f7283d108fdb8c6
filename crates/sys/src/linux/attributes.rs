//! Extended attributes of files, and files that share their blocks.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use nix::errno::Errno;

/// Bytes that a list or a value may have. The kernel has no longer ones.
pub const LONGEST_ATTRIBUTE: usize = 65_536;

/// Sets an extended attribute of a file, or removes it without a value. A symbolic link is not followed.
pub fn change_attribute(path: &CStr, name: &CStr, value: Option<&[u8]>) -> nix::Result<()> {
    let changed = match value {
        Some(value) => {
            // SAFETY: the kernel reads two C strings and the bytes.
            unsafe { libc::lsetxattr(path.as_ptr(), name.as_ptr(), value.as_ptr().cast(), value.len(), 0) }
        }
        // SAFETY: the kernel reads two C strings.
        None => unsafe { libc::lremovexattr(path.as_ptr(), name.as_ptr()) },
    };
    Errno::result(changed).map(drop)
}

/// Gives an empty file the contents of another one, without copying. Few file systems can do that.
pub fn clone_contents(from: &File, to: &File) -> io::Result<()> {
    // SAFETY: a call on two open files.
    let cloned = unsafe { libc::ioctl(to.as_raw_fd(), libc::FICLONE, from.as_raw_fd()) };
    Ok(Errno::result(cloned).map(drop)?)
}

/// Reads the names of all attributes, each with a null byte behind it. Returns their bytes, or -1.
pub fn attribute_names(path: &CStr, buffer: &mut [u8]) -> libc::ssize_t {
    // SAFETY: the kernel reads a C string, and writes into our buffer, no more than its length.
    unsafe { libc::llistxattr(path.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len()) }
}

/// Reads the value of an attribute. Returns its bytes, or -1.
pub fn attribute_value(path: &CStr, name: &CStr, buffer: &mut [u8]) -> libc::ssize_t {
    // SAFETY: the kernel reads two C strings, and writes into our buffer, no more than its length.
    unsafe { libc::lgetxattr(path.as_ptr(), name.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len()) }
}
