//! Pipes, terminals and files without a name.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::sys::stat::fstatat;
use nix::unistd::Pid;
use rustix::fs::llistxattr;

use super::proc::descriptors;
use crate::PathStatus;

/// Creates a pipe whose ends are closed on exec.
pub(crate) fn pipe_cloexec() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)?)
}

/// Opens a program's end of a pseudo-terminal, through the open end itself. A lookup by name could find another
/// terminal in a container.
pub(crate) fn open_slave(master: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: a plain system call.
    let fd = unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCGPTPEER as _, flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just created it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Asks for a pipe capacity of this many bytes. The kernel may refuse.
pub fn grow_pipe(pipe: BorrowedFd<'_>, bytes: i32) {
    let _ = nix::fcntl::fcntl(pipe, nix::fcntl::FcntlArg::F_SETPIPE_SZ(bytes));
}

/// Closes every descriptor except the standard ones. A host may leave some open for its children, and a helper would
/// keep them open as long as it runs.
pub fn close_inherited() {
    close_from_three();
}

/// Closes every descriptor except the standard ones.
pub(crate) fn close_from_three() {
    // Every descriptor of ours is closed on exec. A kernel before 5.9 leaves the others open.
    // SAFETY: called before any code owns a descriptor above the standard ones.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
}

/// Closes every descriptor except the standard ones on exec. All of ours are closed then anyway.
pub(crate) fn close_on_exec_from_three() {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 1 << 2;
    // SAFETY: changes flags only. A kernel before 5.11 does not know this one.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, CLOSE_RANGE_CLOEXEC) };
}

/// Creates an unnamed file with these bytes, positioned at its start.
pub fn anonymous_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let fd = nix::sys::memfd::memfd_create(c"agent-bash", nix::sys::memfd::MFdFlags::MFD_CLOEXEC)?;
    let mut file = fs::File::from(fd);
    file.write_all(bytes)?;
    Ok(file.into())
}

/// Returns a path by which a child of this process can open this descriptor while it is open.
pub fn script_path(fd: &impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/{}/fd/{}", nix::unistd::getpid(), fd.as_fd().as_raw_fd()))
}

/// Returns the number of open descriptors of this process.
pub fn open_descriptors() -> usize {
    fs::read_dir(Path::new("/proc/self/fd")).map_or(32, Iterator::count)
}

