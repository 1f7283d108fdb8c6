//! Extended attributes of files, and files that share their blocks.

use std::ffi::CStr;
use std::fs::File;
use std::io;

use nix::errno::Errno;

/// Bytes that a list or a value may have. Longer ones are left out.
pub const LONGEST_ATTRIBUTE: usize = 1024 * 1024;

/// Sets an extended attribute of a file, or removes it without a value. A symbolic link is not followed.
pub fn change_attribute(path: &CStr, name: &CStr, value: Option<&[u8]>) -> nix::Result<()> {
    let changed = match value {
        Some(value) => {
            let bytes = value.as_ptr().cast();
            // SAFETY: the kernel reads two C strings and the bytes.
            unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), bytes, value.len(), 0, libc::XATTR_NOFOLLOW) }
        }
        // SAFETY: the kernel reads two C strings.
        None => unsafe { libc::removexattr(path.as_ptr(), name.as_ptr(), libc::XATTR_NOFOLLOW) },
    };
    Errno::result(changed).map(drop)
}

/// Only whole files can be cloned, which `std::fs::copy` does.
pub fn clone_contents(_from: &File, _to: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Reads the names of all attributes, each with a null byte behind it. Returns their bytes, or -1.
pub fn attribute_names(path: &CStr, buffer: &mut [u8]) -> libc::ssize_t {
    // SAFETY: the kernel reads a C string, and writes into our buffer, no more than its length.
    unsafe { libc::listxattr(path.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len(), libc::XATTR_NOFOLLOW) }
}

/// Reads the value of an attribute. Returns its bytes, or -1.
pub fn attribute_value(path: &CStr, name: &CStr, buffer: &mut [u8]) -> libc::ssize_t {
    let (bytes, size) = (buffer.as_mut_ptr().cast(), buffer.len());
    // SAFETY: the kernel reads two C strings, and writes into our buffer, no more than its length.
    unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), bytes, size, 0, libc::XATTR_NOFOLLOW) }
}
