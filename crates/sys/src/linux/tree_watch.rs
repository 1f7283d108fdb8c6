//! Watches on the directories of a tree (inotify).

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, InotifyEvent, WatchDescriptor};

use crate::{TreeChange, TreeReport};

/// The number of a watched directory or file. A directory keeps it when it is renamed.
pub type TreeWatchId = WatchDescriptor;

/// A change in a directory of a [`TreeWatch`].
pub type TreeEvent = TreeReport<TreeWatchId>;

/// Watches directories, each by itself, for every change of their entries.
#[derive(Debug)]
pub struct TreeWatch(Inotify);

impl TreeWatch {
    /// Watches nothing yet. `_root` is the root of the tree that will be watched.
    pub fn new(_root: &Path) -> io::Result<Self> {
        Ok(Self(Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?))
    }

    /// Adds a directory, and returns its number and metadata, since another directory may have its path by now. A
    /// directory that is watched already keeps its number.
    pub fn add(&self, directory: &Path) -> io::Result<(TreeWatchId, Metadata)> {
        let held = File::options().read(true).custom_flags(PLACE).open(directory)?;
        let path = format!("/proc/self/fd/{}", held.as_raw_fd());
        let watch = self.0.add_watch(path.as_str(), directory_flags()).map_err(|error| match error {
            Errno::ENOENT => io::Error::new(io::ErrorKind::Unsupported, "/proc is not mounted"),
            error => error.into(),
        })?;
        Ok((watch, held.metadata()?))
    }

    /// Adds a file, to see changes that are made by names in other directories.
    pub fn add_file(&self, file: &Path) -> io::Result<TreeWatchId> {
        Ok(self.0.add_watch(file, contents() | AddWatchFlags::IN_DONT_FOLLOW)?)
    }

    /// Removes a directory or a file.
    pub fn remove(&self, watch: TreeWatchId) {
        // A deleted directory or file is not watched any more.
        let _ = self.0.rm_watch(watch);
    }

    /// Appends the changes since the last call, in order, without waiting. The changes of a system call are there once
    /// the call has returned.
    pub fn read(&self, changes: &mut Vec<TreeEvent>) -> io::Result<()> {
        loop {
            match self.0.read_events() {
                Ok(events) => changes.extend(events.into_iter().filter_map(change)),
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for TreeWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A directory itself, whatever becomes of its path.
const PLACE: i32 = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;

fn directory_flags() -> AddWatchFlags {
    let moves = AddWatchFlags::IN_MOVE | AddWatchFlags::IN_MOVE_SELF | AddWatchFlags::IN_DELETE_SELF;
    let entries = AddWatchFlags::IN_CREATE | AddWatchFlags::IN_DELETE | moves;
    // Files that have no name any more change nothing.
    contents() | entries | AddWatchFlags::IN_ONLYDIR | AddWatchFlags::from_bits_retain(libc::IN_EXCL_UNLINK)
}

fn contents() -> AddWatchFlags {
    AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_ATTRIB | AddWatchFlags::IN_CLOSE_WRITE
}

fn change(event: InotifyEvent) -> Option<TreeEvent> {
    let is = |flag| event.mask.contains(flag);
    let change = if is(AddWatchFlags::IN_Q_OVERFLOW) {
        TreeChange::Lost
    } else if is(AddWatchFlags::IN_MODIFY) {
        TreeChange::Written
    } else if is(AddWatchFlags::IN_CLOSE_WRITE) {
        TreeChange::Closed
    } else if is(AddWatchFlags::IN_ATTRIB) {
        TreeChange::Attributes
    } else if is(AddWatchFlags::IN_CREATE) {
        TreeChange::Created
    } else if is(AddWatchFlags::IN_DELETE) {
        TreeChange::Removed
    } else if is(AddWatchFlags::IN_MOVED_FROM) {
        TreeChange::MovedFrom(event.cookie)
    } else if is(AddWatchFlags::IN_MOVED_TO) {
        TreeChange::MovedTo(event.cookie)
    } else if is(AddWatchFlags::IN_MOVE_SELF) {
        TreeChange::MovedItself
    } else if is(AddWatchFlags::IN_IGNORED) {
        TreeChange::Unwatched
    } else {
        return None;
    };
    Some(TreeEvent { watch: event.wd, name: event.name.unwrap_or_default(), change })
}

/// Returns the number of watches that a user may have. `None`: there is no limit.
pub fn most_watches() -> Option<usize> {
    fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?.trim().parse().ok()
}
