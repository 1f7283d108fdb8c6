//! Extended attributes of files.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{XattrFlags, lgetxattr, lremovexattr, lsetxattr};
use rustix::io::Errno;

use crate::list_attributes;

/// Bytes that a list or a value may have. Linux has no longer ones, and macOS's are left out.
const LONGEST: usize = if cfg!(target_os = "linux") { 65_536 } else { 1024 * 1024 };

/// Returns the extended attributes of a file, access lists among them, sorted by name. A symbolic link is not followed.
/// Those that this process may not read are left out, and so are the access lists of NFS, which every file there has
/// and which follow its mode. A file system without attributes has none.
pub fn attributes(path: &Path) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    // Most files have none, and the others few.
    let mut first = [0; 256];
    let names = match list_attributes(path, &mut first) {
        Ok(0) | Err(Errno::NOTSUP) => return Ok(Vec::new()),
        Ok(length) => first[..length].to_vec(),
        _ => grown(|buffer| list_attributes(path, buffer))?,
    };
    let mut found = Vec::new();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !name.starts_with(b"system.nfs4_")) {
        if let Ok(value) = grown(|buffer| lgetxattr(path, name, buffer)) {
            found.push((OsString::from_vec(name.to_vec()), value));
        }
    }
    found.sort();
    Ok(found)
}

/// Sets an extended attribute of a file. A symbolic link is not followed.
pub fn set_attribute(path: &Path, name: &OsStr, value: &[u8]) -> io::Result<()> {
    Ok(lsetxattr(path, name.as_bytes(), value, XattrFlags::empty())?)
}

/// Removes an extended attribute of a file. A symbolic link is not followed.
pub fn remove_attribute(path: &Path, name: &OsStr) -> io::Result<()> {
    Ok(lremovexattr(path, name.as_bytes())?)
}

/// Reads into a buffer that is large enough.
fn grown(mut read: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 256];
    loop {
        match read(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < LONGEST => buffer.resize(LONGEST, 0),
            Err(error) => return Err(error),
        }
    }
}
