//! Watches on directories and files (inotify).

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};

/// `IN_MASK_ADD`: files that are watched already stay so.
const ADDED: AddWatchFlags = AddWatchFlags::from_bits_retain(libc::IN_MASK_ADD);

/// The number of a watched directory.
pub type WatchId = WatchDescriptor;

/// A change in watched directories.
#[derive(Debug)]
pub enum DirectoryWatchEvent {
    /// Nothing.
    Nothing,
    /// In each of these directories, an entry of this name was created, moved or removed.
    Changed(Vec<(WatchId, OsString)>),
    /// More than the kernel remembers.
    Lost,
}

/// The kinds of changes that were seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SeenChangeKinds {
    /// Of the entries of directories.
    pub entries: bool,
    /// Of watched files: one was replaced, moved or removed, or has other permissions.
    pub files: bool,
}

/// Watches directories for entries that are created, moved or removed, and files for their replacement. A user can have
/// few of these, and they watch much.
#[derive(Debug)]
pub struct DirectoryWatch(Inotify);

impl DirectoryWatch {
    /// Watches nothing yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?))
    }

    /// Adds a directory. A directory that is watched already keeps its number.
    pub fn add(&self, directory: &Path) -> io::Result<WatchId> {
        let flags = AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MOVE | AddWatchFlags::IN_DELETE;
        let flags = flags | AddWatchFlags::IN_ONLYDIR | AddWatchFlags::IN_DONT_FOLLOW | ADDED;
        Ok(self.0.add_watch(directory, flags)?)
    }

    /// Adds a file or directory itself. A symbolic link is not followed.
    pub fn add_file(&self, path: &Path) -> io::Result<()> {
        // A file that loses a name has another number of links.
        let flags = AddWatchFlags::IN_ATTRIB | AddWatchFlags::IN_MOVE_SELF | AddWatchFlags::IN_DELETE_SELF;
        let flags = flags | AddWatchFlags::IN_DONT_FOLLOW | ADDED;
        self.0.add_watch(path, flags)?;
        Ok(())
    }

    /// Returns the changes since the last call, without waiting. Of entries, those count whose names matter.
    pub fn take_seen_kinds(&self, matters: impl Fn(&OsStr) -> bool) -> SeenChangeKinds {
        let mut seen = SeenChangeKinds::default();
        loop {
            match self.0.read_events() {
                Ok(events) => {
                    let lost = events.iter().any(|event| event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW));
                    let named = events.iter().filter_map(|event| event.name.as_deref());
                    seen.entries |= lost || named.into_iter().any(&matters);
                    seen.files |= lost || events.iter().any(|event| event.name.is_none());
                }
                Err(Errno::EINTR) => {}
                Err(_) => return seen,
            }
        }
    }

    /// Returns the changes since the last call, without waiting.
    pub fn take_changes(&self) -> io::Result<DirectoryWatchEvent> {
        let mut changes = Vec::new();
        loop {
            match self.0.read_events() {
                Ok(events) => {
                    if events.iter().any(|event| event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW)) {
                        return Ok(DirectoryWatchEvent::Lost);
                    }
                    changes.extend(events.into_iter().filter_map(|event| Some((event.wd, event.name?))));
                }
                Err(Errno::EAGAIN) if changes.is_empty() => return Ok(DirectoryWatchEvent::Nothing),
                Err(Errno::EAGAIN) => return Ok(DirectoryWatchEvent::Changed(changes)),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for DirectoryWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
