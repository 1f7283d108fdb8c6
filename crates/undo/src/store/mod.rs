//! The directory of all points: one directory for each run, with its manifest and the files it keeps.
//!
//! The store is private to its user. An evicted point is written down, and listed with the points.

mod error;
mod evict;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::error::StoreError;
use crate::images::{Images, Limits};
use crate::manifest::{self, End, Extent, Header, Point, Purpose, Writer};

/// The directories in the directory of the store.
const POINTS: &str = "points";
const KEPT: &str = "kept";
/// The lock of the process that undoes or evicts.
const LOCK: &str = "lock";
/// The evicted points, one line of JSON each.
const EVICTED: &str = "evicted.jsonl";
/// The traces of undos.
const TRACES: &str = "traces";
/// Names in the directory of a run.
const MANIFEST: &str = "manifest";
const SUMMARY: &str = "summary";
const FILES: &str = "files";

/// A point in lists, including evicted points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    #[expect(missing_docs, reason = "the run")]
    pub run: String,
    #[expect(missing_docs, reason = "its command")]
    pub command: String,
    /// Directory of the command, as text.
    pub cwd: String,
    /// Start of the run, in ms since 1970.
    pub at: u64,
    /// Bytes that the point keeps, or that its eviction freed.
    pub bytes: u64,
    /// Whether the point covered everything.
    pub all: bool,
    /// Whether the run can be undone.
    pub undoable: bool,
    /// The reason of the eviction. Empty if the point is there.
    pub why: String,
}

impl Summary {
    fn of(header: &Header, end: Option<&End>, bytes: u64) -> Self {
        Self {
            run: header.run.clone(),
            command: header.command.clone(),
            cwd: header.cwd.to_string_lossy().into_owned(),
            at: header.at,
            bytes,
            all: end.is_some_and(|end| end.extent == Extent::All),
            undoable: header.purpose != Purpose::Receipt,
            why: String::new(),
        }
    }
}

/// The points that were removed to make room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evicted {
    #[expect(missing_docs, reason = "the points, oldest first")]
    pub points: Vec<Summary>,
    /// Bytes that the other points hold. `None`: an undo is at work, and no point was checked.
    pub left: Option<u64>,
}

/// The directory of the store. Cheap to clone, and holds nothing open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
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
        |entry: fs::DirEntry| ![POINTS, KEPT, LOCK, EVICTED, TRACES].iter().any(|own| entry.file_name() == *own);
    fs::read_dir(dir).is_ok_and(|entries| entries.flatten().any(is_other))
}

