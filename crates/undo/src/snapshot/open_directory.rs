//! An open directory. Links that are put in its place lead nowhere.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

/// Names that are read between two looks at the clock.
const PART: usize = 256;

/// An open directory.
#[derive(Debug)]
pub struct OpenDirectory(File);

impl OpenDirectory {
    /// Opens the root of a tree: a path without links.
    pub fn root(path: &Path) -> io::Result<Self> {
        let directory = Self(File::options().read(true).custom_flags(FLAGS).open("/")?);
        directory.below(path.strip_prefix("/").unwrap_or(path))
    }

    /// Opens a subdirectory of this directory.
    pub fn inside(&self, name: &OsStr) -> io::Result<Self> {
        File::options().read(true).custom_flags(FLAGS).open(self.reach(name)).map(Self)
    }

    /// Opens a directory below this directory.
    pub fn below(self, path: &Path) -> io::Result<Self> {
        path.components().try_fold(self, |directory, component| match component {
            Component::Normal(name) => directory.inside(name),
            _ => Ok(directory),
        })
    }

    /// Returns the path by which this process reaches an entry.
    pub fn reach(&self, name: &OsStr) -> PathBuf {
        sys::path_in(&self.0, name)
    }

    /// Returns the names of all entries. `None`: the time was up.
    pub fn names(&self, until: Instant) -> io::Result<Option<Vec<OsString>>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.reach(OsStr::new(".")))? {
            if names.len() % PART == 0 && Instant::now() > until {
                return Ok(None);
            }
            names.push(entry?.file_name());
        }
        Ok(Some(names))
    }
}

const FLAGS: i32 = libc::O_DIRECTORY | libc::O_NOFOLLOW | ONLY_PLACE;
/// The directories above need not be readable.
#[cfg(target_os = "linux")]
const ONLY_PLACE: i32 = libc::O_PATH;
#[cfg(not(target_os = "linux"))]
const ONLY_PLACE: i32 = 0;
