//! Overlays: views of directories whose changes go elsewhere.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use confine_policy::DraftedDirectory;
use sys::MountFlags;

/// Returns a mount that shows the contents of `lower` and keeps changes in `upper`. Its end does not write them to the
/// disk: the changes of a cache end with the world, and those of a draft are safe from everything but a power failure.
///
/// # Errors
/// If the system refuses, or `EDEADLK` if a program serves `lower` from the file system of `upper`. While a directory
/// is copied up, nothing is renamed there. If the program does that at this moment, it waits, and the copy for it. No
/// signal ends either.
pub(super) fn overlay_of(lower: &Path, upper: &Path, work: &Path) -> io::Result<OwnedFd> {
    if sys::is_served_from(lower, upper) {
        return Err(io::Error::from_raw_os_error(libc::EDEADLK));
    }
    // The mount uses descriptors, because commas and colons in a path would have a meaning.
    let opened = [sys::open_unread(lower)?, sys::open_unread(upper)?, sys::open_unread(work)?];
    let paths = opened.each_ref().map(|file| CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())));
    let [lower, upper, work] = paths;
    let (lower, upper, work) = (lower?, upper?, work?);
    let options = [
        (c"lowerdir", Some(lower.as_c_str())),
        (c"upperdir", Some(upper.as_c_str())),
        (c"workdir", Some(work.as_c_str())),
        (c"userxattr", None),
        // Otherwise the view of a draft that is left after a commit would keep the next one from being made.
        (c"index", Some(c"off")),
        (c"volatile", None),
    ];
    let mount = |options: &[_]| sys::new_mount(c"overlay", options, MountFlags::NO_DEVICES);
    // Before Linux 5.10 the last option is unknown.
    mount(&options).or_else(|_| mount(&options[..options.len() - 1]))
}

/// Returns a read-only mount that shows the contents of two directories, those of the first where both have a name.
pub(super) fn merged(first: &Path, second: &Path) -> io::Result<OwnedFd> {
    let opened = [sys::open_unread(first)?, sys::open_unread(second)?];
    let [first, second] = opened.each_ref().map(|file| format!("/proc/self/fd/{}", file.as_raw_fd()));
    let lower = CString::new(format!("{first}:{second}"))?;
    let options = [(c"lowerdir", Some(lower.as_c_str())), (c"userxattr", None)];
    sys::new_mount(c"overlay", &options, MountFlags::READ_ONLY)
}

/// Returns the view of a drafted directory.
pub(super) fn view_of(drafted: &DraftedDirectory) -> io::Result<OwnedFd> {
    // The kernel leaves this mark of an overlay that was not written to the disk, and refuses another one.
    match fs::remove_dir_all(drafted.work.join("work/incompat")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    overlay_of(&drafted.base, &drafted.upper, &drafted.work)
}
