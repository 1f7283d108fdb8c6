//! A run on its way into the store.

use std::fs::metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use receipt::ReceiptCompleteness;
use receipt::recording::mark;
use receipt::watch::TreeMark;

use super::output_copy::{SharedOutputCopy, WholeOutputCopy, begin_shared_copy};
use super::reuse_store::add_run;
use super::stored_run::{ReuseGround, ReuseKey, StoredRun};

/// The part of the store that one output may take.
const SHARE: u64 = 4;

/// A run whose result may be given again once it has ended.
#[derive(Debug)]
pub struct ReuseCandidate {
    key: ReuseKey,
    root: PathBuf,
    /// The tree right before the run.
    begin: TreeMark,
    copy: SharedOutputCopy,
    /// The most bytes of all outputs.
    most: u64,
    /// Why its result may be given again.
    ground: ReuseGround,
}

impl ReuseCandidate {
    /// Begins a run with this key, in a directory of the tree with this root. `most`: the most bytes of all outputs.
    /// `temp`: the directory for long ones. Blocks.
    pub fn begin(
        key: ReuseKey,
        (directory, root): (&Path, PathBuf),
        ground: ReuseGround,
        (most, temp): (u64, &Path),
    ) -> Self {
        Self { key, root, begin: mark(directory), copy: begin_shared_copy(most / SHARE, temp), most, ground }
    }

    /// Returns the copy of its output.
    pub fn copy(&self) -> &SharedOutputCopy {
        &self.copy
    }

    /// Handles the end of the run, just now in this directory. Returns its result, if it has changed nothing and all of
    /// its output is there. `is_alone`: no other command runs in its tree. Blocks.
    pub fn end(
        self,
        directory: &Path,
        is_alone: impl FnOnce(&Path) -> bool,
        stored: impl FnOnce(ReuseKey, ReuseGround, WholeOutputCopy) -> StoredRun,
    ) -> Option<StorableRun> {
        let end = mark(directory);
        // The directory may be a link.
        let is_there =
            end.root == self.root && metadata(directory).is_ok_and(|it| (it.dev(), it.ino()) == self.key.directory);
        let is_clean = match self.ground {
            // Programs may keep what they need in ignored files.
            ReuseGround::Vouched => {
                let changed = self.begin.changed();
                changed.state == ReceiptCompleteness::Known && !changed.git && self.begin.written_reason().is_none()
            }
            ReuseGround::ReadsOnly | ReuseGround::Confined => self.begin.touched_reason().is_none(),
        };
        let output = self.copy.lock().unwrap_or_else(PoisonError::into_inner).finish();
        let output = output.filter(|_| is_there && is_clean && is_alone(&self.root))?;
        let stored = stored(self.key, self.ground, output);
        // The tap may be larger than the output.
        (stored.bytes() <= self.most / SHARE).then_some(StorableRun { root: self.root, end, stored, most: self.most })
    }
}

/// A run that can be stored.
#[derive(Debug)]
pub struct StorableRun {
    root: PathBuf,
    end: TreeMark,
    stored: StoredRun,
    most: u64,
}

impl StorableRun {
    /// Stores the run. Blocks.
    pub fn store(self) {
        add_run(&self.root, self.end, self.stored, self.most);
    }
}
