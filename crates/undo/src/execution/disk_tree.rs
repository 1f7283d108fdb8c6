//! The current tree, as a plan sees it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use super::kept_image::{KeptImage, image_at, is_image_unwritten, read_all_runs};
use super::returned_files::ReturnedFiles;
use crate::directory_names::DirectoryNames;
use crate::manifest::RunManifest;
use crate::path_lookup::{self, LinkFreePaths, read_state};
use crate::path_state::{ContentHash, FileIdentity, FileState, FileTime, KnownContents, PathState};
use crate::plan::CurrentTree;
use crate::store::UndoStore;
use crate::undo_traces::UndoTraces;

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
        let traces = RefCell::new(UndoTraces::read(&store.traces_path()));
        Self {
            store,
            point,
            unfinished,
            names: unfinished.map(names_after_moves).unwrap_or_default(),
            plain: RefCell::default(),
            traces,
            kept: RefCell::default(),
            hashes: RefCell::default(),
            returned: OnceCell::new(),
        }
    }

    /// Returns the kept contents of a file, if they have not changed since.
    pub fn kept_image(&self, file: &FileState) -> Option<KeptImage> {
        let KnownContents::Image(id) = file.contents else { return None };
        let Some(image) = image_at(self.store, self.point, id, file) else { return self.returned_image(file) };
        let is_it = is_image_unwritten(&self.traces.borrow(), file, &image)
            || self.has_hash(file, &image)
            || self.has_copy(file, &image);
        is_it.then_some(image)
    }

    /// Returns a file that another undo has put back, if a run has kept it again since.
    fn returned_image(&self, file: &FileState) -> Option<KeptImage> {
        let returned = self.returned.get_or_init(|| ReturnedFiles::read(self.store, self.point));
        returned.find_image(self.store, &self.traces.borrow(), &self.point.header.run, file)
    }

    /// Returns whether another run, which changed the times of a kept file, has noted its contents before that.
    fn has_hash(&self, file: &FileState, image: &KeptImage) -> bool {
        let mut hashes = self.hashes.borrow_mut();
        let hash = hashes.get_or_insert_with(|| all_hashes(self.store)).get(&file_stamp(file));
        hash.is_some_and(|hash| path_lookup::hash_file(&image.path).is_ok_and(|now| now == *hash))
    }

    /// Returns whether another run, which changed a kept file's times and then the file, has copied its contents before
    /// that. The copy took the place of the hash.
    fn has_copy(&self, file: &FileState, image: &KeptImage) -> bool {
        self.image_of_any_run(file).is_some_and(|copy| {
            !copy.linked && path_lookup::has_equal_contents(&copy.path, &image.path).unwrap_or(false)
        })
    }

    /// Gives a kept file the current time, and writes a note of that first.
    ///
    /// # Errors
    /// If it cannot be noted, or the file's time cannot be read.
    pub fn note_returned_time(&self, file: &FileState, now: FileTime) -> io::Result<()> {
        self.traces.borrow_mut().note_time(&self.store.traces_path(), file.meta.id, file.mtime, now)
    }

    /// Writes a note that a file has its recorded contents, with this time.
    ///
    /// # Errors
    /// If it cannot be noted.
    pub fn note_rewritten_time(&self, then: &FileState, now: FileTime) -> io::Result<()> {
        self.traces.borrow_mut().note_time(&self.store.traces_path(), then.meta.id, then.mtime, now)
    }

    /// Writes a note that an earlier directory is made again.
    ///
    /// # Errors
    /// If it cannot be noted.
    pub fn note_remade_directory(&self, was: FileIdentity, now: FileIdentity) -> io::Result<()> {
        self.traces.borrow_mut().note_successor(&self.store.traces_path(), was, now)
    }

    /// Returns whether a file was not written to since it was recorded, whatever time an undo has given to it.
    pub fn is_unwritten(&self, then: &FileState, now: &FileState) -> bool {
        self.traces.borrow().is_unwritten(then, now)
    }

    /// Returns whether any point has kept the file in the recorded state, with the contents that are at a path now.
    fn was_kept(&self, recorded: &FileState, path: &Path) -> bool {
        self.image_of_any_run(recorded)
            .is_some_and(|image| path_lookup::has_equal_contents(&image.path, path).unwrap_or(false))
    }

    /// Returns the file that any point has kept in the recorded state.
    fn image_of_any_run(&self, recorded: &FileState) -> Option<KeptImage> {
        let mut kept = self.kept.borrow_mut();
        let kept = kept.get_or_insert_with(|| all_images(self.store, &self.traces.borrow()));
        kept.get(&file_stamp(recorded)).cloned()
    }

    fn has_same_contents(&self, recorded: &FileState, path: &Path, now: &FileState) -> bool {
        match recorded.contents {
            // A program can set the time of a file back, so the kept contents decide, if they are there.
            KnownContents::Image(_) => match self.kept_image(recorded) {
                Some(image) if image.file.meta.id == now.meta.id => true,
                Some(image) => path_lookup::has_equal_contents(&image.path, path).unwrap_or(false),
                None => self.is_unwritten(recorded, now),
            },
            KnownContents::Hash(hash) => path_lookup::hash_file(path).is_ok_and(|now| now == hash),
            KnownContents::Untouched | KnownContents::Nothing { .. } | KnownContents::Removed => {
                self.is_unwritten(recorded, now) || self.was_kept(recorded, path)
            }
        }
    }
}

