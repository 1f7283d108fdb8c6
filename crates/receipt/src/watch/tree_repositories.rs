//! The repositories of a tree. git is never run. `.git` is watched, apart from objects and logs, and its files are read
//! again when something below it is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::change_window::renamed;
use crate::git::{RepositorySnapshot, compare};
use crate::{ReceiptCompleteness, RepositoryChange};
use sys::TreeEvent;

/// Returns whether a report on a file below a `.git` is about a lock, which comes and goes.
pub fn is_lock(event: &TreeEvent) -> bool {
    event.name.as_encoded_bytes().ends_with(b".lock")
}

/// All repositories of a tree, by the tops of their work trees.
#[derive(Debug, Default)]
pub struct TreeRepositories {
    /// The known repositories.
    pub known: BTreeMap<PathBuf, KnownRepository>,
    /// Tops at which another repository than before may be.
    pub again: BTreeSet<PathBuf>,
    /// Whether anything below a `.git` was reported.
    pub is_changed: bool,
}

/// A repository.
#[derive(Debug)]
pub struct KnownRepository {
    /// Last snapshot of the repository.
    pub snapshot: Option<Arc<RepositorySnapshot>>,
    /// Whether all of the repository is watched. If not, it is read after each command.
    pub is_watched: bool,
}

impl TreeRepositories {
    /// Handles a report on a file below a `.git`.
    pub fn on_event(&mut self, event: &TreeEvent) {
        self.is_changed |= !is_lock(event);
    }

    /// Records that another repository than before may be at a top.
    pub fn mark_for_rereading(&mut self, top: PathBuf) {
        self.again.insert(top);
    }

    /// Records that every repository may have changed.
    pub fn mark_all_changed(&mut self) {
        self.again.extend(self.known.keys().cloned());
    }

    /// Records that the repositories below a directory may be gone.
    pub fn mark_all_below(&mut self, directory: &Path) {
        self.again.extend(self.known.keys().filter(|top| top.starts_with(directory)).cloned());
    }

    /// Records the rename of a directory, with the repositories below it.
    pub fn rename(&mut self, from: &Path, to: &Path) {
        let tops: Vec<_> = self.known.keys().filter(|top| top.starts_with(from)).cloned().collect();
        for top in tops {
            let Some(known) = self.known.remove(&top) else { continue };
            let top = renamed(&top, from, to);
            self.again.insert(top.clone());
            self.known.insert(top, known);
        }
    }

    /// Returns the last snapshots.
    pub fn snapshots(&self) -> BTreeMap<PathBuf, Arc<RepositorySnapshot>> {
        let snapshot = |(top, known): (&PathBuf, &KnownRepository)| Some((top.clone(), known.snapshot.clone()?));
        self.known.iter().filter_map(snapshot).collect()
    }

    /// Compares the last snapshots with earlier ones. Returns the changes, and why changes may be unknown.
    pub fn compare(
        &self,
        before: &BTreeMap<PathBuf, Arc<RepositorySnapshot>>,
    ) -> (Vec<RepositoryChange>, Vec<(ReceiptCompleteness, String)>) {
        let after = self.snapshots();
        let tops: BTreeSet<_> = before.keys().chain(after.keys()).collect();
        let (mut changes, mut unknown) = (Vec::new(), Vec::new());
        for top in tops {
            let (before, after) = (before.get(top).map(|it| &**it), after.get(top).map(|it| &**it));
            let Some(compared) = compare(top, before, after, false) else { continue };
            unknown.extend(compared.unknown.map(|why| (ReceiptCompleteness::Unknown, why)));
            unknown.extend(compared.doubt.map(|doubt| (ReceiptCompleteness::Partial, doubt)));
            changes.push(compared.change);
        }
        (changes, unknown)
    }

    /// Returns whether the last snapshots are up to date.
    pub fn is_fresh(&self) -> bool {
        !self.is_changed && self.again.is_empty() && self.known.values().all(|known| known.is_watched)
    }
}
