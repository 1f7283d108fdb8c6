//! The current tree, as a plan sees it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use super::image::{KeptImage, image_at, leads, points};
use super::returned::ReturnedFiles;
use crate::look::{self, LinkFreePaths, look};
use crate::manifest::RunManifest;
use crate::names::DirectoryNames;
use crate::node::{ContentHash, FileIdentity, FileState, FileTime, KnownContents, PathState};
use crate::plan::CurrentTree;
use crate::store::UndoStore;
use crate::traces::UndoTraces;

/// The state of a file: identity, size and time.
type FileStamp = (FileIdentity, u64, FileTime);

/// The current tree, compared with one point.
pub struct DiskTree<'a> {
    store: &'a UndoStore,
    point: &'a RunManifest,
    /// The record of the same undo, if that undo was killed.
    unfinished: Option<&'a RunManifest>,
    /// The directories that it has moved, also by a rename that it had no time to confirm.
    names: DirectoryNames,
    /// Tells whether a directory has no links in its path.
    plain: RefCell<LinkFreePaths>,
    traces: RefCell<UndoTraces>,
    /// Files that any point has kept, by their state at the time.
    kept: RefCell<Option<HashMap<FileStamp, KeptImage>>>,
    /// Hashes in any point, by the state of the file at the time.
    hashes: RefCell<Option<HashMap<FileStamp, ContentHash>>>,
    /// Kept files that other undos have put back.
    returned: OnceCell<ReturnedFiles>,
}

impl<'a> DiskTree<'a> {
    /// Reads the tree for the undo of a point.
    pub fn new(store: &'a UndoStore, point: &'a RunManifest, unfinished: Option<&'a RunManifest>) -> Self {
        let traces = RefCell::new(UndoTraces::read(&store.traces()));
        Self {
            store,
            point,
            unfinished,
            names: unfinished.map(names_of).unwrap_or_default(),
            plain: RefCell::default(),
            traces,
            kept: RefCell::default(),
            hashes: RefCell::default(),
            returned: OnceCell::new(),
        }
    }

    /// Returns the kept contents of a file, if they have not changed since.
    pub fn image(&self, file: &FileState) -> Option<KeptImage> {
        let KnownContents::Image(id) = file.contents else { return None };
        let Some(image) = image_at(self.store, self.point, id, file) else { return self.returned(file) };
        let is_it =
            leads(&self.traces.borrow(), file, &image) || self.has_hash(file, &image) || self.has_copy(file, &image);
        is_it.then_some(image)
    }

    /// Returns a file that another undo has put back, if a run has kept it again since.
    fn returned(&self, file: &FileState) -> Option<KeptImage> {
        let returned = self.returned.get_or_init(|| ReturnedFiles::read(self.store, self.point));
        returned.find(self.store, &self.traces.borrow(), &self.point.header.run, file)
    }

    /// Returns whether another run, which changed the times of a kept file, has noted its contents before that.
    fn has_hash(&self, file: &FileState, image: &KeptImage) -> bool {
        let mut hashes = self.hashes.borrow_mut();
        let hash = hashes.get_or_insert_with(|| all_hashes(self.store)).get(&state(file));
        hash.is_some_and(|hash| look::hash(&image.path).is_ok_and(|now| now == *hash))
    }

    /// Returns whether another run, which changed a kept file's times and then the file, has copied its contents before
    /// that. The copy took the place of the hash.
    fn has_copy(&self, file: &FileState, image: &KeptImage) -> bool {
        self.kept_in(file).is_some_and(|copy| !copy.linked && look::is_equal(&copy.path, &image.path).unwrap_or(false))
    }

    /// Gives a kept file the current time, and writes a note of that first.
    ///
    /// # Errors
    /// If it cannot be noted, or the file's time cannot be read.
    pub fn note_date(&self, file: &FileState, now: FileTime) -> io::Result<()> {
        self.traces.borrow_mut().date(&self.store.traces(), file.meta.id, file.mtime, now)
    }

    /// Writes a note that a file has its recorded contents, with this time.
    ///
    /// # Errors
    /// If it cannot be noted.
    pub fn note_time(&self, then: &FileState, now: FileTime) -> io::Result<()> {
        self.traces.borrow_mut().date(&self.store.traces(), then.meta.id, then.mtime, now)
    }

    /// Writes a note that an earlier directory is made again.
    ///
    /// # Errors
    /// If it cannot be noted.
    pub fn note_again(&self, was: FileIdentity, now: FileIdentity) -> io::Result<()> {
        self.traces.borrow_mut().make_again(&self.store.traces(), was, now)
    }

