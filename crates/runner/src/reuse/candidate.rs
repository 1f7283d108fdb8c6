//! A run on its way into the store.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use receipt::Completeness;
use receipt::recording::mark;
use receipt::watch::Mark;

use super::copy::{Copied, SharedCopy, shared};
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

    /// Stores the run, which has just ended in this directory, if it has changed nothing and all of its output is there.
    /// Blocks.
    pub fn end(self, directory: &Path, stored: impl FnOnce(Copied) -> Stored) {
        let end = mark(directory);
        let changed = self.begin.changed();
        let is_clean = changed.state == Completeness::Known && changed.paths.is_empty() && !changed.git;
        let mut copy = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        if is_clean && let Some(output) = copy.finish() {
            super::store::add(&self.root, end, self.key, stored(output), self.most);
        }
    }
}
