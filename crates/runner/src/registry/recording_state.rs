//! The record of a task, as far as this process knows it.

use std::sync::Arc;

use protocol::task::Task;
use receipt::recording::{ExactRecording, RunRecord, RunRecording};
use undo::UndoStore;

/// The record of a task.
#[derive(Default)]
pub(super) enum TaskRecordingState {
    /// The task is not recorded.
    #[default]
    Off,
    /// The task goes on.
    Going(RunRecording),
    /// The task has ended, and its record is being read.
    Ending,
    /// The record is complete.
    Done(Arc<RunRecord>),
}

/// Removes the records of removed tasks that only serve receipts.
pub(super) fn forget_records(tasks: &[Task]) {
    for task in tasks {
        let Some(record) = task.record.as_ref().filter(|record| record.store.is_dir()) else { continue };
        if let Ok(store) = UndoStore::open(&record.store) {
            ExactRecording::of_record_only(store, task.mark.clone()).remove_record();
        }
    }
}