    /// Returns whether a file was not written to since it was recorded, whatever time an undo has given to it.
    pub fn is_unwritten(&self, then: &FileState, now: &FileState) -> bool {
        self.traces.borrow().is_unwritten(then, now)
    }

    /// Returns whether any point has kept the file in the recorded state, with the contents that are at a path now.
    fn was_kept(&self, recorded: &FileState, path: &Path) -> bool {
        self.kept_in(recorded).is_some_and(|image| look::is_equal(&image.path, path).unwrap_or(false))
    }

    /// Returns the file that any point has kept in the recorded state.
    fn kept_in(&self, recorded: &FileState) -> Option<KeptImage> {
        let mut kept = self.kept.borrow_mut();
        let kept = kept.get_or_insert_with(|| all_kept(self.store, &self.traces.borrow()));
        kept.get(&state(recorded)).cloned()
    }

    fn has_same_contents(&self, recorded: &FileState, path: &Path, now: &FileState) -> bool {
        match recorded.contents {
            // A program can set the time of a file back, so the kept contents decide, if they are there.
            KnownContents::Image(_) => match self.image(recorded) {
                Some(image) if image.file.meta.id == now.meta.id => true,
                Some(image) => look::is_equal(&image.path, path).unwrap_or(false),
                None => self.is_unwritten(recorded, now),
            },
            KnownContents::Hash(hash) => look::hash(path).is_ok_and(|now| now == hash),
            KnownContents::Untouched | KnownContents::Nothing { .. } | KnownContents::Removed => {
                self.is_unwritten(recorded, now) || self.was_kept(recorded, path)
            }
        }
    }
}

impl CurrentTree for DiskTree<'_> {
    fn look(&self, path: &Path) -> Option<PathState> {
        if self.plain.borrow_mut().has(path) { look::look(path).ok() } else { None }
    }

    fn is_same(&self, recorded: &PathState, path: &Path, now: &PathState) -> bool {
        let same = |(one, other)| self.has_same_contents(one, path, other);
        let files = if let (PathState::File(one), PathState::File(other)) = (recorded, now) {
            Some((one, other))
        } else {
            None
        };
        recorded.is_alike(now) && files.is_none_or(same)
    }

    fn is_directory(&self, recorded: FileIdentity, now: &PathState) -> bool {
        now.is_directory() && now.id().is_some_and(|now| self.traces.borrow().is_directory(recorded, now))
    }

    fn again(&self, recorded: FileIdentity) -> Vec<FileIdentity> {
        self.traces.borrow().again(recorded)
    }

    fn entries(&self, directory: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(directory).map(|entries| entries.flatten().map(|entry| entry.file_name()).collect());
        entries.unwrap_or_default()
    }

    fn is_half_done(&self, path: &Path, now: &PathState) -> bool {
        let Some(unfinished) = self.unfinished else { return false };
        let writing = &unfinished.writing;
        if now.is_absent() {
            // The undo was about to replace the file, and has put it aside, or back.
            let entry = self.names.origin_of_entry(path);
            return entry.is_some_and(|entry| matches!(unfinished.before.get(&entry), Some(PathState::File(_))));
        }
        let other_name =
            matches!(now, PathState::File(file) if file.links > 1 && writing.values().any(|id| *id == file.meta.id));
        other_name || writing.get(path).is_some_and(|id| now.id() == Some(*id))
    }
}

fn names_of(unfinished: &RunManifest) -> DirectoryNames {
    let mut names = unfinished.names.clone();
    for moving in &unfinished.moving {
        if look(&moving.to).is_ok_and(|node| node.id() == Some(moving.id)) {
            moving.apply(&mut names);
        }
    }
    names
}

fn state(file: &FileState) -> FileStamp {
    (file.meta.id, file.size, file.mtime)
}

fn all_hashes(store: &UndoStore) -> HashMap<FileStamp, ContentHash> {
    let mut all = HashMap::new();
    for point in points(store) {
        for node in point.before.values() {
            if let PathState::File(file @ FileState { contents: KnownContents::Hash(hash), .. }) = node {
                all.insert(state(file), *hash);
            }
        }
    }
    all
}

fn all_kept(store: &UndoStore, traces: &UndoTraces) -> HashMap<FileStamp, KeptImage> {
    let mut all = HashMap::new();
    for point in points(store) {
        for node in point.before.values() {
            let PathState::File(file) = node else { continue };
            let KnownContents::Image(id) = file.contents else { continue };
            if let Some(image) = image_at(store, &point, id, file).filter(|image| leads(traces, file, image)) {
                all.insert(state(file), image);
            }
        }
    }
    all
}
