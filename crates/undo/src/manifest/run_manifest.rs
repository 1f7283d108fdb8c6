//! A manifest that was read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::manifest_records::{ManifestEnd, ManifestHeader, ManifestPurpose, ManifestRecord, RecordedRename};
use crate::directory_names::DirectoryNames;
use crate::path_map::{PathMap, is_within};
use crate::path_state::{FileIdentity, PathState};

/// Retention of a point.
pub const RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The manifest of a run, as it was read: the undo point of the run, with its first two states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunManifest {
    #[expect(missing_docs, reason = "the run")]
    pub header: ManifestHeader,
    /// The directories of kept files besides the store, by number.
    pub places: BTreeMap<u16, PathBuf>,
    /// The earlier things, by their earlier paths.
    pub states_before: PathMap<PathState>,
    /// The things that the command left, by their current paths.
    pub states_after_run: PathMap<PathState>,
    /// The renames that have happened, also of files.
    pub moved: Vec<RecordedRename>,
    /// Renames that may or may not have happened. Only a run without an end has any.
    pub moving: Vec<RecordedRename>,
    /// The directories that the command moved and made.
    pub names: DirectoryNames,
    /// Things that are not covered: path and reason.
    pub uncovered: Vec<(PathBuf, String)>,
    /// Things that an undo was changing, by the current path.
    pub half_changed: HashMap<PathBuf, FileIdentity>,
    /// Current paths of things that other programs made, or changed after the run.
    pub foreign_paths: BTreeSet<PathBuf>,
    /// `None` if the run goes on, or its recorder was killed.
    pub end: Option<ManifestEnd>,
    /// Bytes of the file that hold whole records.
    pub length: u64,
}

impl RunManifest {
    /// Returns a manifest that has nothing but its header.
    pub fn new(header: ManifestHeader) -> Self {
        Self {
            header,
            places: BTreeMap::new(),
            states_before: PathMap::new(),
            states_after_run: PathMap::new(),
            moved: Vec::new(),
            moving: Vec::new(),
            names: DirectoryNames::default(),
            uncovered: Vec::new(),
            half_changed: HashMap::new(),
            foreign_paths: BTreeSet::new(),
            end: None,
            length: 0,
        }
    }

    /// Returns whether the run can be undone.
    pub fn is_undoable(&self) -> bool {
        self.header.purpose != ManifestPurpose::Receipt
    }

    /// Returns whether a path leads to a file of the store, or to a kept file on another mount. Reports name such a
    /// file by its other names, which a reader knows.
    pub fn is_own(&self, store: &Path, path: &Path) -> bool {
        is_within(path, store) || self.places.values().any(|place| is_within(path, place))
    }

    /// Adds a record.
    pub fn add(&mut self, record: ManifestRecord) {
        match record {
            ManifestRecord::Header(_) => {}
            ManifestRecord::Place { number, path } => {
                self.places.insert(number, path);
            }
            ManifestRecord::Before { path, state } => {
                self.states_before.add(path, state);
            }
            ManifestRecord::Kept { path, contents } => {
                if let Some(PathState::File(file)) = self.states_before.get_mut(&path) {
                    file.contents = contents;
                }
            }
            ManifestRecord::Moving(moving) => {
                self.moving.retain(|earlier| !moving.replaces(earlier));
                self.moving.push(moving);
            }
            ManifestRecord::Renamed(moved) => self.rename(moved),
            ManifestRecord::Made { path } => self.names.make(&path),
            ManifestRecord::Gone { path } => self.names.remove(&path),
            ManifestRecord::Missing { path, why } => self.uncovered.push((path, why)),
            ManifestRecord::Writing { path, id } => {
                self.half_changed.insert(path, id);
            }
            ManifestRecord::After { path, state } => {
                self.states_after_run.insert(path, state);
            }
            ManifestRecord::Others { path } => {
                self.foreign_paths.insert(path);
            }
            ManifestRecord::End(end) => {
                self.moving.clear();
                self.end = Some(end);
            }
        }
    }

    /// Records that a rename has happened.
    pub fn rename(&mut self, moved: RecordedRename) {
        self.moving.retain(|moving| *moving != moved);
        moved.apply(&mut self.names);
        self.moved.push(moved);
    }
}
