//! The record of a command from a snapshot of its tree.

use std::io;

use protocol::plan::{ChangeJournalOutcome, ChangeJournalPlan, ChangeJournalPurpose};
use undo::snapshot::TIME;
use undo::{ChangeJournal, ManifestHeader, TreeSnapshot, UndoLimits, UndoStore, UndoStoreError};

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum TreeSnapshotError {
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] UndoStoreError),
    /// The tree cannot be read, or the snapshot cannot be written.
    #[error("no snapshot of its tree could be taken: {0}")]
    System(#[from] io::Error),
}

/// A tree that is compared after the command.
pub struct SnapshotComparison {
    recorder: ChangeJournal,
    snapshot: TreeSnapshot,
    /// Effects that an undo does not cover, as sentences.
    beyond: Vec<String>,
}

impl SnapshotComparison {
    /// Returns whether a snapshot serves where the changes of a command cannot be recorded. It never covers everything.
    pub fn is_wanted(record: &ChangeJournalPlan) -> bool {
        record.purpose == ChangeJournalPurpose::Undo && !record.require && !record.tree.as_os_str().is_empty()
    }

    /// Takes the snapshot. Blocks for [`TIME`] at most.
    pub fn begin(
        record: &ChangeJournalPlan,
        header: ManifestHeader,
        limits: UndoLimits,
    ) -> Result<Self, TreeSnapshotError> {
        let header = ManifestHeader { tree: record.tree.clone(), ..header };
        let mut recorder = ChangeJournal::begin(&UndoStore::open(&record.store)?, header, limits)?;
        match TreeSnapshot::take(&mut recorder, &record.tree, TIME) {
            Ok(snapshot) => Ok(Self { recorder, snapshot, beyond: record.beyond.clone() }),
            Err(source) => {
                discard(recorder);
                Err(source.into())
            }
        }
    }

    /// Compares the tree, and ends the record.
    pub fn end(self) -> ChangeJournalOutcome {
        let Self { mut recorder, snapshot, beyond } = self;
        match snapshot.compare(&mut recorder) {
            Ok(()) => match recorder.finish(beyond) {
                Ok(_) => ChangeJournalOutcome::Done,
                Err(error) => ChangeJournalOutcome::Failed(error.to_string()),
            },
            Err(error) => {
                ChangeJournalOutcome::Failed(format!("the tree could not be compared with its snapshot: {error}"))
            }
        }
    }

    /// Removes the snapshot of a command that was not started.
    pub fn discard(self) {
        discard(self.recorder);
    }
}

/// Removes a record of a command that was not started.
pub fn discard(recorder: ChangeJournal) {
    let (store, run) = (recorder.store().clone(), recorder.header().run.clone());
    drop(recorder);
    // A record that stays is listed as a run without an end, and evicted with the others.
    let _left = store.remove(&run);
}
