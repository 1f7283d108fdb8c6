//! Reads a tree before a command, within limits of time and room.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::open_directory::OpenDirectory;
use super::snapshot_tree::{DirectoryListing, PACK, SnapshotEntry, SnapshotTree, TREE, TreeSnapshot, belongs_to_store};
use crate::change_journal::ChangeJournal;
use crate::path_lookup::{self, RoutedPath, read_state};
use crate::path_state::{FileIdentity, FileState as Kept, FileTime, KnownContents, PathState};
use crate::run_images::{KeepError, KeepMethod, has_room};

/// Objects of git never change. Larger objects are kept by another name.
const LARGE_OBJECT: u64 = 64 * 1024;
/// Bytes that are copied between two looks at the clock and the disk.
const PART: u64 = 1 << 20;

/// Directories that wait to be read, in the order of their worth.
#[derive(Default)]
struct DirectoryQueue {
    next: Vec<(Rc<OpenDirectory>, OsString, PathBuf)>,
    /// Objects of git, and large directories that can be had again. They are opened when they are read, because each
    /// open directory takes a descriptor.
    later: [VecDeque<PathBuf>; 2],
}

struct TreeSnapshotTaker<'a> {
    journal: &'a mut ChangeJournal,
    until: Instant,
    tree: SnapshotTree,
    device: u64,
    waiting: DirectoryQueue,
    directory: PathBuf,
    pack: BufWriter<File>,
    packed: u64,
    /// The byte count at which the disk is checked again.
    looked: u64,
    /// Files with several names that are in the pack.
    linked: HashMap<FileIdentity, u64>,
}

pub fn take(journal: &mut ChangeJournal, root: &Path, time: Duration) -> io::Result<TreeSnapshot> {
    let until = Instant::now() + time;
    let state = read_state(root)?;
    let PathState::Directory(meta) = &state else { return Err(io::ErrorKind::NotADirectory.into()) };
    journal.images().make_home()?;
    let directory = journal.image_directory();
    let pack = File::options().read(true).write(true).create_new(true).mode(0o600).open(directory.join(PACK))?;
    let device = meta.id.device;
    let tree = SnapshotTree { root: root.to_owned(), state, began: FileTime::now(), directories: BTreeMap::new() };
    let mut taker = TreeSnapshotTaker {
        journal,
        // The tree has to be written within the time, too.
        until: until.checked_sub(time / 6).unwrap_or(until),
        tree,
        device,
        waiting: DirectoryQueue::default(),
        directory,
        pack: BufWriter::with_capacity(256 * 1024, pack.try_clone()?),
        packed: 0,
        looked: 0,
        linked: HashMap::new(),
    };
    taker.read(OpenDirectory::root(root)?, root.to_owned())?;
    taker.read_all(time)?;
    taker.pack.flush()?;
    taker.tree.write(&taker.directory.join(TREE))?;
    Ok(TreeSnapshot { tree: taker.tree, pack })
}

