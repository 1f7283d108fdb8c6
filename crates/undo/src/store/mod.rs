//! The directory of all points. It is private to its user.
//!
//! | entry | what |
//! |---|---|
//! | `points/RUN` | the manifest of a run |
//! | `files/RUN/` | the files that the run keeps, if it keeps any |
//! | `kept/RUN/` | files that conflicts have kept from being put back |
//! | `index` | what lists and evictions need of each point, and the evicted points (`point_index.rs`) |
//! | `traces` | the traces of undos |
//! | `lock` | the lock of the process that undoes or evicts. Its time is that of the last stocktaking (`eviction.rs`) |

mod error;
mod eviction;
mod point_index;
mod point_summary;

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

pub use self::error::UndoStoreError;
pub use self::eviction::EvictedFiles;
use self::point_index::{IndexLine, IndexedPoint, PointIndex};
pub use self::point_summary::PointSummary;
use crate::manifest::{self, ManifestHeader, ManifestPurpose, ManifestWriter, RunManifest};
use crate::run_images::{BLOCK, RunImages, StoredSize, UndoLimits, cost_of};

const POINTS: &str = "points";
const FILES: &str = "files";
const KEPT: &str = "kept";
const INDEX: &str = "index";
const TRACES: &str = "traces";
const LOCK: &str = "lock";

/// What a process knows of a store.
#[derive(Debug, Default)]
struct StoreMemory {
    index: PointIndex,
    /// The limits of the last command.
    limits: Option<UndoLimits>,
}

static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<StoreMemory>>>>> = LazyLock::new(Mutex::default);

/// The directory of the store. Cheap to clone, and holds nothing open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoStore {
    path: PathBuf,
}

/// Returns why a directory gets no point: it is `/`, or the home directory itself.
pub fn no_point_for(root: &Path, home: Option<&Path>) -> Option<&'static str> {
    if root.parent().is_none() {
        return Some("no undo point is made for /");
    }
    let is_home = |home: &Path| home == root || home.canonicalize().is_ok_and(|home| home == root);
    home.is_some_and(is_home).then_some("no undo point is made for the home directory")
}

/// Returns the default directory of the store below the state directory of its user.
pub fn default_dir(state: &Path) -> PathBuf {
    state.join("undo")
}

/// Returns whether a directory is a store already.
fn is_store(dir: &Path) -> bool {
    [POINTS, KEPT].iter().all(|below| dir.join(below).is_dir())
}

/// Returns whether a directory has files that no store has. Another process may be about to make it a store.
fn has_other_files(dir: &Path) -> bool {
    let is_other =
        |entry: fs::DirEntry| ![POINTS, FILES, KEPT, INDEX, TRACES, LOCK].iter().any(|own| entry.file_name() == *own);
    fs::read_dir(dir).is_ok_and(|entries| entries.flatten().any(is_other))
}