/// Returns the processes among `pids` that have any of these pipes open.
pub fn pipe_holders(pids: &[Pid], pipes: &[BorrowedFd<'_>]) -> Vec<Pid> {
    let names: Vec<_> = pipes.iter().filter_map(name_of).collect();
    pids.iter().copied().filter(|pid| descriptors(*pid).any(|open| open.is_one_of(&names))).collect()
}

fn name_of(pipe: &BorrowedFd<'_>) -> Option<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", pipe.as_raw_fd())).ok()
}

/// Returns the processes among `pids` that can write to any of these pipes. Descriptors other than pipes are left out,
/// because every terminal has the same name at its master's end.
pub fn writers_of(pids: &[Pid], pipes: &[BorrowedFd<'_>]) -> Vec<Pid> {
    let is_pipe = |name: &PathBuf| name.to_str().is_some_and(|name| name.starts_with("pipe:"));
    let names: Vec<_> = pipes.iter().filter_map(name_of).filter(is_pipe).collect();
    let writes = |pid: &Pid| descriptors(*pid).any(|open| open.is_one_of(&names) && open.access().writes);
    if names.is_empty() { Vec::new() } else { pids.iter().copied().filter(writes).collect() }
}

/// Returns a path to a file in an open directory that fits into a socket address, however long the directory's own path
/// is.
pub fn short_path(folder: &fs::File, path: &Path) -> PathBuf {
    path_in(folder, path.file_name().unwrap_or_default())
}

/// Returns a path by which this process reaches a name in an open directory, whatever becomes of the directory's path.
pub fn path_in(directory: &impl AsFd, name: &OsStr) -> PathBuf {
    PathBuf::from(format!("{DESCRIPTORS}{}", directory.as_fd().as_raw_fd())).join(name)
}

/// The directory of links to what this process has open.
const DESCRIPTORS: &str = "/proc/self/fd/";

/// Splits a path of [`path_in`] into the open directory and the name in it. Any other path stays whole, below the
/// current directory. A call that gets the two does not go through `/proc`, which takes several times as long as the
/// rest of it.
pub fn split_open(path: &Path) -> (BorrowedFd<'_>, &Path) {
    let below = path.as_os_str().as_bytes().strip_prefix(DESCRIPTORS.as_bytes());
    let split = below.and_then(|below| {
        let (number, name) = below.split_at(below.iter().position(|byte| *byte == b'/')?);
        let number: RawFd = std::str::from_utf8(number).ok()?.parse().ok()?;
        let name = name.get(1..).filter(|name| number >= 0 && !name.is_empty() && name[0] != b'/')?;
        // SAFETY: no more than a number for the next call, as it is in the path. The maker of the path holds it open.
        Some((unsafe { BorrowedFd::borrow_raw(number) }, Path::new(OsStr::from_bytes(name))))
    });
    split.unwrap_or((AT_FDCWD, path))
}

/// Reads the status of the thing at a path. A symbolic link is not followed.
///
/// # Errors
/// As `lstat`.
pub fn path_status(path: &Path) -> io::Result<PathStatus> {
    let (directory, name) = split_open(path);
    let found = fstatat(directory, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
    Ok(PathStatus {
        device: found.st_dev,
        inode: found.st_ino,
        mode: found.st_mode,
        uid: found.st_uid,
        gid: found.st_gid,
        #[cfg_attr(target_arch = "x86_64", expect(clippy::useless_conversion, reason = "of another size on aarch64"))]
        links: found.st_nlink.into(),
        size: found.st_size.cast_unsigned(),
        stands_for: found.st_rdev,
        mtime: (found.st_mtime, found.st_mtime_nsec),
        ctime: (found.st_ctime, found.st_ctime_nsec),
    })
}

/// Lists the names of the extended attributes of a file, each with a 0 behind it. A symbolic link is not followed.
pub(crate) fn list_attributes(path: &Path, names: &mut [u8]) -> Result<usize, rustix::io::Errno> {
    /// The call `listxattrat`, since Linux 6.13, which the C library does not name.
    const LISTXATTRAT: libc::c_long = 465;
    let (directory, name) = split_open(path);
    if directory.as_raw_fd() == libc::AT_FDCWD {
        return llistxattr(path, names);
    }
    let name = CString::new(name.as_os_str().as_bytes()).map_err(|_| rustix::io::Errno::INVAL)?;
    let (directory, flags) = (directory.as_raw_fd(), libc::AT_SYMLINK_NOFOLLOW);
    // SAFETY: a C string, and a buffer with its length.
    let listed =
        unsafe { libc::syscall(LISTXATTRAT, directory, name.as_ptr(), flags, names.as_mut_ptr(), names.len()) };
    usize::try_from(listed).or_else(|_| llistxattr(path, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_in_an_open_directory_are_those_of_the_path() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("f");
        fs::write(&path, "").expect("written");
        let open = fs::File::open(directory.path()).expect("opened");
        let inside = path_in(&open, OsStr::new("f"));
        assert_eq!(crate::attributes(&inside).expect("read"), []);
        // Not every temporary directory has attributes.
        let set = crate::set_attribute(&path, OsStr::new("user.one"), b"1");
        let found = crate::attributes(&path).expect("read");
        assert_eq!(found.len(), usize::from(set.is_ok()));
        assert_eq!(crate::attributes(&inside).expect("read"), found);
        let missing = path_in(&open, OsStr::new("none"));
        assert_eq!(crate::attributes(&missing).expect_err("none").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_path_in_an_open_directory_is_split_and_no_other() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("f"), "four").expect("written");
        let open = fs::File::open(directory.path()).expect("opened");
        let inside = path_in(&open, OsStr::new("f"));
        assert_eq!(split_open(&inside).0.as_raw_fd(), open.as_raw_fd());
        assert_eq!(split_open(&inside).1, Path::new("f"));
        assert_eq!(path_status(&inside).expect("read").size, 4);
        assert_eq!(path_status(&inside).expect("read"), path_status(&directory.path().join("f")).expect("read"));
        for whole in ["/proc/self/fd/3", "/proc/self/fd/3/", "/proc/self/fd/x/f", "/proc/self/fd/3//etc", "f", ""] {
            assert_eq!(split_open(Path::new(whole)).1, Path::new(whole));
        }
    }
}
