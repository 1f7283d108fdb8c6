//! Finds the place that a call names, without following it further than the kernel would.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::sys::stat::{fstat, fstatat};

use super::caller::{CallerTable, CallerThread};
use super::caller_path::{CallerPath, PathStart, last_component, split_parent};
use super::file_change_journal::DirectoryEntryLocation;
use super::proc_links::{LINKS, path_of};
use super::proc_paths::{in_proc, is_of_listener, not_found, skip_missed};
use super::recent_directories::RememberedDirectory;
use super::unrecorded_syscall::{UnrecordedSyscall, to_path};
use sys::{LinkResolution, SyscallNotification};

/// A call, and the known callers.
pub(super) struct SyscallReader<'a> {
    pub call: SyscallNotification,
    pub callers: &'a mut CallerTable,
}

impl SyscallReader<'_> {
    pub fn caller(&mut self) -> Result<&CallerThread, UnrecordedSyscall> {
        let thread = self.call.thread;
        self.callers.get(thread).map_err(|errno| skip_unreadable_caller(thread, errno))
    }

    /// Reads a string of the caller.
    pub fn copy_string(&mut self, at: usize) -> Result<CString, UnrecordedSyscall> {
        let thread = self.call.thread;
        self.callers.copy_string(thread, self.call.args[at]).map_err(|errno| skip_unreadable_caller(thread, errno))
    }

    /// Returns the directory and the name of a path, if the directory is remembered.
    pub fn remembered_directory(&mut self, descriptor: i32, path: &CString) -> Option<(RememberedDirectory, CString)> {
        let (begin, name) = last_component(path);
        let (directory, ending) = path.to_bytes().split_at(begin);
        if matches!(name, b"" | b"." | b"..") || ending != name || may_jump(directory) {
            return None;
        }
        let directory = self.callers.remembered_directory(self.call.thread, descriptor, directory)?;
        Some((directory, CString::new(name).ok()?))
    }

    /// Skips a change in a directory of the run's own, unless a symbolic link leads it elsewhere.
    fn in_own(&mut self, known: &RememberedDirectory, name: &CStr, follow: bool) -> Result<(), UnrecordedSyscall> {
        let leads_on = || sys::link_text(known.directory.as_fd(), name).is_ok();
        if follow && self.callers.directories.has_links(known.id) && leads_on() {
            return Ok(());
        }
        self.callers.directories.note_new_name(known.id, name);
        // Nothing of before has the name.
        self.callers.note_creation(self.call.thread, &known.directory, name);
        Err(UnrecordedSyscall::Nothing)
    }

    /// Returns the place that a path names, with `follow` after a symbolic link at its end. Skips a place in a
    /// directory of the run's own.
    pub fn locate_entry(
        &mut self,
        descriptor: i32,
        text: CString,
        follow: bool,
    ) -> Result<DirectoryEntryLocation, UnrecordedSyscall> {
        let entry = self.remembered_directory(descriptor, &text);
        if let Some((known, name)) = entry.as_ref().filter(|(known, _)| known.is_own) {
            self.in_own(known, name, follow)?;
        }
        self.spot_at(descriptor, text, follow, entry)
    }

    /// Returns the place that a path names, wherever it is.
    pub fn any_spot(
        &mut self,
        descriptor: i32,
        text: CString,
        follow: bool,
    ) -> Result<DirectoryEntryLocation, UnrecordedSyscall> {
        let entry = self.remembered_directory(descriptor, &text);
        self.spot_at(descriptor, text, follow, entry)
    }

    /// Returns the place that a path names. `entry` is its directory with its name, if the directory is remembered.
    pub fn spot_at(
        &mut self,
        descriptor: i32,
        text: CString,
        follow: bool,
        mut entry: Option<(RememberedDirectory, CString)>,
    ) -> Result<DirectoryEntryLocation, UnrecordedSyscall> {
        let shown = text.to_bytes();
        if shown.is_empty() {
            return Err(UnrecordedSyscall::Nothing);
        }
        let thread = self.call.thread;
        let begins_badly = |errno| begins_badly(shown, thread, errno);
        let mut place = match &entry {
            Some(_) => None,
            None => Some(CallerPath::of(self.caller()?, descriptor, text.clone()).map_err(begins_badly)?),
        };
        for _ in 0..LINKS {
            let (directory, name) = match (entry.take(), place) {
                (Some((known, name)), _) => (known.directory, name),
                (None, Some(CallerPath::Path(base, path))) => {
                    let (directory, name) = entry_of(base.clone(), path.clone()).map_err(|errno| {
                        match UnrecordedSyscall::on_path(shown, errno) {
                            UnrecordedSyscall::Nothing => not_found(shown, base, path.to_bytes()),
                            missed @ UnrecordedSyscall::Missed(..) => missed,
                        }
                    })?;
                    (self.callers.directories.remember(directory), name)
                }
                (None, Some(CallerPath::Open(file))) => return of_file(file),
                (None, Some(CallerPath::OwnProc(_, path))) => return Err(in_proc(shown, path.to_bytes())),
                (None, None) => return Err(UnrecordedSyscall::Nothing),
            };
            if matches!(name.to_bytes(), b"." | b"..") {
                let directory = sys::open_directory(directory.as_fd(), &name, LinkResolution::Texts);
                return of_file(directory.map_err(|errno| UnrecordedSyscall::on_path(shown, errno))?);
            }
            let link = if follow { sys::link_text(directory.as_fd(), &name) } else { Err(Errno::EINVAL) };
            let mut spot = DirectoryEntryLocation::new(directory, name)
                .map_err(|errno| UnrecordedSyscall::on_path(shown, errno))?;
            spot.is_vacant = link == Err(Errno::ENOENT);
            if is_of_kernel(&spot.parent) {
                return accept_proc_file(shown, spot, link.is_ok());
            }
            let Ok(link) = link else { return skip_removed_directory(spot) };
            place = Some(CallerPath::of_link(self.caller()?, spot.directory, link).map_err(begins_badly)?);
        }
        Err(UnrecordedSyscall::Nothing)
    }
}

