//! A run on its way into the store.

use std::fs::metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use receipt::Completeness;
use receipt::recording::mark;
use receipt::watch::Mark;

use super::copy::{Copied, SharedCopy, shared};
use super::store::add;
use super::stored::{Ground, Key, Stored};

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
    /// Why its result may be given again.
    ground: Ground,
}

impl Candidate {
    /// Begins a run with this key, in a directory of the tree with this root. `most`: the most bytes of all outputs.
    /// `temp`: the directory for long ones. Blocks.
    pub fn begin(key: Key, (directory, root): (&Path, PathBuf), ground: Ground, (most, temp): (u64, &Path)) -> Self {
        Self { key, root, begin: mark(directory), copy: shared(most / SHARE, temp), most, ground }
    }

    /// Returns the copy of its output.
    pub fn copy(&self) -> &SharedCopy {
        &self.copy
    }

    /// Handles the end of the run, just now in this directory. Returns its result, if it has changed nothing and all of
    /// its output is there. `is_alone`: no other command runs in its tree. Blocks.
    pub fn end(
        self,
        directory: &Path,
        is_alone: impl FnOnce(&Path) -> bool,
        stored: impl FnOnce(Key, Ground, Copied) -> Stored,
    ) -> Option<Storable> {
        let end = mark(directory);
        // The directory may be a link.
        let is_there =
            end.root == self.root && metadata(directory).is_ok_and(|it| (it.dev(), it.ino()) == self.key.directory);
        let is_clean = match self.ground {
            // Programs may keep what they need in ignored files.
            Ground::Vouched => {
                let changed = self.begin.changed();
                changed.state == Completeness::Known && !changed.git && self.begin.written().is_none()
            }
            Ground::Reads | Ground::Confined => self.begin.touched().is_none(),
        };
        let output = self.copy.lock().unwrap_or_else(PoisonError::into_inner).finish();
        let output = output.filter(|_| is_there && is_clean && is_alone(&self.root))?;
        let stored = stored(self.key, self.ground, output);
        // The tap may be larger than the output.
        (stored.bytes() <= self.most / SHARE).then_some(Storable { root: self.root, end, stored, most: self.most })
    }
}

/// A run that can be stored.
#[derive(Debug)]
pub struct Storable {
    root: PathBuf,
    end: Mark,
    stored: Stored,
    most: u64,
}

impl Storable {
    /// Stores the run. Blocks.
    pub fn store(self) {
        add(&self.root, self.end, self.stored, self.most);
    }
}
