//! Open directories: the directory that was examined is the one that is granted, whatever its path leads to later.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;

use sys::LinkResolution;

/// The most bytes of a file that says where a repository is.
const MOST: u64 = 64 * 1024;

/// An open directory.
#[derive(Debug)]
pub(super) struct ExaminedDirectory {
    /// Its path without links, as it was when it was opened.
    pub path: PathBuf,
    pub file: File,
}

/// An entry of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitEntryKind {
    None,
    Directory,
    File,
    /// A link, a pipe, a socket or a device.
    Other,
}

impl ExaminedDirectory {
    /// Opens the directory at a path that has no links.
    pub fn open(path: &Path) -> nix::Result<Self> {
        Self::open_below(AT_FDCWD, path, path.to_owned())
    }

    /// Opens the directory that a text names, relative to this one. Links are followed.
    pub fn open_named(&self, text: &Path) -> Option<Self> {
        Self::open(&self.path.join(text).canonicalize().ok()?).ok()
    }

    /// Opens the directory above. `None`: this is `/`, or the directory above is on another file system.
    pub fn open_parent(&self) -> nix::Result<Option<Self>> {
        let Some(path) = self.path.parent() else { return Ok(None) };
        let above = Self::open_below(self.file.as_fd(), Path::new(".."), path.to_owned())?;
        Ok((above.id().0 == self.id().0).then_some(above))
    }

    /// Opens the directory at a name.
    pub fn open_child(&self, name: &OsStr) -> nix::Result<Self> {
        Self::open_below(self.file.as_fd(), Path::new(name), self.path.join(name))
    }

    fn open_below(base: impl AsFd, name: &Path, path: PathBuf) -> nix::Result<Self> {
        let name = CString::new(name.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)?;
        let file = File::from(sys::open_directory(base.as_fd(), &name, LinkResolution::Nothing)?);
        Ok(Self { path, file })
    }

    /// Returns the device and the inode, by which two paths are known to be one directory.
    pub fn id(&self) -> (u64, u64) {
        self.file.metadata().map_or((0, 0), |data| (data.dev(), data.ino()))
    }

    /// Returns whether this is that directory.
    pub fn is_same_directory(&self, other: &Self) -> bool {
        self.id() == other.id() && self.id() != (0, 0)
    }

    /// Returns whether the directory belongs to this user.
    pub fn is_ours(&self) -> bool {
        self.file.metadata().is_ok_and(|data| data.uid() == nix::unistd::geteuid().as_raw())
    }

    /// Returns the kind of the entry with a name.
    pub fn entry_kind(&self, name: &CStr) -> io::Result<GitEntryKind> {
        let place = match sys::open_place(self.file.as_fd(), name, false, LinkResolution::Texts) {
            Ok(place) => File::from(place),
            Err(Errno::ENOENT) => return Ok(GitEntryKind::None),
            Err(error) => return Err(error.into()),
        };
        Ok(kind_of(&place.metadata()?))
    }

    /// Returns whether this directory has the entries by which git knows a repository.
    pub fn is_repository(&self) -> bool {
        let is = |name, wanted: &[GitEntryKind]| self.entry_kind(name).is_ok_and(|entry| wanted.contains(&entry));
        // HEAD was a link once.
        is(c"HEAD", &[GitEntryKind::File, GitEntryKind::Other])
            && [c"objects", c"refs"].iter().all(|name| is(name, &[GitEntryKind::Directory]))
    }

    /// Reads a small regular file. A link is not followed, and a pipe is not waited for.
    pub fn read(&self, name: &CStr) -> io::Result<Vec<u8>> {
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = File::from(sys::open_path(self.file.as_fd(), name, flags, 0, LinkResolution::Texts)?);
        let data = file.metadata()?;
        if kind_of(&data) != GitEntryKind::File || data.size() > MOST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a small file that contains one path.
    pub fn read_path(&self, name: &CStr) -> Option<PathBuf> {
        let bytes = self.read(name).ok()?;
        path_in(&bytes).map(Path::to_owned)
    }
}

fn kind_of(data: &Metadata) -> GitEntryKind {
    match data.file_type() {
        kind if kind.is_dir() => GitEntryKind::Directory,
        kind if kind.is_file() => GitEntryKind::File,
        _ => GitEntryKind::Other,
    }
}

/// Returns the path in a line, without the end of the line.
pub(super) fn path_in(line: &[u8]) -> Option<&Path> {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))? + 1;
    let path = &line[..end];
    (!path.contains(&0)).then(|| Path::new(OsStr::from_bytes(path)))
}
