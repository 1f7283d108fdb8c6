//! Watches on the directories of a tree, by FSEvents: one stream for the whole tree. Its reports name paths, and say
//! neither in which order changes came nor which two belong to a rename. A renamed file counts as removed and created.

use std::collections::{HashMap, VecDeque};
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::fs_events::{FsEventReport, FsEventStream, flags};
use crate::{TreeChange, TreeReport};

/// The number of a watched directory.
pub type TreeWatchId = usize;

/// A change in a directory of a [`TreeWatch`].
pub type TreeEvent = TreeReport<TreeWatchId>;

/// Watches directories of one tree for every change of their entries.
#[derive(Debug)]
pub struct TreeWatch {
    root: PathBuf,
    stream: FsEventStream,
    reports: Arc<UnreadFsReports>,
    /// Readable while there are reports.
    readiness: OwnedFd,
    directories: Mutex<WatchedDirectories>,
}

/// Reports that have not been read.
#[derive(Debug)]
struct UnreadFsReports {
    queue: Mutex<VecDeque<FsEventReport>>,
    bell: OwnedFd,
}

#[derive(Debug, Default)]
struct WatchedDirectories {
    numbers: HashMap<PathBuf, TreeWatchId>,
    next: TreeWatchId,
}

impl TreeWatch {
    /// Watches nothing yet. Directories outside of the root cannot be added.
    pub fn new(root: &Path) -> io::Result<Self> {
        let (readiness, bell) = io::pipe()?;
        let (readiness, bell) = (OwnedFd::from(readiness), OwnedFd::from(bell));
        for end in [&readiness, &bell] {
            let flags = nix::fcntl::OFlag::O_NONBLOCK;
            nix::fcntl::fcntl(end, nix::fcntl::FcntlArg::F_SETFL(flags))?;
        }
        let reports = Arc::new(UnreadFsReports { queue: Mutex::default(), bell });
        let receiver = Arc::clone(&reports);
        let path = CString::new(root.as_os_str().as_bytes())?;
        let stream = FsEventStream::start(&path, Box::new(move |report| receiver.put(report)))?;
        Ok(Self { root: root.to_owned(), stream, reports, readiness, directories: Mutex::default() })
    }

    /// Adds a directory, and returns its number and metadata. A directory that is watched already keeps its number.
    pub fn add(&self, directory: &Path) -> io::Result<(TreeWatchId, Metadata)> {
        if !directory.starts_with(&self.root) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let metadata = fs::symlink_metadata(directory)?;
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut directories = self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = directories.numbers.get(directory) {
            return Ok((*number, metadata));
        }
        directories.next += 1;
        let number = directories.next;
        directories.numbers.insert(directory.to_owned(), number);
        Ok((number, metadata))
    }

    /// Files cannot be watched by themselves.
    pub fn add_file(&self, _: &Path) -> io::Result<TreeWatchId> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes a directory.
    pub fn remove(&self, watch: TreeWatchId) {
        let mut directories = self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        directories.numbers.retain(|_, number| *number != watch);
    }

    /// Appends the changes since the last call, after the system has delivered all that it has.
    pub fn read(&self, changes: &mut Vec<TreeEvent>) -> io::Result<()> {
        self.stream.flush();
        let mut bytes = [0; 256];
        while nix::unistd::read(&self.readiness, &mut bytes).is_ok_and(|length| length > 0) {}
        let reports = std::mem::take(&mut *self.reports.queue.lock().unwrap_or_else(PoisonError::into_inner));
        let directories = self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        for report in reports {
            changes.extend(events(&report, &self.root, &directories.numbers));
        }
        Ok(())
    }
}

impl AsFd for TreeWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.readiness.as_fd()
    }
}

impl UnreadFsReports {
    fn put(&self, report: FsEventReport) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(report);
        // A full pipe is readable, too.
        let _ = nix::unistd::write(&self.bell, &[0]);
    }
}

/// Returns the events of a report for the watched directories.
fn events(report: &FsEventReport, root: &Path, numbers: &HashMap<PathBuf, TreeWatchId>) -> Vec<TreeEvent> {
    let path = Path::new(OsStr::from_bytes(report.path.as_bytes()));
    let has = |flag| report.flags & flag != 0;
    let event = |watch, name: &OsStr, change| TreeEvent { watch, name: name.to_owned(), change };
    if has(flags::MUST_SCAN_SUBDIRECTORIES | flags::USER_DROPPED | flags::KERNEL_DROPPED) {
        return vec![event(0, OsStr::new(""), TreeChange::Lost)];
    }
    if has(flags::ROOT_CHANGED) {
        let root = numbers.get(root).copied().unwrap_or(0);
        return vec![event(root, OsStr::new(""), TreeChange::MovedItself)];
    }
    let (watch, name) = match (path.parent().and_then(|parent| numbers.get(parent)), path.file_name()) {
        (Some(watch), Some(name)) if path != root => (*watch, name.to_owned()),
        _ => match numbers.get(path) {
            Some(watch) => (*watch, OsString::new()),
            None => return Vec::new(),
        },
    };
    let mut found = Vec::new();
    if has(flags::CREATED | flags::REMOVED | flags::RENAMED | flags::CLONED) {
        let is_there = fs::symlink_metadata(path).is_ok();
        found.push(event(watch, &name, if is_there { TreeChange::Created } else { TreeChange::Removed }));
    }
    if has(flags::MODIFIED) {
        found.push(event(watch, &name, TreeChange::Written));
    }
    if has(flags::METADATA) {
        found.push(event(watch, &name, TreeChange::Attributes));
    }
    found
}

/// Returns `None`: there is no limit.
pub fn most_watches() -> Option<usize> {
    None
}
