//! Finds changes in a registry's directory: tasks of other processes, and ends that were not reported.

use std::time::Instant;

use tokio::sync::watch;

use super::evidence::EvidenceState;
use super::record::RecordState;
use super::registry::{Entry, Inner, Registry};
use crate::live::runs;
use crate::supervise::Traces;
use protocol::task::Stamp;
use protocol::task::{Task, TaskState};

impl Registry {
    /// Reads changed files of the directory, and settles tasks without a shim.
    pub(super) fn scan(&self, inner: &mut Inner) {
        self.read_directory(inner);
        inner.scanned = Some(Instant::now());
        let unlinked = inner.entries.iter().filter(|(_, entry)| entry.task.is_running() && entry.link.is_none());
        let ours = unlinked.filter(|(_, entry)| !entry.task.is_elsewhere()).map(|(id, _)| id.clone());
        let gone: Vec<String> = ours.filter(|id| !self.store.is_kept(id)).collect();
        for id in gone {
            self.settle(inner, &id);
        }
    }

    fn read_directory(&self, inner: &mut Inner) {
        let stamp = self.store.stamp();
        if stamp.is_some() && stamp == inner.seen {
            return;
        }
        let ids = match self.store.ids() {
            Ok(ids) => ids,
            Err(error) => {
                inner.note(format!("{}: {error}", self.store.path().display()));
                return;
            }
        };
        inner.entries.retain(|id, entry| ids.contains_key(id) || entry.task.is_running() && entry.link.is_some());
        inner.damaged.retain(|id, _| ids.contains_key(id));
        let mut all = true;
        for (id, stamp) in ids {
            if inner.entries.get(&id).is_some_and(|entry| entry.stamp == Some(stamp)) {
                continue;
            }
            if inner.damaged.get(&id) == Some(&stamp) {
                continue;
            }
            match self.store.read(&id) {
                // The shim is just writing the closing line: until then the task counts as running.
                Ok(Some(task)) if self.is_closing(&task) => {
                    all = false;
                    self.update(inner, task.before_its_end(), None);
                }
                Ok(Some(task)) => {
                    let known = inner.entries.contains_key(&id);
                    // The shim may have been killed before it wrote the closing line.
                    let unclosed = !known && !task.is_running();
                    self.update(inner, task, Some(stamp));
                    if unclosed {
                        let _ = self.store.settle_unclosed(&id);
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    inner.note(error.to_string());
                    inner.damaged.insert(id, stamp);
                }
            }
        }
        inner.seen = stamp.filter(|_| all);
    }

    /// Returns whether a task has ended and its closing line is still missing.
    pub(super) fn is_closing(&self, task: &Task) -> bool {
        !task.is_running() && self.store.is_kept(&task.id)
    }

    /// Writes the end of a running task without a shim.
    fn settle(&self, inner: &mut Inner, id: &str) {
        match self.store.settle(id) {
            Ok(Some(task)) => {
                if task.state == TaskState::Lost {
                    self.clear_away(task.clone());
                }
                self.update(inner, task, None);
            }
            Ok(None) => {
                inner.entries.remove(id);
            }
            Err(error) => inner.note(error.to_string()),
        }
    }

    /// Kills the processes of a task whose shim is gone, which would have killed them.
    fn clear_away(&self, task: Task) {
        supervisor::tree::kill(&Traces::of_task(&task).find());
        // The second round finds processes that were just being forked.
        self.runtime().spawn(async move { super::marked::kill_marked(&task).await });
    }

    /// Updates the facts that this process has about a task.
    pub(super) fn update(&self, inner: &mut Inner, task: Task, stamp: Option<Stamp>) {
        let id = task.id.clone();
        let ended = !task.is_running();
        let entry = inner.entries.entry(id.clone()).or_insert_with(|| Entry {
            task: task.clone(),
            stamp,
            cursor: 0,
            link: None,
            progress: watch::Sender::default(),
            emitter: None,
            exit_emitted: false,
            exit_waits: false,
            record: RecordState::Off,
            evidence: EvidenceState::Off,
            ledger: None,
            verdict_in: None,
        });
        entry.stamp = stamp.or(entry.stamp);
        runs().on_change();
        let was_running = entry.task.is_running();
        // A link may be behind the directory, but an end is never taken back.
        if was_running {
            entry.task = task;
        }
        if ended {
            entry.progress.send_if_modified(|progress| !std::mem::replace(&mut progress.ended, true));
            // A task that had ended before it was first seen emits no event.
            let emits = was_running && entry.emitter.is_none();
            self.end_record(inner, &id);
            self.end_evidence(inner, &id);
            if emits {
                inner.emit_exit(&id);
            }
        }
    }
}
