//! The recording of a run that goes on.

use std::path::Path;
use std::sync::LazyLock;

use nix::unistd::Pid;
use tokio::task::spawn_blocking;

use super::exact_recording::{ExactRecording, record_of_lost_run};
use super::prepared_recording::{PreparedRecording, note_failure};
use super::recording_method::RecordingMethod;
use super::run_record::RunRecord;
use crate::watch::{ReceiptToken, TreeMark, WatchedTrees};
use crate::{ReceiptCompleteness, RunReceipt};
use protocol::SurvivingProcess;
use protocol::plan::ChangeJournalOutcome;
use protocol::task::Task;
use undo::UndoStore;

/// The trees that this process watches.
static WATCH: LazyLock<WatchedTrees> = LazyLock::new(WatchedTrees::new);

/// Marks this moment in the tree of a directory. The first mark or receipt in a tree begins to watch it, and waits up
/// to 25 ms until it is watched. Blocks.
#[must_use]
pub fn mark(directory: &Path) -> TreeMark {
    WATCH.mark(directory)
}

/// The recording of a run that goes on. Dropped, a recording leaves nothing behind.
#[derive(Debug)]
pub enum RunRecording {
    /// A tree of directories is watched.
    Watch(ReceiptToken),
    /// The shim records every change.
    Exact(Box<ExactRecording>),
    /// A tree of directories is watched, and the shim compares it with a snapshot.
    Snapshot(ReceiptToken, Box<ExactRecording>),
    /// Nothing is recorded, for this reason.
    Lost(String),
}

impl PreparedRecording {
    /// Begins the recording of a run, right before the run begins. Blocks. `None`: nothing is recorded.
    #[must_use]
    pub fn begin(&self, run: String, is_confined: bool) -> Option<RunRecording> {
        let directory = self.directories.first()?;
        Some(match (self.way, self.store.clone()) {
            (RecordingMethod::Off, _) => return None,
            (RecordingMethod::Exact { point }, Some(store)) => {
                let mut exact = ExactRecording::of_record_only(store, run);
                exact.begins_late = !point;
                exact.read_facts(&self.directories, is_confined);
                RunRecording::Exact(Box::new(exact))
            }
            (RecordingMethod::Snapshot, Some(store)) => {
                RunRecording::snapshot(directory, ExactRecording::of_record_only(store, run))
            }
            (RecordingMethod::Watch | RecordingMethod::Exact { .. } | RecordingMethod::Snapshot, _) => {
                RunRecording::watch(directory)
            }
        })
    }
}

impl RunRecording {
    /// Watches the tree of a directory, right before a run begins. Blocks for 25 ms at most.
    pub(super) fn watch(directory: &Path) -> Self {
        Self::Watch(WATCH.begin(directory))
    }

    /// Watches the tree of a directory, which the shim of a run compares with a snapshot. Blocks for 25 ms at most.
    pub(super) fn snapshot(directory: &Path, exact: ExactRecording) -> Self {
        Self::Snapshot(WATCH.begin(directory), Box::new(exact))
    }

    /// Returns the recording of a task of which only the record is known. Blocks.
    pub fn of_task(store: &Path, run: String) -> Self {
        match UndoStore::open(store) {
            Ok(store) => Self::Exact(Box::new(ExactRecording::of_record_only(store, run))),
            Err(error) => Self::Lost(error.to_string()),
        }
    }

    /// Gives the recording the run that its command has: that of a warm shell.
    pub fn set_run(&mut self, run: &str) {
        if let Self::Exact(exact) | Self::Snapshot(_, exact) = self {
            run.clone_into(&mut exact.run);
        }
    }

    /// Ends the recording of a command, right after its end. `recorded` is the outcome of the shim's record. Blocks,
    /// unless that is [`ChangeJournalOutcome::Nothing`].
    pub fn finish(self, survivors: &[SurvivingProcess], recorded: &ChangeJournalOutcome) -> RunRecord {
        let (record, exact) = self.read(survivors, recorded);
        if let Some(exact) = exact {
            // The system takes some ms for each directory that is removed.
            spawn_blocking(move || exact.remove_record());
        }
        record
    }

    /// Like [`Self::finish`] for a task, whose record others may read later. Blocks.
    pub fn finish_task(self, task: &Task) -> RunRecord {
        let recorded = task.record.as_ref().and_then(|record| record.end.clone()).unwrap_or_default();
        self.read(&task.left, &recorded).0
    }

    /// Handles the exit of a command whose survivors become a task. Returns the record so far, and the recording if it
    /// goes on. Blocks.
    pub fn hand_over(
        self,
        survivors: &[SurvivingProcess],
        recorded: &ChangeJournalOutcome,
    ) -> (RunRecord, Option<Self>) {
        let Self::Watch(token) = self else { return (self.finish(survivors, recorded), None) };
        let mut record = RunRecord::of(token.receipt_so_far(&pids(survivors)));
        record.add_survivors(survivors);
        (record, Some(Self::Watch(token)))
    }

    /// Returns the record of a run, and the recording if there may be something to remove.
    fn read(
        self,
        survivors: &[SurvivingProcess],
        recorded: &ChangeJournalOutcome,
    ) -> (RunRecord, Option<Box<ExactRecording>>) {
        let pids = pids(survivors);
        let (mut record, exact) = match (self, recorded) {
            (Self::Watch(token), _) => (RunRecord::of(token.finish(&pids)), None),
            (Self::Lost(why), _) => (record_of_lost_run(&why), None),
            (Self::Exact(exact), ChangeJournalOutcome::Failed(why)) => {
                note_failure(exact.store(), why);
                (record_of_lost_run(why), Some(exact))
            }
            (Self::Exact(exact), ChangeJournalOutcome::Nothing) => (exact.record_of_no_change(&pids), None),
            (Self::Exact(exact), ChangeJournalOutcome::Off) if exact.has_not_begun() => {
                (exact.record_of_killed_recorder(&pids), None)
            }
            (Self::Exact(exact), ChangeJournalOutcome::Off | ChangeJournalOutcome::Done) => {
                (exact.read(&pids), Some(exact))
            }
            (Self::Snapshot(token, exact), _) => {
                (record_with_watch(token.finish(&pids), &exact, recorded), Some(exact))
            }
        };
        record.add_survivors(survivors);
        (record, exact)
    }
}

/// Returns the record of a run with a snapshot, with the receipt of a watch if the watch knows anything.
fn record_with_watch(receipt: RunReceipt, exact: &ExactRecording, recorded: &ChangeJournalOutcome) -> RunRecord {
    if let ChangeJournalOutcome::Failed(why) = recorded {
        let notes = vec![format!("the command cannot be undone: {why}")];
        return RunRecord { notes, ..RunRecord::of(receipt) };
    }
    let record = exact.read(&[]);
    if receipt.state == ReceiptCompleteness::Unknown { record } else { RunRecord { receipt: Some(receipt), ..record } }
}

fn pids(survivors: &[SurvivingProcess]) -> Vec<Pid> {
    survivors.iter().map(|survivor| Pid::from_raw(survivor.pid)).collect()
}
