//! An undo at work: its record, and the files that it has changed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::disk_tree::DiskTree;
use super::open_route::OpenRoute;
use super::outcome::{UndoError, UndoOutcome};
use super::step_failure::StepFailure;
use crate::change_journal::{ChangeJournal, ComingChange};
use crate::manifest::{ManifestRecord, RunManifest};
use crate::path_lookup::{RoutedPath, read_state};
use crate::path_state::{FileIdentity, PathState};
use crate::plan::UndoPlan;
use crate::store::UndoStore;

/// An undo at work.
pub(super) struct UndoExecutor<'a> {
    pub point: &'a RunManifest,
    pub tree: &'a DiskTree<'a>,
    journal: ChangeJournal,
    stops: &'a mut dyn FnMut(&str) -> bool,
    pub undone: UndoOutcome,
    /// The route to the thing that was restored last.
    pub last: Option<OpenRoute>,
    /// Files with several names, by their identity before the run, with the current path of one name.
    pub linked: HashMap<FileIdentity, PathBuf>,
    /// Files with several names whose contents this undo has changed through one name.
    pub altered: HashSet<FileIdentity>,
    /// Files with a name that stays as it is.
    pub contested: HashSet<FileIdentity>,
    /// The touched names of each file with several names, as they were before the run.
    pub names_of: HashMap<FileIdentity, Vec<PathBuf>>,
}

impl<'a> UndoExecutor<'a> {
    pub fn new(
        point: &'a RunManifest,
        tree: &'a DiskTree<'a>,
        plan: &UndoPlan,
        journal: ChangeJournal,
        stops: &'a mut dyn FnMut(&str) -> bool,
    ) -> Self {
        let mut names_of: HashMap<FileIdentity, Vec<PathBuf>> = HashMap::new();
        for (path, state) in point.states_before.iter() {
            if let PathState::File(file) = state
                && file.links > 1
            {
                names_of.entry(file.meta.id).or_default().push(path.to_owned());
            }
        }
        Self {
            point,
            tree,
            journal,
            stops,
            undone: UndoOutcome::default(),
            last: None,
            linked: HashMap::new(),
            altered: HashSet::new(),
            contested: plan.contested.clone(),
            names_of,
        }
    }

    /// Removes the files that a killed undo has left beside the files that it was restoring.
    pub fn remove_leftovers(&mut self, unfinished: &RunManifest) {
        for path in unfinished.states_before.keys().chain(self.point.states_before.keys()) {
            for now in [path.to_owned(), self.point.names.current_entry(path)] {
                let Ok(way) = OpenRoute::open(&now) else { continue };
                let _none = remove_if_there(&self.temporary_path(way.as_routed_path()));
                let _none = remove_if_there(&self.temporary_lock_path(way.as_routed_path()));
                let _none = fs::remove_dir(self.temporary_path(way.as_routed_path()));
            }
        }
        for (path, id) in &unfinished.half_changed {
            let Ok(way) = OpenRoute::open(path) else { continue };
            let (is_lock, lock) =
                (path.extension().is_some_and(|extension| extension == "lock"), way.as_routed_path().reach);
            if is_lock && read_state(lock).is_ok_and(|state| state.id() == Some(*id) && state.size() == Some(0)) {
                let _none = remove_if_there(lock);
            }
        }
    }

    /// Ends the record of the undo and returns its effect.
    ///
    /// # Errors
    /// If the record cannot be ended.
    pub fn finish(self, undone: UndoOutcome) -> Result<UndoOutcome, UndoError> {
        if (self.stops)("finish") {
            return Err(UndoError::Stopped);
        }
        let run = self.journal.header().run.clone();
        self.journal.finish(Vec::new())?;
        Ok(UndoOutcome { undo: run, not_covered: undone.not_covered, ..self.undone })
    }

    pub(super) fn store(&self) -> &UndoStore {
        self.journal.store()
    }

    pub(super) fn offer_stop(&mut self, name: &str) -> Result<(), StepFailure> {
        if (self.stops)(name) { Err(StepFailure::Stopped) } else { Ok(()) }
    }

    pub(super) fn record_change(&mut self, at: RoutedPath<'_>, change: ComingChange<'_>) -> Result<(), StepFailure> {
        Ok(self.journal.record_before_change(at, change)?)
    }

    pub(super) fn append_record(&mut self, record: &ManifestRecord) -> Result<(), StepFailure> {
        Ok(self.journal.append_record(record)?)
    }

    /// Returns a name beside a path, for a thing that is not yet in its place.
    pub(super) fn temporary_path(&self, at: RoutedPath<'_>) -> PathBuf {
        let mut bytes = self.journal.header().run.clone().into_bytes();
        bytes.extend_from_slice(at.path.as_os_str().as_bytes());
        let hash = twox_hash::XxHash3_128::oneshot(&bytes);
        at.reach.with_file_name(format!(".agent-bash-undo-{hash:032x}"))
    }

    /// Returns a name beside git's lock of a path, like [`Self::temporary_path`].
    pub(super) fn temporary_lock_path(&self, at: RoutedPath<'_>) -> PathBuf {
        self.temporary_path(RoutedPath { path: &at.path.with_extension("lock"), reach: at.reach, is_vacant: false })
    }

    /// Returns whether a thing is as it was when the plan was made. The number of its names does not count, because our
    /// record adds a name.
    pub(super) fn is_unchanged(&self, path: &Path, then: &PathState) -> bool {
        read_state(path).is_ok_and(|now| match (&now, then) {
            _ if self.is_altered(&now) && now.id() == then.id() => true,
            (PathState::File(now), PathState::File(then)) => self.tree.is_unwritten(then, now) && now.meta == then.meta,
            _ => now == *then,
        })
    }

    /// Returns the number of names by which the record of this undo keeps a file.
    pub(super) fn journal_names_of(&self, id: FileIdentity) -> u64 {
        self.journal.names_of(id)
    }

    pub(super) fn is_altered(&self, now: &PathState) -> bool {
        now.id().is_some_and(|id| self.altered.contains(&id))
    }
}

/// Removes a file, if it exists.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
