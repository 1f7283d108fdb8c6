//! Evidence of tasks: it is read at their end, and each later check reports it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::evidence_state::{TaskEvidenceState, end_of};
use super::task_registry::{TaskRegistry, TaskRegistryState};
use crate::proof::count_log;
use crate::supervise::EvidenceWatch;
use evidence::CommandEvidence;
use protocol::task::{Task, TaskStore};
use reduce::counts::CommandTermination;

impl TaskRegistry {
    /// Reads the evidence of a task that has ended, once.
    pub(super) fn end_evidence(&self, inner: &mut TaskRegistryState, id: &str) {
        let Some(entry) = inner.entries.get_mut(id) else { return };
        let watched = match std::mem::take(&mut entry.evidence) {
            TaskEvidenceState::Going(watched) => watched,
            other => {
                entry.evidence = other;
                return;
            }
        };
        entry.evidence = TaskEvidenceState::Ending;
        let (this, task, store) = (self.this.clone(), entry.task.clone(), self.store.clone());
        self.runtime().spawn_blocking(move || {
            // A fault in the reading must not keep the end of the task back.
            let evidence = catch_unwind(AssertUnwindSafe(|| prove(watched, &task, &store))).ok();
            if let Some(registry) = this.upgrade() {
                registry.set_evidence(&task.id, evidence);
            }
        });
    }

    /// Gives the evidence to the waiting calls and the watcher.
    fn set_evidence(&self, id: &str, evidence: Option<CommandEvidence>) {
        let mut inner = self.lock_state();
        let Some(entry) = inner.entries.get_mut(id) else { return };
        entry.evidence =
            evidence.map_or(TaskEvidenceState::Off, |evidence| TaskEvidenceState::Done(Arc::new(evidence)));
        self.note_verdict(entry);
        entry.progress.send_modify(|progress| progress.news += 1);
        if std::mem::take(&mut entry.exit_waits) {
            inner.emit_exit(id);
        }
    }

    /// Returns the evidence of a task that has ended, once it is read. `None`: it is not known.
    pub(super) async fn wait_for_evidence(&self, id: &str) -> Option<Arc<CommandEvidence>> {
        loop {
            let mut progress = {
                let inner = self.lock_state();
                let entry = inner.entries.get(id)?;
                if !entry.evidence.is_pending() {
                    return entry.evidence.known();
                }
                entry.progress.subscribe()
            };
            progress.changed().await.ok()?;
        }
    }
}

fn prove(watched: EvidenceWatch, task: &Task, store: &TaskStore) -> CommandEvidence {
    let end = end_of(task);
    let ended = CommandTermination::with(end.code.map(i64::from));
    watched.prove((&task.mark, &task.command), end, |_| {
        let Ok(Some((_, mut log, length))) = store.read_with_log(&task.id) else { return Vec::new() };
        count_log(&task.command, &mut log, length, ended)
    })
}
