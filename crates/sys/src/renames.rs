//! Renames.

use std::fs;
use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::fs::CWD;
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::split_open;

/// Renames a thing to a path at which nothing is. On a file system that cannot check that itself, a thing that appears
/// at the path at this very moment is replaced.
///
/// # Errors
/// `AlreadyExists` if something is there, and as a rename.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let ((from_in, from_name), (to_in, to_name)) = (split_open(from), split_open(to));
    match renameat_with(from_in, from_name, to_in, to_name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if fs::symlink_metadata(to).is_ok() => {
            Err(io::ErrorKind::AlreadyExists.into())
        }
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => fs::rename(from, to),
        renamed => Ok(renamed?),
    }
}

/// Returns whether an overlay can keep its changes on the file system of a directory. It needs whiteouts, and more of
/// what FUSE may lack.
pub fn can_hold_changes(directory: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::statfs::{FUSE_SUPER_MAGIC, statfs};
        let [probe, moved] = ["probe", "moved"].map(|name| directory.join(format!(".agent-bash-{name}")));
        let is_fuse = statfs(directory).is_ok_and(|about| about.filesystem_type() == FUSE_SUPER_MAGIC);
        let made = !is_fuse && fs::File::create(&probe).is_ok();
        let has = made && renameat_with(CWD, &probe, CWD, &moved, RenameFlags::WHITEOUT).is_ok();
        [probe, moved].into_iter().for_each(|path| drop(fs::remove_file(path)));
        has
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _has_none = directory;
        false
    }
}

/// Returns whether a directory seems to be served by a program that keeps files on the file system of another one.
///
/// It is on FUSE, and has the sizes of that file system: `fuse-overlayfs`, `bindfs` and `gocryptfs` tell those of what
/// they keep files on.
pub fn is_served_from(directory: &Path, other: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::statfs::{FUSE_SUPER_MAGIC, statfs};
        let (Ok(served), Ok(under)) = (statfs(directory), statfs(other)) else { return false };
        let [served_size, size] = [&served, &under].map(|about| (about.blocks(), about.files()));
        served.filesystem_type() == FUSE_SUPER_MAGIC && served_size == size
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _none_is = (directory, other);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let [one, two, three] = ["1", "2", "3"].map(|name| directory.path().join(name));
        for path in [&one, &two] {
            fs::write(path, path.as_os_str().as_encoded_bytes()).expect("written");
        }
        let error = rename_new(&one, &two).expect_err("something is there");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        rename_new(&one, &three).expect("renamed");
        assert_eq!(fs::read(&three).expect("read"), one.as_os_str().as_encoded_bytes());
        assert_eq!(rename_new(&one, &three).expect_err("it is gone").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn whiteouts_are_tried_and_leave_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(can_hold_changes(directory.path()));
        assert!(!can_hold_changes(Path::new("/proc/self")));
        assert_eq!(fs::read_dir(directory.path()).expect("there").count(), 0);
    }
}