impl CurrentTree for DiskTree<'_> {
    fn read_state(&self, path: &Path) -> Option<PathState> {
        if self.plain.borrow_mut().is_link_free(path) { path_lookup::read_state(path).ok() } else { None }
    }

    fn is_recorded_state(&self, recorded: &PathState, path: &Path, now: &PathState) -> bool {
        let same = |(one, other)| self.has_same_contents(one, path, other);
        let files = if let (PathState::File(one), PathState::File(other)) = (recorded, now) {
            Some((one, other))
        } else {
            None
        };
        recorded.is_alike(now) && files.is_none_or(same)
    }

    fn is_recorded_directory(&self, recorded: FileIdentity, now: &PathState) -> bool {
        now.is_directory() && now.id().is_some_and(|now| self.traces.borrow().is_directory(recorded, now))
    }

    fn successors_of(&self, recorded: FileIdentity) -> Vec<FileIdentity> {
        self.traces.borrow().successors_of(recorded)
    }

    fn entry_names(&self, directory: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(directory).map(|entries| entries.flatten().map(|entry| entry.file_name()).collect());
        entries.unwrap_or_default()
    }

    fn is_half_undone(&self, path: &Path, now: &PathState) -> bool {
        let Some(unfinished) = self.unfinished else { return false };
        let writing = &unfinished.half_changed;
        if now.is_absent() {
            // The undo was about to replace the file, and has put it aside, or back.
            let entry = self.names.earlier_path_of_entry(path);
            return entry.is_some_and(|entry| matches!(unfinished.states_before.get(&entry), Some(PathState::File(_))));
        }
        let other_name =
            matches!(now, PathState::File(file) if file.links > 1 && writing.values().any(|id| *id == file.meta.id));
        other_name || writing.get(path).is_some_and(|id| now.id() == Some(*id))
    }
}

fn names_after_moves(unfinished: &RunManifest) -> DirectoryNames {
    let mut names = unfinished.names.clone();
    for moving in &unfinished.moving {
        if read_state(&moving.to).is_ok_and(|state| state.id() == Some(moving.id)) {
            moving.apply(&mut names);
        }
    }
    names
}

fn file_stamp(file: &FileState) -> FileStamp {
    (file.meta.id, file.size, file.mtime)
}

fn all_hashes(store: &UndoStore) -> HashMap<FileStamp, ContentHash> {
    let mut all = HashMap::new();
    for point in read_all_runs(store) {
        for state in point.states_before.values() {
            if let PathState::File(file @ FileState { contents: KnownContents::Hash(hash), .. }) = state {
                all.insert(file_stamp(file), *hash);
            }
        }
    }
    all
}

fn all_images(store: &UndoStore, traces: &UndoTraces) -> HashMap<FileStamp, KeptImage> {
    let mut all = HashMap::new();
    for point in read_all_runs(store) {
        for state in point.states_before.values() {
            let PathState::File(file) = state else { continue };
            let KnownContents::Image(id) = file.contents else { continue };
            if let Some(image) =
                image_at(store, &point, id, file).filter(|image| is_image_unwritten(traces, file, image))
            {
                all.insert(file_stamp(file), image);
            }
        }
    }
    all
}
