//! Extended attributes of files.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use nix::errno::Errno;

#[cfg(target_os = "linux")]
use super::linux::{LONGEST_ATTRIBUTE, attribute_names, attribute_value, change_attribute};
#[cfg(target_os = "macos")]
use super::macos::{LONGEST_ATTRIBUTE, attribute_names, attribute_value, change_attribute};

/// Returns the extended attributes of a file, access lists among them, sorted by name. A symbolic link is not followed.
/// Those that this process may not read are left out. A file system without attributes has none.
pub fn attributes(path: &Path) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    let path = c_string(path.as_os_str())?;
    let names = match grown(|buffer| attribute_names(&path, buffer)) {
        Err(error) if error.raw_os_error() == Some(libc::ENOTSUP) => return Ok(Vec::new()),
        names => names?,
    };
    let mut found = Vec::new();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let c_name = c_string(OsStr::from_bytes(name))?;
        if let Ok(value) = grown(|buffer| attribute_value(&path, &c_name, buffer)) {
            found.push((OsString::from_vec(name.to_vec()), value));
        }
    }
    found.sort();
    Ok(found)
}

/// Sets an extended attribute of a file. A symbolic link is not followed.
pub fn set_attribute(path: &Path, name: &OsStr, value: &[u8]) -> io::Result<()> {
    Ok(change_attribute(&c_string(path.as_os_str())?, &c_string(name)?, Some(value))?)
}

/// Removes an extended attribute of a file. A symbolic link is not followed.
pub fn remove_attribute(path: &Path, name: &OsStr) -> io::Result<()> {
    Ok(change_attribute(&c_string(path.as_os_str())?, &c_string(name)?, None)?)
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

/// Reads into a buffer that is large enough.
fn grown(mut read: impl FnMut(&mut [u8]) -> libc::ssize_t) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; 256];
    loop {
        match Errno::result(read(&mut buffer)) {
            Ok(length) => {
                buffer.truncate(length.cast_unsigned());
                return Ok(buffer);
            }
            Err(Errno::ERANGE) if buffer.len() < LONGEST_ATTRIBUTE => buffer.resize(LONGEST_ATTRIBUTE, 0),
            Err(error) => return Err(error.into()),
        }
    }
}
