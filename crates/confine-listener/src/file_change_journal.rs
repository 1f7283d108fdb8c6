//! The journal of a command: it records each change of a file before the change is made.

use std::borrow::Cow;
use std::ffi::{CString, OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;

use super::proc_links::path_of;

/// A consumer of the changes of a command.
pub trait FileChangeJournal {
    /// Records a change that is about to be made, and that may fail. The command's call fails with the returned error
    /// instead of making the change.
    ///
    /// # Errors
    /// If the change must not be made.
    fn record_before(&self, change: &PendingFileChange) -> Result<JournaledChange, Errno>;

    /// Records a [`PendingChangeKind::Unlink`] of a caller that has the rights of this process. The journal may make
    /// the change itself.
    ///
    /// # Errors
    /// As [`FileChangeJournal::record_before`].
    fn record_or_make(&self, change: &PendingFileChange) -> Result<JournaledChange, Errno> {
        self.record_before(change)
    }

    /// Returns a number that no other run of this process has.
    fn run_number(&self) -> u64 {
        0
    }

    /// Records names that the command may make in directories that it made itself, by their [`name_key`]s. Their
    /// changes are not recorded otherwise.
    fn record_own_names(&self, _keys: Vec<u64>) {}

    /// Records that the command makes no calls for a while, or the first call after that.
    fn set_resting(&self, _rests: bool) {}

    /// Records a change that cannot be followed: its path or another description, and the reason.
    ///
    /// # Errors
    /// If the change must not be made.
    fn record_unfollowed(&self, path: &Path, why: &str) -> Result<(), Errno>;
}

/// Returns a number for a name in a directory with this inode.
pub fn name_key(directory: u64, name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (directory, name).hash(&mut hasher);
    hasher.finish()
}

/// A change that a journal has recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournaledChange {
    /// Whether the journal has made the change.
    pub made: bool,
    /// Whether the command made the directories of the file and of its new place, whatever it has moved there since.
    pub own: [bool; 2],
}

/// A change that a call is about to make.
#[derive(Debug)]
pub struct PendingFileChange {
    /// The file that changes.
    pub spot: DirectoryEntryLocation,
    /// The kind of change.
    pub act: PendingChangeKind,
}

/// A kind of change.
#[derive(Debug)]
pub enum PendingChangeKind {
    /// The contents of an existing file change.
    Rewrite,
    /// The contents of an existing file change, or a file appears.
    Write,
    /// A file other than a directory may appear.
    Create,
    /// A directory may appear.
    MakeDirectory,
    /// The name goes.
    Remove,
    /// The name of a file other than a directory goes.
    Unlink,
    /// Mode, owner or attributes change.
    Meta,
    /// Times change.
    Times,
    /// The file gets another name.
    Link(DirectoryEntryLocation),
    /// The file is renamed.
    Rename(DirectoryEntryLocation),
    /// Two files change their places.
    Swap(DirectoryEntryLocation),
}

/// A name in a directory.
#[derive(Debug)]
pub struct DirectoryEntryLocation {
    /// The directory. It stays the same directory, whatever happens to its path.
    pub directory: Arc<OwnedFd>,
    /// The path of the directory, without links.
    pub parent: PathBuf,
    /// The name. `.` stands for the root.
    pub name: CString,
    /// Whether nothing had the name a moment ago. `false` if that is not known.
    pub is_vacant: bool,
}

impl DirectoryEntryLocation {
    /// Returns a spot for a name in an open directory.
    ///
    /// # Errors
    /// If the directory has no path.
    pub(super) fn new(directory: impl Into<Arc<OwnedFd>>, name: CString) -> Result<Self, Errno> {
        let directory = directory.into();
        // `getcwd` is quicker than the link in `/proc`.
        let stood = sys::work_in_directory(&directory).then(|| nix::unistd::getcwd().ok()).flatten();
        let parent = match stood.filter(|path| path.is_absolute()) {
            Some(parent) => parent,
            None => Path::new(OsStr::from_bytes(path_of(directory.as_fd())?.to_bytes())).to_owned(),
        };
        Ok(Self { directory, parent, name, is_vacant: false })
    }

    /// Returns the path of the spot.
    pub fn path(&self) -> PathBuf {
        if self.name.as_c_str() == c"." {
            return self.parent.clone();
        }
        let (parent, name) = (self.parent.as_os_str().as_bytes(), self.name.to_bytes());
        let mut path = Vec::with_capacity(parent.len() + 1 + name.len());
        path.extend_from_slice(if parent == b"/" { b"" } else { parent });
        path.push(b'/');
        path.extend_from_slice(name);
        OsString::from_vec(path).into()
    }

    /// Returns the [`name_key`] of the spot.
    pub fn key_of_name(&self) -> Option<u64> {
        let directory = sys::place_id(self.directory.as_fd(), c"").ok()?;
        Some(name_key(directory.inode, self.name.to_bytes()))
    }

    /// Returns the path by which this process reaches the file, even if the directory is moved or replaced.
    pub fn reachable_path(&self) -> PathBuf {
        sys::path_in(&self.directory, OsStr::from_bytes(self.name.to_bytes()))
    }

    /// Like [`Self::reachable_path`], if this thread may leave its working directory. The path holds until the thread
    /// leaves the next directory.
    pub fn reach_from_there(&self) -> Cow<'_, Path> {
        if sys::work_in_directory(&self.directory) {
            Path::new(OsStr::from_bytes(self.name.to_bytes())).into()
        } else {
            self.reachable_path().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_spot_is_its_directory_with_its_name() {
        for (parent, name, path) in [("/", c"a", "/a"), ("/d/e", c"f", "/d/e/f"), ("/", c".", "/"), ("/d", c".", "/d")]
        {
            let directory = Arc::new(std::fs::File::open("/").expect("opened").into());
            let spot =
                DirectoryEntryLocation { directory, parent: parent.into(), name: name.to_owned(), is_vacant: false };
            assert_eq!(spot.path(), Path::new(path));
        }
    }
}