/// Returns whether links of `/proc` may lead a path elsewhere for this process than for its caller.
fn may_jump(path: &[u8]) -> bool {
    path.starts_with(b"//") || memchr::memmem::find(path, b"/proc").is_some() || path.starts_with(b"/dev")
}

/// Returns the directory of the last component of a path, and that component without slashes after it.
fn entry_of(base: PathStart, path: CString) -> Result<(Arc<OwnedFd>, CString), Errno> {
    let (base, name) = split_parent(base, &path)?;
    let PathStart::Directory(directory) = base else { return Err(Errno::EINVAL) };
    let bytes = name.to_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    let name = if end == bytes.len() { name } else { CString::new(&bytes[..end]).map_err(|_| Errno::EINVAL)? };
    Ok((directory, name))
}

/// Accepts or skips a file in `/proc`: a link there leads to a file of a process, and other files there are the
/// kernel's.
fn accept_proc_file(
    shown: &[u8],
    spot: DirectoryEntryLocation,
    is_link: bool,
) -> Result<DirectoryEntryLocation, UnrecordedSyscall> {
    if is_of_listener(&spot.parent) {
        return Err(skip_missed(shown));
    }
    if !is_link {
        return Err(UnrecordedSyscall::Nothing);
    }
    let file = sys::open_place(spot.directory.as_fd(), &spot.name, true, LinkResolution::Everything);
    of_file(file.map_err(|_| skip_missed(shown))?)
}

/// Skips a name in a removed directory, which has no entries left.
fn skip_removed_directory(spot: DirectoryEntryLocation) -> Result<DirectoryEntryLocation, UnrecordedSyscall> {
    let is_gone = spot.parent.as_os_str().as_bytes().ends_with(b" (deleted)")
        && fstat(&spot.directory).is_ok_and(|status| status.st_nlink == 0);
    if is_gone || !spot.parent.is_absolute() { Err(UnrecordedSyscall::Nothing) } else { Ok(spot) }
}

/// Returns the name of an open file, if it has one.
pub(super) fn of_file(file: OwnedFd) -> Result<DirectoryEntryLocation, UnrecordedSyscall> {
    let path = path_of(file.as_fd()).map_err(|_| UnrecordedSyscall::Nothing)?;
    let path = to_path(path.to_bytes());
    let status = fstat(&file).map_err(|_| UnrecordedSyscall::Nothing)?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return DirectoryEntryLocation::new(file, c".".to_owned()).map_err(|_| UnrecordedSyscall::Nothing);
    };
    // The file is a pipe, a socket, or a file without a name.
    if !path.is_absolute() || status.st_nlink == 0 || is_of_kernel(&path) {
        return Err(UnrecordedSyscall::Nothing);
    }
    let lost = || UnrecordedSyscall::Missed(path.clone(), "its name is not known");
    let name = CString::new(name.as_bytes()).map_err(|_| lost())?;
    let text = CString::new(parent.as_os_str().as_bytes()).map_err(|_| lost())?;
    let directory = sys::open_directory(AT_FDCWD, &text, LinkResolution::Nothing).map_err(|_| lost())?;
    let found = fstatat(&directory, name.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW).map_err(|_| lost())?;
    if (found.st_dev, found.st_ino) != (status.st_dev, status.st_ino) {
        return Err(lost());
    }
    DirectoryEntryLocation::new(directory, name).map_err(|_| lost())
}

/// Handles a caller whose memory or descriptors cannot be read.
pub(super) fn skip_unreadable_caller(thread: i32, errno: Errno) -> UnrecordedSyscall {
    match errno {
        Errno::EPERM | Errno::EACCES | Errno::ESRCH | Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM => {
            UnrecordedSyscall::Missed(format!("/proc/{thread}").into(), "a program that cannot be read")
        }
        _ => UnrecordedSyscall::Nothing,
    }
}

/// Handles a path whose beginning cannot be found.
fn begins_badly(path: &[u8], thread: i32, errno: Errno) -> UnrecordedSyscall {
    if path.first() != Some(&b'/') {
        return skip_unreadable_caller(thread, errno);
    }
    in_proc(path, path)
}

/// Returns whether a path lies in a file system of the kernel, which is on no disk.
fn is_of_kernel(path: &Path) -> bool {
    // Comparing bytes takes a tenth of the time of comparing components.
    let path = path.as_os_str().as_bytes();
    let rest = path.strip_prefix(b"/proc").or_else(|| path.strip_prefix(b"/sys"));
    rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
}