impl TreeSnapshotTaker<'_> {
    fn read_all(&mut self, time: Duration) -> io::Result<()> {
        loop {
            let (opened, path) = if let Some((above, name, path)) = self.waiting.next.pop() {
                (above.inside(&name), path)
            } else if let Some(path) = self.waiting.later.iter_mut().find_map(VecDeque::pop_front) {
                (OpenDirectory::root(&path), path)
            } else {
                return Ok(());
            };
            if Instant::now() > self.until {
                self.miss(&path, &format!("a snapshot may take {} ms, and did not get there", time.as_millis()))?;
                continue;
            }
            match opened {
                Ok(directory) => self.read(directory, path)?,
                Err(error) => self.miss(&path, &error.to_string())?,
            }
        }
    }

    fn miss(&mut self, path: &Path, why: &str) -> io::Result<()> {
        self.journal.record_gap(path, why)
    }

    fn read(&mut self, directory: OpenDirectory, path: PathBuf) -> io::Result<()> {
        let names = match directory.names(self.until) {
            Ok(Some(names)) => names,
            Ok(None) => return self.miss(&path, "a snapshot had no time to read it"),
            Err(error) => return self.miss(&path, &error.to_string()),
        };
        let directory = Rc::new(directory);
        let is_of_objects = path.iter().any(|name| name == ".git") && path.iter().any(|name| name == "objects");
        let mut listing = DirectoryListing { is_whole: true, ..DirectoryListing::default() };
        for name in names {
            let below = path.join(&name);
            if belongs_to_store(&below, self.journal.store().path()) {
                continue;
            }
            if Instant::now() > self.until {
                listing.is_whole = false;
                self.miss(&path, "a snapshot had no time to read all of it")?;
                break;
            }
            let reach = directory.reach(&name);
            let at = RoutedPath { path: &below, reach: &reach, is_vacant: false };
            match read_state(&reach) {
                Ok(PathState::Absent) => {}
                Ok(PathState::File(file)) => {
                    let entry = self.keep(at, file, is_of_objects)?;
                    listing.entries.insert(name, entry);
                }
                Ok(state) => {
                    if state.is_directory() {
                        self.wait(&directory, &name, &below, &state)?;
                    }
                    listing.entries.insert(name, SnapshotEntry { state, at: None });
                }
                Err(error) => self.miss(&below, &error.to_string())?,
            }
        }
        self.tree.directories.insert(path, listing);
        Ok(())
    }

    /// Puts a directory on its list.
    fn wait(&mut self, above: &Rc<OpenDirectory>, name: &OsString, path: &Path, state: &PathState) -> io::Result<()> {
        let is_of_git = path.parent().and_then(Path::file_name).is_some_and(|name| name == ".git");
        if state.id().is_some_and(|id| id.device != self.device) {
            self.miss(path, "it is on another file system")?;
        } else if is_of_git && name == "objects" {
            self.waiting.later[0].push_back(path.to_owned());
        } else if SnapshotTree::is_large(name) {
            self.waiting.later[1].push_back(path.to_owned());
        } else {
            self.waiting.next.push((Rc::clone(above), name.clone(), path.to_owned()));
        }
        Ok(())
    }

    /// Keeps a file: in the pack, or by another name if it is too large for the pack.
    fn keep(&mut self, at: RoutedPath<'_>, mut file: Kept, is_object: bool) -> io::Result<SnapshotEntry> {
        if file.links > 1
            && let Some(at) = self.linked.get(&file.meta.id)
        {
            return Ok(SnapshotEntry { state: PathState::File(file), at: Some(*at) });
        }
        let limits = self.journal.images().limits();
        let is_large = file.size > limits.file_bytes || is_object && file.size > LARGE_OBJECT;
        let kept = if is_large {
            let kept = self.journal.images().keep(at, &file, KeepMethod::Link);
            kept.map(|contents| {
                file.contents = contents;
                None
            })
        } else if self.packed.saturating_add(file.size) > limits.run_bytes {
            Err(KeepError::RunTooLarge { most: limits.run_bytes })
        } else {
            self.copy(at.reach, &file).map(Some)
        };
        let place = kept.unwrap_or_else(|why| {
            file.contents = KnownContents::Nothing { why: why.to_string() };
            None
        });
        if let Some(place) = place.filter(|_| file.links > 1) {
            self.linked.insert(file.meta.id, place);
        }
        Ok(SnapshotEntry { state: PathState::File(file), at: place })
    }

    /// Copies the contents of a file to the end of the pack.
    fn copy(&mut self, reach: &Path, file: &Kept) -> Result<u64, KeepError> {
        let place = self.packed;
        let mut from = path_lookup::open_file(reach)?;
        let mut left = file.size;
        while left > 0 {
            if self.packed >= self.looked {
                if !has_room(&self.directory, PART)? {
                    return Err(KeepError::DiskFull);
                }
                self.looked = self.packed + PART;
            }
            if Instant::now() > self.until {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "a snapshot had no time to copy it").into());
            }
            let copied = io::copy(&mut Read::by_ref(&mut from).take(left.min(PART)), &mut self.pack)?;
            if copied == 0 {
                break;
            }
            left -= copied;
            self.packed += copied;
        }
        let now = from.metadata()?;
        let is_same =
            now.len() == file.size && (now.mtime(), now.mtime_nsec()) == (file.mtime.seconds, file.mtime.nanoseconds);
        if left > 0 || !is_same {
            return Err(io::Error::other("it changed while it was copied").into());
        }
        Ok(place)
    }
}
