//! The place that a path of a caller leads to. The kernel never follows links here that only the caller may follow.
//!
//! Paths are followed with the listener's own identity, so `/proc/self` and `/dev/fd` would be the listener's. They are
//! recognised by their text at the beginning of a path and replaced by the caller's. All other links of `/proc` that
//! jump to files of processes are refused. No ordinary program uses them.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;

use super::caller::CallerThread;
use super::proc_links::c_string;
use sys::LinkResolution;

/// The start of a path.
#[derive(Debug, Clone)]
pub(super) enum PathStart {
    /// At the root. The path is absolute.
    Root,
    /// At a directory.
    Directory(Arc<OwnedFd>),
}

impl PathStart {
    /// Returns the descriptor for calls.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            Self::Root => AT_FDCWD,
            Self::Directory(directory) => directory.as_fd(),
        }
    }
}

/// The place that a path names.
#[derive(Debug)]
pub(super) enum CallerPath {
    /// A path.
    Path(PathStart, CString),
    /// A file of the caller's own directory in `/proc`.
    OwnProc(OwnedFd, CString),
    /// A file that the caller has open: `/dev/stdout`, `/proc/self/fd/1`.
    Open(OwnedFd),
}

impl CallerPath {
    /// Returns the place of a path, relative to a descriptor of the caller or `AT_FDCWD`.
    pub fn of(caller: &CallerThread, descriptor: i32, path: CString) -> Result<Self, Errno> {
        match path.to_bytes() {
            [] => Err(Errno::ENOENT),
            [b'/', ..] => Ok(caller_own_path(caller, path.to_bytes())?.unwrap_or(Self::Path(PathStart::Root, path))),
            _ => Ok(Self::Path(PathStart::Directory(caller.open_path_start(descriptor)?.into()), path)),
        }
    }

    /// Returns the place that the text of a symbolic link in `parent` names.
    pub fn of_link(caller: &CallerThread, parent: Arc<OwnedFd>, link: CString) -> Result<Self, Errno> {
        match link.to_bytes() {
            [] => Err(Errno::ENOENT),
            [b'/', ..] => Ok(caller_own_path(caller, link.to_bytes())?.unwrap_or(Self::Path(PathStart::Root, link))),
            _ => Ok(Self::Path(PathStart::Directory(parent), link)),
        }
    }

    /// Returns the path of a place in which a file can be created.
    pub fn path(self) -> Result<(PathStart, CString), Errno> {
        match self {
            Self::Path(base, path) => Ok((base, path)),
            Self::OwnProc(..) => Err(Errno::EPERM),
            Self::Open(_) => Err(Errno::EEXIST),
        }
    }
}

/// Replaces the beginning of an absolute path that means the caller itself.
fn caller_own_path(caller: &CallerThread, path: &[u8]) -> Result<Option<CallerPath>, Errno> {
    let mut words = path.split(|byte| *byte == b'/').filter(|word| !matches!(*word, b"" | b"."));
    match words.next() {
        Some(b"dev") => match words.next() {
            Some(b"stdin") => open_file(caller, b"0", words),
            Some(b"stdout") => open_file(caller, b"1", words),
            Some(b"stderr") => open_file(caller, b"2", words),
            Some(b"fd") => match words.next() {
                Some(number) => open_file(caller, number, words),
                None => Ok(None),
            },
            _ => Ok(None),
        },
        Some(b"proc") => match words.next() {
            Some(b"self" | b"thread-self") => own_proc_path(caller, words),
            Some(pid) if pid == caller.pid.to_string().as_bytes() => own_proc_path(caller, words),
            Some(pid) if pid.iter().all(u8::is_ascii_digit) => Err(Errno::EACCES),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Returns a path below the caller's own directory in `/proc`.
fn own_proc_path<'a>(
    caller: &CallerThread,
    mut words: impl Iterator<Item = &'a [u8]>,
) -> Result<Option<CallerPath>, Errno> {
    match words.next() {
        None => Ok(None),
        Some(b"fd") => match words.next() {
            Some(number) => open_file(caller, number, words),
            None => Err(Errno::EISDIR),
        },
        Some(b"cwd") => path_of_rest(PathStart::Directory(caller.open_current_directory()?.into()), words),
        Some(b"root") => {
            let path = [b"/", join_components(words).as_slice()].concat();
            Ok(Some(CallerPath::Path(PathStart::Root, c_string(path)?)))
        }
        Some(first) => {
            let path = join_components(std::iter::once(first).chain(words));
            // The path leaves the directory again.
            if path.split(|byte| *byte == b'/').any(|word| word == b"..") {
                return Err(Errno::EACCES);
            }
            Ok(Some(CallerPath::OwnProc(caller.directory.try_clone().map_err(|_| Errno::EMFILE)?, c_string(path)?)))
        }
    }
}

fn open_file<'a>(
    caller: &CallerThread,
    number: &[u8],
    words: impl Iterator<Item = &'a [u8]>,
) -> Result<Option<CallerPath>, Errno> {
    let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()).ok_or(Errno::ENOENT)?;
    let known = |errno| if errno == Errno::EBADF { Errno::ENOENT } else { errno };
    let mut words = words.peekable();
    if words.peek().is_none() {
        return Ok(Some(CallerPath::Open(caller.process.descriptor(number).map_err(known)?)));
    }
    // The directory may belong to another world, like a directory that a call names directly.
    path_of_rest(PathStart::Directory(caller.open_descriptor(number).map_err(known)?.into()), words)
}

fn path_of_rest<'a>(base: PathStart, words: impl Iterator<Item = &'a [u8]>) -> Result<Option<CallerPath>, Errno> {
    let path = join_components(words);
    Ok(Some(CallerPath::Path(base, c_string(if path.is_empty() { b".".to_vec() } else { path })?)))
}

fn join_components<'a>(words: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    words.collect::<Vec<_>>().join(&b'/')
}

/// Returns the last component of a path: its start, and its name without slashes at the end.
pub(super) fn last_component(path: &CStr) -> (usize, &[u8]) {
    let bytes = path.to_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    let begin = bytes[..end].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    (begin, &bytes[begin..end])
}

/// Returns the directory of the last component of a path, and that component with the slashes after it. The directory
/// stays the same directory, whatever happens to the path.
pub(super) fn split_parent(base: PathStart, path: &CStr) -> Result<(PathStart, CString), Errno> {
    let (begin, _) = last_component(path);
    let bytes = path.to_bytes();
    let name = if begin == bytes.len() || bytes[begin..].iter().all(|byte| *byte == b'/') {
        c".".to_owned()
    } else {
        c_string(&bytes[begin..])?
    };
    if begin == 0 && matches!(base, PathStart::Directory(_)) && bytes.first() != Some(&b'/') {
        return Ok((base, name));
    }
    let directory = if begin == 0 { c"/".to_owned() } else { c_string(&bytes[..begin])? };
    let directory = sys::open_directory(base.descriptor(), &directory, LinkResolution::Texts)?;
    Ok((PathStart::Directory(directory.into()), name))
}
