//! A run on its way into the store.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use receipt::Completeness;
use receipt::recording::mark;
use receipt::watch::Mark;

use super::copy::{Copied, SharedCopy, shared};
use super::store::add;
use super::stored::{Key, Stored};

/// The part of the store that one output may take.
const SHARE: u64 = 4;

/// A run whose result may be given again once it has ended.
#[derive(Debug)]
pub struct Candidate {
    key: Key,
    root: PathBuf,
    /// The tree right before the run.
    begin: Mark,
    copy: SharedCopy,
    /// The most bytes of all outputs.
    most: u64,
}

impl Candidate {
    /// Begins a run with this key, in a directory of the tree with this root. `most`: the most bytes of all outputs.
    /// `temp`: the directory for long ones. Blocks.
    pub fn begin(key: Key, (directory, root): (&Path, PathBuf), most: u64, temp: &Path) -> Self {
        Self { key, root, begin: mark(directory), copy: shared(most / SHARE, temp), most }
    }

    /// Returns the copy of its output.
    pub fn copy(&self) -> &SharedCopy {
        &self.copy
    }

    /// Handles the end of the run, just now in this directory. Returns its result, if it has changed nothing and all of
    /// its output is there. Blocks.
    pub fn end(self, directory: &Path, stored: impl FnOnce(Copied) -> Stored) -> Option<Storable> {
        let end = mark(directory);
        let changed = self.begin.changed();
        let is_clean = changed.state == Completeness::Known && changed.paths.is_empty() && !changed.git;
        let output = self.copy.lock().unwrap_or_else(PoisonError::into_inner).finish();
        let stored = stored(output.filter(|_| is_clean)?);
        Some(Storable { root: self.root, end, key: self.key, stored, most: self.most })
    }
}

/// A run that can be stored.
#[derive(Debug)]
pub struct Storable {
    root: PathBuf,
    end: Mark,
    key: Key,
    stored: Stored,
    most: u64,
}

impl Storable {
    /// Stores the run. Blocks.
    pub fn store(self) {
        add(&self.root, self.end, self.key, self.stored, self.most);
    }
}
