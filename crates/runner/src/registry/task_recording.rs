//! Records of tasks: they begin and end with their commands, and each later check reports them.
//!
//! The process that started a task writes its record beside the state file, so that other processes can report it, too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::recording_state::TaskRecordingState;
use super::task_registry::{RegisteredTask, TaskRegistry, TaskRegistryState};
use crate::ledger_writes::{append_in_background, ledger_changes, verdict_word};
use crate::live::{TaskChanges, runs};
use ledger::LedgerRunNote;
use protocol::task::{Task, TaskChangeJournal, now_ms};
use receipt::recording::{RunRecord, RunRecording};

impl TaskRegistry {
    /// Continues the record of a command that has become a task.
    pub fn continue_recording(&self, id: &str, recording: RunRecording) {
        self.begin_record(&mut self.lock_state(), id, recording);
    }

    pub(super) fn begin_record(&self, inner: &mut TaskRegistryState, id: &str, recording: RunRecording) {
        let Some(entry) = inner.entries.get_mut(id) else { return };
        if matches!(recording, RunRecording::Watch(_)) {
            self.share_record(id, &RunRecord::of_unreported_changes());
        }
        entry.record = TaskRecordingState::Going(recording);
        if !entry.task.is_running() {
            self.end_record(inner, id);
        }
    }

    /// Sets the record of a task's command, also for other processes and for the ledger.
    pub fn set_record(&self, id: &str, record: RunRecord) {
        self.share_record(id, &record);
        let noted = self
            .lock_state()
            .entries
            .get_mut(id)
            .and_then(|entry| Some((entry.ledger.take()?, entry.task.mark.clone())));
        if let Some((ledger, run)) = noted {
            self.note_changes(ledger, &run, &record);
        }
        self.publish_record(id, record);
    }

    /// Has the changes of a task noted in a ledger once they are known.
    pub fn note_changes_in(&self, id: &str, ledger: &Path) {
        let mut inner = self.lock_state();
        let Some(entry) = inner.entries.get_mut(id) else { return };
        let (record, run) = match &entry.record {
            TaskRecordingState::Done(record) => (Arc::clone(record), entry.task.mark.clone()),
            TaskRecordingState::Off | TaskRecordingState::Going(_) | TaskRecordingState::Ending => {
                entry.ledger = Some(ledger.to_owned());
                return;
            }
        };
        drop(inner);
        self.note_changes(ledger.to_owned(), &run, &record);
    }

    /// Has the verdict of a task noted in a ledger once it is known.
    pub fn note_verdict_in(&self, id: &str, ledger: &Path) {
        if let Some(entry) = self.lock_state().entries.get_mut(id) {
            entry.verdict_in = Some(ledger.to_owned());
            self.note_verdict(entry);
        }
    }

    /// Notes the verdict of a task, if it is known and wanted. Once.
    pub(super) fn note_verdict(&self, entry: &mut RegisteredTask) {
        let Some(evidence) = entry.evidence.known() else { return };
        let Some(ledger) = entry.verdict_in.take() else { return };
        let note = LedgerRunNote { evidence: Some(verdict_word(evidence.verdict).into()), ..LedgerRunNote::default() };
        drop(append_in_background(self.helpers, ledger, now_ms(), ledger::note_line(&entry.task.mark, &note)));
    }

    fn note_changes(&self, ledger: PathBuf, run: &str, record: &RunRecord) {
        let Some(receipt) = &record.receipt else { return };
        let note = LedgerRunNote { changes: Some(ledger_changes(receipt)), ..LedgerRunNote::default() };
        drop(append_in_background(self.helpers, ledger, now_ms(), ledger::note_line(run, &note)));
    }

    /// Writes a record for other processes, if others can open this registry.
    fn share_record(&self, id: &str, record: &RunRecord) {
        if self.options.dir.is_some() {
            // Without the file they read as much as the shim has recorded.
            let _unwritten = self.store.write_reported_changes(id, record);
        }
    }

    /// Gives the record to the waiting calls and the watcher.
    fn publish_record(&self, id: &str, record: RunRecord) {
        let mut inner = self.lock_state();
        let Some(entry) = inner.entries.get_mut(id) else { return };
        entry.record = TaskRecordingState::Done(Arc::new(record));
        entry.progress.send_modify(|progress| progress.news += 1);
        runs().on_change();
        if std::mem::take(&mut entry.exit_waits) {
            inner.emit_exit(id);
        }
    }

    /// Ends the record of a task that has ended.
    pub(super) fn end_record(&self, inner: &mut TaskRegistryState, id: &str) {
        let Some(entry) = inner.entries.get_mut(id) else { return };
        let recording = match std::mem::take(&mut entry.record) {
            TaskRecordingState::Going(recording) => recording,
            other => {
                entry.record = other;
                return;
            }
        };
        entry.record = TaskRecordingState::Ending;
        let (this, id, task) = (self.this.clone(), id.to_owned(), entry.task.clone());
        self.runtime().spawn_blocking(move || {
            let record = recording.finish_task(&task);
            if let Some(registry) = this.upgrade() {
                registry.set_record(&id, record);
            }
        });
    }

    /// Returns the record of a task that has ended, once it is read. `None`: nothing was recorded.
    pub(super) async fn wait_for_record(&self, id: &str) -> Option<Arc<RunRecord>> {
        loop {
            let mut progress = self.lock_state().entries.get(id)?.progress.subscribe();
            match self.changes_so_far(id) {
                TaskChanges::Known(record) => return Some(record),
                TaskChanges::Unrecorded => return None,
                TaskChanges::Pending => progress.changed().await.ok()?,
            }
        }
    }

    /// Returns the record of a task that has ended, or begins to read it.
    pub(super) fn changes_so_far(&self, id: &str) -> TaskChanges {
        let mut inner = self.lock_state();
        let Some(entry) = inner.entries.get_mut(id) else { return TaskChanges::Unrecorded };
        match &entry.record {
            TaskRecordingState::Done(record) => return TaskChanges::Known(Arc::clone(record)),
            TaskRecordingState::Going(_) => return TaskChanges::Unrecorded,
            TaskRecordingState::Ending => return TaskChanges::Pending,
            TaskRecordingState::Off => {}
        }
        // The host that began the record is gone, or is another process, and may replace the record later.
        if let Some(record) = self.store.reported_changes::<RunRecord>(id) {
            return TaskChanges::Known(Arc::new(record));
        }
        let task = entry.task.clone();
        let Some(TaskChangeJournal { store, .. }) = task.record.clone() else { return TaskChanges::Unrecorded };
        entry.record = TaskRecordingState::Ending;
        drop(inner);
        self.read_record(task, store);
        TaskChanges::Pending
    }

    /// Reads the record of a task of which this process has no other facts.
    fn read_record(&self, task: Task, store: PathBuf) {
        let this = self.this.clone();
        self.runtime().spawn_blocking(move || {
            let record = RunRecording::of_task(&store, task.mark.clone()).finish_task(&task);
            if let Some(registry) = this.upgrade() {
                registry.publish_record(&task.id, record);
            }
        });
    }
}