impl UndoStore {
    /// Opens the store, and creates it with mode 0700 if it is missing.
    ///
    /// # Errors
    /// If it cannot be created, is a link, belongs to another user, or is a directory with other files.
    pub fn open(dir: &Path) -> Result<Self, UndoStoreError> {
        let failed = |source| UndoStoreError::System { path: dir.to_owned(), source };
        let dir = std::path::absolute(dir).map_err(failed)?;
        if !is_store(&dir) {
            if has_other_files(&dir) {
                return Err(UndoStoreError::NoStore(dir));
            }
            if let Some(parent) = dir.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
            }
        }
        for below in [None, Some(FILES), Some(KEPT), Some(POINTS)] {
            capture::open_private(&below.map_or_else(|| dir.clone(), |below| dir.join(below)))?;
        }
        Ok(Self { path: dir })
    }

    /// Opens the store if it exists. Creates nothing.
    ///
    /// # Errors
    /// As [`UndoStore::open`].
    pub fn open_existing(dir: &Path) -> Result<Option<Self>, UndoStoreError> {
        let is_empty = |entries: fs::ReadDir| entries.take(1).count() == 0;
        match fs::read_dir(dir).map(is_empty) {
            Ok(true) if !dir.is_symlink() => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Self::open(dir).map(Some),
        }
    }

    #[expect(missing_docs, reason = "its path")]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether a text can be the id of a run.
    pub fn is_id(run: &str) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !run.is_empty() && run.len() <= 128 && !run.starts_with('.') && run.bytes().all(is_plain)
    }

    fn entry_path(&self, directory: &str, run: &str) -> Result<PathBuf, UndoStoreError> {
        if Self::is_id(run) {
            Ok(self.path.join(directory).join(run))
        } else {
            Err(UndoStoreError::NoId(run.to_owned()))
        }
    }

    /// Returns the path of a run's manifest.
    ///
    /// # Errors
    /// [`UndoStoreError::NoId`]
    pub fn manifest_path(&self, run: &str) -> Result<PathBuf, UndoStoreError> {
        self.entry_path(POINTS, run)
    }

    /// Returns the directory with the kept files of a run. It is made with the first one.
    ///
    /// # Errors
    /// [`UndoStoreError::NoId`]
    pub fn image_directory(&self, run: &str) -> Result<PathBuf, UndoStoreError> {
        self.entry_path(FILES, run)
    }

    /// Creates the point of a run.
    ///
    /// # Errors
    /// If the point exists already, or cannot be created.
    pub fn create(
        &self,
        header: ManifestHeader,
        limits: UndoLimits,
    ) -> Result<(ManifestWriter, RunImages), UndoStoreError> {
        let (path, files) = (self.manifest_path(&header.run)?, self.image_directory(&header.run)?);
        let failed = |source| UndoStoreError::System { path: path.clone(), source };
        let images = RunImages::new(files, &header.run, &header.cwd, limits).map_err(failed)?;
        let writer = ManifestWriter::create(&path, header).map_err(failed)?;
        Ok((writer, images))
    }

    /// Continues a point whose writer was killed.
    ///
    /// # Errors
    /// If it cannot be written, or another process writes it.
    pub fn resume(&self, point: &RunManifest) -> Result<(ManifestWriter, RunImages), UndoStoreError> {
        let (path, files) = (self.manifest_path(&point.header.run)?, self.image_directory(&point.header.run)?);
        let failed = |source| UndoStoreError::System { path: path.clone(), source };
        let writer = ManifestWriter::resume(&path, point.length).map_err(failed)?;
        let mut images =
            RunImages::new(files, &point.header.run, &point.header.cwd, UndoLimits::NONE).map_err(failed)?;
        images.resume(point.places.values().cloned());
        Ok((writer, images))
    }

    /// Returns the path of the file of [`super::undo_traces::UndoTraces`].
    pub fn traces_path(&self) -> PathBuf {
        self.path.join(TRACES)
    }

    /// Reads the point of a run that has ended, or whose recorder was killed.
    ///
    /// # Errors
    /// If there is none, it cannot be read, or the run still goes on.
    pub fn read_undoable_run(&self, run: &str) -> Result<RunManifest, UndoStoreError> {
        let path = self.manifest_path(run)?;
        if !path.exists() {
            let run = run.to_owned();
            let why = self
                .with_index(|index, _| index.evicted().find(|gone| *gone.run == *run).map(|gone| gone.why.clone()))?;
            return Err(why.map_or_else(
                || UndoStoreError::NoPoint(run.clone()),
                |why| UndoStoreError::Evicted { run: run.clone(), why },
            ));
        }
        if self.is_running(run) {
            return Err(UndoStoreError::Running(run.to_owned()));
        }
        let point = manifest::read(&path)?;
        if point.is_undoable() { Ok(point) } else { Err(UndoStoreError::NoUndo(run.to_owned())) }
    }

    /// Returns whether the manifest of a run is still written.
    pub fn is_running(&self, run: &str) -> bool {
        let Ok(path) = self.manifest_path(run) else { return false };
        let file = fs::File::options().read(true).custom_flags(libc::O_NOFOLLOW).open(path);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
    }

    /// Returns whether a point exists, readable or not.
    pub fn has(&self, run: &str) -> bool {
        self.manifest_path(run).is_ok_and(|path| path.exists())
    }

    /// Returns the runs with a manifest, in no order.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn list_runs(&self) -> Result<Vec<String>, UndoStoreError> {
        let path = self.path.join(POINTS);
        let entries = fs::read_dir(&path).map_err(|source| UndoStoreError::System { path, source })?;
        Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    /// Returns the headers of the runs that still go on, or whose recorders were killed, in no order.
    ///
    /// # Errors
    /// As [`UndoStore::list_runs`], or if the index cannot be read.
    pub(crate) fn unended_headers(&self) -> Result<Vec<ManifestHeader>, UndoStoreError> {
        // Runs that end between the two are in the index.
        let mut runs = self.list_runs()?;
        self.with_index(|index, _| runs.retain(|run| !index.has(run)))?;
        Ok(runs.iter().filter_map(|run| manifest::read_header(&self.manifest_path(run).ok()?).ok()).collect())
    }

    /// Returns the undos of a run that may not have been completed, newest first. `unended` is
    /// [`UndoStore::unended_headers`].
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn undos_of(&self, run: &str, unended: &[ManifestHeader]) -> Result<Vec<String>, UndoStoreError> {
        let is_undo = |header: &&ManifestHeader| matches!(&header.purpose, ManifestPurpose::Undone(of) if of == run);
        let mut unended: Vec<&ManifestHeader> = unended.iter().filter(is_undo).collect();
        unended.sort_by_key(|header| std::cmp::Reverse(header.at));
        let mut undos: Vec<String> = unended.into_iter().map(|header| header.run.clone()).collect();
        self.with_index(|index, _| undos.extend(index.undos_of(run).map(|undo| undo.to_string())))?;
        Ok(undos)
    }

    /// Returns the summaries of the existing and the evicted points of some directories, in no order, and of these runs
    /// those that the index lacks.
    pub(crate) fn listed_points<'a>(
        &self,
        runs: &'a HashSet<String>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<(Vec<PointSummary>, Vec<&'a str>), UndoStoreError> {
        let path = self.path.join(INDEX);
        self.with_index(|index, file| {
            let unlisted = runs.iter().map(String::as_str).filter(|run| !index.has(run)).collect();
            let is_listed = |point: &IndexedPoint| point.undoable && is_wanted(&point.cwd);
            let living = index.living().filter(|((_, run), point)| is_listed(point) && runs.contains(&**run));
            let gone = index.evicted().filter(|gone| is_listed(&gone.point) && !index.has(&gone.run));
            let points = living.map(|(_, point)| (point, "")).chain(gone.map(|gone| (&gone.point, gone.why.as_str())));
            let summaries = file.map_or_else(|| Ok(Vec::new()), |file| point_index::summaries(file, points));
            summaries.map(|summaries| (summaries, unlisted)).map_err(|source| UndoStoreError::System { path, source })
        })?
    }

    /// Lets a function use the index, as it is now, and the file that it was read from.
    fn with_index<T>(&self, read: impl FnOnce(&PointIndex, Option<&File>) -> T) -> Result<T, UndoStoreError> {
        self.with_memory(|known| {
            let path = self.path.join(INDEX);
            let file = known.index.refresh(&path).map_err(|source| UndoStoreError::System { path, source })?;
            Ok(read(&known.index, file.as_ref()))
        })
    }

    fn with_memory<T>(&self, act: impl FnOnce(&mut StoreMemory) -> T) -> T {
        let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = Arc::clone(all.entry(self.path.clone()).or_default());
        drop(all);
        act(&mut known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until no other process undoes or evicts. The lock is held as long as the file is open.
    ///
    /// # Errors
    /// If the file cannot be opened or locked.
    pub fn lock(&self) -> Result<fs::File, UndoStoreError> {
        let file = self.lock_file()?;
        file.lock().map_err(|source| UndoStoreError::System { path: self.path.join(LOCK), source })?;
        Ok(file)
    }

    fn lock_file(&self) -> Result<fs::File, UndoStoreError> {
        let path = self.path.join(LOCK);
        let opened = fs::File::options().write(true).create(true).truncate(false).mode(0o600).open(&path);
        opened.map_err(|source| UndoStoreError::System { path, source })
    }

    /// Makes a directory beside the points, for the files of one undo that conflicts keep from being put back.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn conflict_directory(&self, undo: &str) -> Result<PathBuf, UndoStoreError> {
        let path = self.path.join(KEPT).join(undo);
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
                Err(UndoStoreError::System { path, source })
            }
            _ => Ok(path),
        }
    }

    /// Writes down a point that has ended, for lists and evictions.
    ///
    /// # Errors
    /// If the index cannot be written. The next stocktaking finds the point.
    pub fn add_summary(&self, summary: &PointSummary) -> Result<(), UndoStoreError> {
        self.append(&IndexLine::Point(summary))
    }

    fn append(&self, line: &IndexLine<&PointSummary>) -> Result<(), UndoStoreError> {
        let path = self.path.join(INDEX);
        point_index::append(&path, line).map_err(|source| UndoStoreError::System { path, source })
    }

    /// Reads the part of a point that lists and evictions need from its manifest.
    pub fn read_summary(&self, run: &str) -> Option<PointSummary> {
        let point = manifest::read(&self.manifest_path(run).ok()?).ok()?;
        Some(PointSummary::of(&point.header, point.end.as_ref(), self.measure_point(&point), point.states_before.len()))
    }

    /// Returns the size of a point, as it is now.
    pub fn measure_point(&self, point: &RunManifest) -> StoredSize {
        let length = self.manifest_path(&point.header.run).and_then(|path| {
            fs::metadata(&path).map(|data| data.len()).map_err(|source| UndoStoreError::System { path, source })
        });
        let mut size = StoredSize { bytes: 0, cost: cost_of(length.unwrap_or(0)) };
        let home = self.image_directory(&point.header.run).ok();
        for place in home.into_iter().chain(point.places.values().cloned()) {
            let Ok(entries) = fs::read_dir(place) else { continue };
            size.cost += cost_of(BLOCK);
            for data in entries.flatten().filter_map(|entry| entry.metadata().ok()) {
                size.bytes += data.len();
                size.cost += cost_of(data.len());
            }
        }
        size
    }

    /// Removes a point with everything it keeps.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub fn remove(&self, run: &str) -> Result<(), UndoStoreError> {
        let (path, files) = (self.manifest_path(run)?, self.image_directory(run)?);
        if let Ok(point) = manifest::read(&path) {
            for place in point.places.values().filter(|place| place.ends_with(run)) {
                let _gone = fs::remove_dir_all(place);
                // Other runs may use it.
                let _used = place.parent().map(fs::remove_dir);
            }
        }
        // The manifest goes last, so that files without one are never left.
        remove_tree(files)?;
        match fs::remove_file(&path) {
            // An earlier build has made it.
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => remove_tree(path),
            removed => removed.map_err(|source| UndoStoreError::System { path, source }),
        }
    }
}

/// Removes a directory that may be missing, with everything in it.
fn remove_tree(path: PathBuf) -> Result<(), UndoStoreError> {
    match fs::remove_dir_all(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(UndoStoreError::System { path, source }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod eviction_tests;
#[cfg(test)]
#[path = "tests.rs"]
mod tests;
