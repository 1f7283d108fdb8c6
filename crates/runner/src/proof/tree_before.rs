//! The changes of files between the runs of a check.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use evidence::{ChangesSinceRun, EvidenceCompleteness};
use receipt::ReceiptCompleteness;
use receipt::recording::mark;
use receipt::watch::{ChangedFiles, TreeMark};

/// Most paths of `since`.
const PATHS: usize = 20;

/// The tree of a command right before its start.
#[derive(Debug)]
pub struct TreeBeforeCommand {
    /// For each run that passed and is marked in this tree, the changes since its end.
    since: HashMap<String, ChangesSinceRun>,
}

impl TreeBeforeCommand {
    /// Reads the tree of a directory. The first command in a tree begins to watch it, and waits up to 25 ms. Blocks.
    pub(super) fn read(directory: &Path, marks: impl FnOnce(&Path) -> Vec<(String, Arc<TreeMark>)>) -> Self {
        let now = mark(directory);
        let marks = marks(&now.root);
        Self { since: marks.into_iter().map(|(run, mark)| (run, since_of_changes(&mark.changed()))).collect() }
    }

    /// Returns the changes since the end of a run.
    pub(super) fn since(&self, run: &str) -> Option<ChangesSinceRun> {
        self.since.get(run).cloned()
    }
}

/// Marks the end of a command in the tree of its directory. Blocks.
pub(super) fn mark_tree_end(directory: &Path) -> Arc<TreeMark> {
    Arc::new(mark(directory))
}

/// Returns that nothing is known of the files since a run.
pub(super) fn unknown_changes(why: &str) -> ChangesSinceRun {
    since_of_changes(&ChangedFiles::unknown(why))
}

/// Returns the changes as results have them.
pub(super) fn since_of_changes(changed: &ChangedFiles) -> ChangesSinceRun {
    let state = match changed.state {
        ReceiptCompleteness::Known => EvidenceCompleteness::Known,
        ReceiptCompleteness::Partial => EvidenceCompleteness::Partial,
        ReceiptCompleteness::Unknown => EvidenceCompleteness::Unknown,
    };
    let paths = changed.paths.iter().take(PATHS).map(|path| path.to_string_lossy().into_owned()).collect();
    ChangesSinceRun { state, why: changed.why.clone(), total: changed.paths.len() as u64, paths }
}

/// Returns whether a file changed. `None` if that is not known.
pub(super) fn is_stale(changed: &ChangedFiles) -> Option<bool> {
    match changed.state {
        ReceiptCompleteness::Known => Some(!changed.paths.is_empty()),
        ReceiptCompleteness::Partial | ReceiptCompleteness::Unknown => changed.is_certain.then_some(true),
    }
}
