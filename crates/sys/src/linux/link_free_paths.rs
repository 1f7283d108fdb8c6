//! Ways to things through open directories.

use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;

use super::{open_directory, path_in};
use crate::LinkResolution;

/// Opens the directory of a path, through no symbolic link. Returns it with the path by which this process reaches the
/// thing, even if its directories are replaced from now on.
///
/// # Errors
/// If the directory cannot be opened, or a link leads to it.
pub fn open_without_links(path: &Path) -> io::Result<(Option<OwnedFd>, PathBuf)> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return Ok((None, path.to_owned())) };
    let root = open("/", PLACE, Mode::empty())?;
    let whole = CString::new(directory.as_os_str().as_bytes())?;
    let opened = match open_directory(root.as_fd(), &whole, LinkResolution::Nothing) {
        // Without the call, or with a path too long for it, step by step.
        Err(Errno::ENOSYS | Errno::EPERM | Errno::ENAMETOOLONG) => step_by_step(root, directory)?,
        opened => opened?,
    };
    let reach = path_in(&opened, name);
    Ok((Some(opened), reach))
}

/// A directory as a place.
const PLACE: OFlag = OFlag::O_PATH.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

fn step_by_step(root: OwnedFd, directory: &Path) -> nix::Result<OwnedFd> {
    directory.components().try_fold(root, |at, part| match part {
        Component::Normal(name) => openat(at, name, PLACE, Mode::empty()),
        _ => Ok(at),
    })
}

/// Sets the mode of a file or directory. A symbolic link is not followed, and has none.
///
/// # Errors
/// If the system refuses it.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let place = open(path, OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC, Mode::empty())?;
    fs::set_permissions(format!("/proc/self/fd/{}", place.as_raw_fd()), Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_through_no_link_and_stays_with_its_directory() {
        let root = tempfile::tempdir().expect("a directory");
        let root = root.path().canonicalize().expect("there");
        fs::create_dir_all(root.join("a/b")).expect("made");
        std::os::unix::fs::symlink("a", root.join("link")).expect("made");
        assert!(open_without_links(&root.join("link/b/file")).is_err());
        assert!(step_by_step(open("/", PLACE, Mode::empty()).expect("open"), &root.join("link/b")).is_err());
        assert_eq!(open_without_links(&root.join("none/file")).expect_err("missing").kind(), io::ErrorKind::NotFound);

        let (_directory, way) = open_without_links(&root.join("a/b/file")).expect("reached");
        fs::rename(root.join("a"), root.join("c")).expect("moved");
        fs::create_dir_all(root.join("a/b")).expect("made");
        fs::write(way, "here").expect("written");
        assert!(root.join("c/b/file").exists() && !root.join("a/b/file").exists());

        let walked = step_by_step(open("/", PLACE, Mode::empty()).expect("open"), &root.join("c/b")).expect("walked");
        assert!(Path::new(&format!("/proc/self/fd/{}/file", walked.as_raw_fd())).exists());
    }

    #[test]
    fn a_mode_is_not_set_through_a_link() {
        let root = tempfile::tempdir().expect("a directory");
        let (file, link) = (root.path().join("file"), root.path().join("link"));
        fs::write(&file, "").expect("written");
        set_mode(&file, 0o640).expect("set");
        std::os::unix::fs::symlink(&file, &link).expect("made");
        assert!(set_mode(&link, 0o777).is_err());
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o7777, 0o640);
    }
}