impl Store {
    /// Opens the store, and creates it with mode 0700 if it is missing.
    ///
    /// # Errors
    /// If it cannot be created, is a link, belongs to another user, or is a directory with other files.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::System { path: dir.to_owned(), source };
        let dir = std::path::absolute(dir).map_err(failed)?;
        if !is_store(&dir) {
            if has_other_files(&dir) {
                return Err(StoreError::NoStore(dir));
            }
            if let Some(parent) = dir.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
            }
        }
        for below in [None, Some(KEPT), Some(POINTS)] {
            capture::open_private(&below.map_or_else(|| dir.clone(), |below| dir.join(below)))?;
        }
        Ok(Self { path: dir })
    }

    /// Opens the store if it exists. Creates nothing.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn existing(dir: &Path) -> Result<Option<Self>, StoreError> {
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

    fn run_dir(&self, run: &str) -> Result<PathBuf, StoreError> {
        if Self::is_id(run) { Ok(self.path.join(POINTS).join(run)) } else { Err(StoreError::NoId(run.to_owned())) }
    }

    /// Returns the path of a run's manifest.
    ///
    /// # Errors
    /// [`StoreError::NoId`]
    pub fn manifest(&self, run: &str) -> Result<PathBuf, StoreError> {
        Ok(self.run_dir(run)?.join(MANIFEST))
    }

    /// Returns the directory with the kept files of a run.
    ///
    /// # Errors
    /// [`StoreError::NoId`]
    pub fn files(&self, run: &str) -> Result<PathBuf, StoreError> {
        Ok(self.run_dir(run)?.join(FILES))
    }

    /// Creates the point of a run.
    ///
    /// # Errors
    /// If the point exists already, or cannot be created.
    pub fn create(&self, header: Header, limits: Limits) -> Result<(Writer, Images), StoreError> {
        let dir = self.run_dir(&header.run)?;
        let failed = |source| StoreError::System { path: dir.clone(), source };
        DirBuilder::new().mode(0o700).create(&dir).map_err(failed)?;
        let images = Images::new(dir.join(FILES), &header.run, &header.cwd, limits).map_err(failed)?;
        let writer = Writer::create(&dir.join(MANIFEST), header).map_err(failed)?;
        Ok((writer, images))
    }

    /// Continues a point whose writer was killed.
    ///
    /// # Errors
    /// If it cannot be written, or another process writes it.
    pub fn resume(&self, point: &Point) -> Result<(Writer, Images), StoreError> {
        let dir = self.run_dir(&point.header.run)?;
        let failed = |source| StoreError::System { path: dir.clone(), source };
        let writer = Writer::resume(&dir.join(MANIFEST), point.length).map_err(failed)?;
        let mut images =
            Images::new(dir.join(FILES), &point.header.run, &point.header.cwd, Limits::NONE).map_err(failed)?;
        images.resume(point.places.values().cloned());
        Ok((writer, images))
    }

    /// Returns the path of the file of [`super::traces::Traces`].
    pub fn traces(&self) -> PathBuf {
        self.path.join(TRACES)
    }

    /// Reads the point of a run that has ended, or whose recorder was killed.
    ///
    /// # Errors
    /// If there is none, it cannot be read, or the run still goes on.
    pub fn point(&self, run: &str) -> Result<Point, StoreError> {
        let path = self.manifest(run)?;
        if !path.exists() {
            let evicted = self.evicted().into_iter().find(|evicted| evicted.run == run);
            return Err(match evicted {
                Some(Summary { run, why, .. }) => StoreError::Evicted { run, why },
                None => StoreError::NoPoint(run.to_owned()),
            });
        }
        if self.is_running(run) {
            return Err(StoreError::Running(run.to_owned()));
        }
        let point = manifest::read(&path)?;
        if point.is_undoable() { Ok(point) } else { Err(StoreError::NoUndo(run.to_owned())) }
    }

    /// Returns whether the manifest of a run is still written.
    pub fn is_running(&self, run: &str) -> bool {
        let Ok(path) = self.manifest(run) else { return false };
        let file = fs::File::options().read(true).custom_flags(libc::O_NOFOLLOW).open(path);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
    }

    /// Returns whether a point exists, readable or not.
    pub fn has(&self, run: &str) -> bool {
        self.manifest(run).is_ok_and(|path| path.exists())
    }

    /// Returns the runs with a point, in no order.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn runs(&self) -> Result<Vec<String>, StoreError> {
        let path = self.path.join(POINTS);
        let entries = fs::read_dir(&path).map_err(|source| StoreError::System { path, source })?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|run| self.has(run)).collect())
    }

    /// Returns the headers of the undos of a run, newest first, whether or not they were completed.
    ///
    /// # Errors
    /// As [`Store::runs`].
    pub fn undos_of(&self, run: &str) -> Result<Vec<Header>, StoreError> {
        let headers = self.runs()?.into_iter().filter_map(|run| manifest::read_header(&self.manifest(&run).ok()?).ok());
        let mut undos: Vec<Header> =
            headers.filter(|header| matches!(&header.purpose, Purpose::Undone(of) if of == run)).collect();
        undos.sort_by(|one, two| (two.at, &two.run).cmp(&(one.at, &one.run)));
        Ok(undos)
    }

    /// Waits until no other process undoes or evicts. The lock is held as long as the file is open.
    ///
    /// # Errors
    /// If the file cannot be opened or locked.
    pub fn lock(&self) -> Result<fs::File, StoreError> {
        let file = self.lock_file()?;
        file.lock().map_err(|source| StoreError::System { path: self.path.join(LOCK), source })?;
        Ok(file)
    }

    fn lock_file(&self) -> Result<fs::File, StoreError> {
        let path = self.path.join(LOCK);
        let opened = fs::File::options().write(true).create(true).truncate(false).mode(0o600).open(&path);
        opened.map_err(|source| StoreError::System { path, source })
    }

    /// Makes a directory beside the points, for the files of one undo that conflicts keep from being put back.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn kept(&self, undo: &str) -> Result<PathBuf, StoreError> {
        let path = self.path.join(KEPT).join(undo);
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(source) if source.kind() != io::ErrorKind::AlreadyExists => Err(StoreError::System { path, source }),
            _ => Ok(path),
        }
    }

    /// Returns the evicted points, oldest first.
    pub fn evicted(&self) -> Vec<Summary> {
        let text = fs::read_to_string(self.path.join(EVICTED)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Writes the summary of a point that has ended, for lists.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_summary(&self, header: &Header, end: &End) -> Result<(), StoreError> {
        let path = self.run_dir(&header.run)?.join(SUMMARY);
        let failed = |source| StoreError::System { path: path.clone(), source };
        let bytes = serde_json::to_vec(&Summary::of(header, Some(end), end.bytes)).map_err(io::Error::other);
        let next = path.with_extension("new");
        let written = bytes.and_then(|bytes| fs::write(&next, bytes)).and_then(|()| fs::rename(&next, &path));
        written.map_err(failed)
    }

    /// Returns the part of a point that lists and evictions need.
    pub fn summary(&self, run: &str) -> Option<Summary> {
        if let Ok(bytes) = fs::read(self.run_dir(run).ok()?.join(SUMMARY)) {
            return serde_json::from_slice(&bytes).ok();
        }
        let point = manifest::read(&self.manifest(run).ok()?).ok()?;
        let end = point.end.as_ref();
        let bytes = end.map_or_else(|| self.measured(&point), |end| end.bytes);
        Some(Summary::of(&point.header, end, bytes))
    }

    /// Returns the bytes of the files that a point keeps.
    pub fn measured(&self, point: &Point) -> u64 {
        let home = self.files(&point.header.run).ok();
        let places = home.into_iter().chain(point.places.values().cloned());
        let files = places.filter_map(|place| fs::read_dir(place).ok()).flat_map(Iterator::flatten);
        files.filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).sum()
    }

    /// Removes a point with everything it keeps.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub fn remove(&self, run: &str) -> Result<(), StoreError> {
        let dir = self.run_dir(run)?;
        if let Ok(point) = manifest::read(&dir.join(MANIFEST)) {
            for place in point.places.values().filter(|place| place.ends_with(run)) {
                let _gone = fs::remove_dir_all(place);
                // Other runs may use it.
                let _used = place.parent().map(fs::remove_dir);
            }
        }
        fs::remove_dir_all(&dir).map_err(|source| StoreError::System { path: dir, source })
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
