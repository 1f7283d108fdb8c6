//! Finds changes in a registry's directory: tasks of other processes, and ends that were not reported.
//!
//! A task that has ended stays as it is until it is removed, so it is read once. What runs is listed by its marks. Only
//! a list of all tasks, and a pid that no known task has, need the whole directory.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::Instant;

use tokio::sync::watch;

use super::evidence_state::TaskEvidenceState;
use super::recording_state::TaskRecordingState;
use super::task_registry::{RegisteredTask, TaskRegistry, TaskRegistryState};
use crate::live::runs;
use crate::supervise::ProcessTraces;
use protocol::task::{EndedLog, StateFileStamp, Task, TaskState, TaskStoreError};

/// The state file of a task, at a glance.
enum StateFileScan {
    /// There is none.
    Gone,
    /// It is as before.
    Same,
    /// It cannot be read.
    Damaged(StateFileStamp, TaskStoreError),
    /// It is new. No stamp: it may change at any moment.
    Changed(Box<Task>, Option<StateFileStamp>),
}

impl TaskRegistry {
    /// Finds changes of the tasks that run, and settles tasks without a shim. Its work grows with the tasks that run:
    /// those that have ended do not change.
    pub(super) fn scan(&self, inner: &mut TaskRegistryState) {
        self.read_running(inner);
        inner.scanned = Some(Instant::now());
        let unlinked = inner.running().filter(|(_, entry)| entry.link.is_none());
        let ours = unlinked.filter(|(_, entry)| !entry.task.is_elsewhere()).map(|(id, _)| id.clone());
        let gone: Vec<String> = ours.filter(|id| !self.store.has_shim(id)).collect();
        for id in gone {
            self.settle_lost_task(inner, &id);
        }
    }

    fn read_running(&self, inner: &mut TaskRegistryState) {
        let stamp = self.store.stamp();
        if stamp.is_some() && stamp == inner.seen_running {
            return;
        }
        let marked = match self.store.running_ids() {
            Ok(marked) => marked,
            Err(error) => {
                inner.add_note(format!("{}: {error}", self.store.path().display()));
                return;
            }
        };
        let ids: HashSet<String> = inner.running().map(|(id, _)| id.clone()).chain(marked.iter().cloned()).collect();
        let mut all = true;
        for id in &ids {
            all &= self.read_task(inner, id);
        }
        // Their shims were killed before they took the marks away.
        for id in marked.iter().filter(|id| inner.entries.get(*id).is_some_and(|entry| !entry.task.is_running())) {
            self.store.unmark(id);
        }
        inner.seen_running = stamp.filter(|_| all);
    }

    /// Reads the state file of a task if it has changed. Returns whether it is known until the file changes.
    pub(super) fn read_task(&self, inner: &mut TaskRegistryState, id: &str) -> bool {
        let glance = self.read_state_file(id, inner.known_stamp(id));
        self.apply_state_file(inner, id, glance)
    }

    /// Finds all tasks that other processes have started, ended and removed. Files are read while other calls go on.
    /// Blocks.
    pub(super) fn read_all(&self) {
        let _one = self.reading_all.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = self.store.stamp();
        if stamp.is_some() && stamp == self.lock_state().seen {
            return;
        }
        let ids = match self.store.ids() {
            Ok(ids) => ids,
            Err(error) => return self.lock_state().add_note(format!("{}: {error}", self.store.path().display())),
        };
        let changing: Vec<_> = {
            let mut inner = self.lock_state();
            inner.entries.retain(|id, entry| ids.contains(id) || entry.task.is_running() && entry.link.is_some());
            inner.damaged.retain(|id, _| ids.contains(id));
            let TaskRegistryState { running, entries, .. } = &mut *inner;
            running.retain(|id| entries.contains_key(id));
            let changing =
                ids.into_iter().filter(|id| inner.entries.get(id).is_none_or(|entry| entry.task.is_running()));
            changing.map(|id| (inner.known_stamp(&id), id)).collect()
        };
        let mut all = true;
        for (known, id) in changing {
            let glance = self.read_state_file(&id, known);
            all &= self.apply_state_file(&mut self.lock_state(), &id, glance);
        }
        self.lock_state().seen = stamp.filter(|_| all);
    }

    /// Looks at a task's files. `known`: the stamp of the state file that was read.
    fn read_state_file(&self, id: &str, known: Option<StateFileStamp>) -> StateFileScan {
        let Some(stamp) = self.store.stamp_of(id) else { return StateFileScan::Gone };
        if known == Some(stamp) {
            return StateFileScan::Same;
        }
        let task = match self.store.read(id) {
            Ok(Some(task)) => task,
            Ok(None) => return StateFileScan::Gone,
            Err(error) => return StateFileScan::Damaged(stamp, error),
        };
        if task.is_running() {
            return StateFileScan::Changed(Box::new(task), Some(stamp));
        }
        match self.store.ended_log(&task) {
            // The shim is just writing the closing line: until then the task counts as running.
            EndedLog::Kept => return StateFileScan::Changed(Box::new(task.before_its_end()), None),
            // The shim was killed before it wrote the closing line.
            EndedLog::Unclosed => drop(self.store.settle(id)),
            EndedLog::Closed => {}
        }
        StateFileScan::Changed(Box::new(task), Some(stamp))
    }

    /// Updates a task from its state file. Returns whether nothing changes about it before the file does.
    fn apply_state_file(&self, inner: &mut TaskRegistryState, id: &str, glance: StateFileScan) -> bool {
        match glance {
            StateFileScan::Same => {}
            StateFileScan::Gone => {
                inner.damaged.remove(id);
                if inner.entries.get(id).is_some_and(|entry| !entry.task.is_running() || entry.link.is_none()) {
                    inner.entries.remove(id);
                    inner.running.remove(id);
                }
            }
            StateFileScan::Damaged(stamp, error) => {
                inner.add_note(error.to_string());
                inner.damaged.insert(id.to_owned(), stamp);
            }
            StateFileScan::Changed(task, stamp) => {
                let is_final = stamp.is_some();
                self.update_task(inner, *task, stamp);
                return is_final;
            }
        }
        true
    }

    /// Returns whether a task has ended and its closing line is still missing.
    pub(super) fn is_closing(&self, task: &Task) -> bool {
        !task.is_running() && self.store.has_shim(&task.id)
    }

    /// Writes the end of a running task without a shim.
    fn settle_lost_task(&self, inner: &mut TaskRegistryState, id: &str) {
        match self.store.settle(id) {
            Ok(Some(task)) => {
                if task.state == TaskState::Lost {
                    self.kill_leftovers(task.clone());
                }
                self.update_task(inner, task, None);
            }
            Ok(None) => {
                inner.entries.remove(id);
            }
            Err(error) => inner.add_note(error.to_string()),
        }
    }

    /// Kills the processes of a task whose shim is gone, which would have killed them.
    fn kill_leftovers(&self, task: Task) {
        supervisor::tree::kill_members(&ProcessTraces::of_task(&task).find());
        // The second round finds processes that were just being forked.
        self.runtime().spawn(async move { super::marked_processes::kill_marked(&task).await });
    }

    /// Updates the facts that this process has about a task.
    pub(super) fn update_task(&self, inner: &mut TaskRegistryState, task: Task, stamp: Option<StateFileStamp>) {
        let id = task.id.clone();
        let ended = !task.is_running();
        let entry = inner.entries.entry(id.clone()).or_insert_with(|| RegisteredTask {
            task: task.clone(),
            stamp,
            cursor: 0,
            link: None,
            progress: watch::Sender::default(),
            emitter: None,
            exit_emitted: false,
            exit_waits: false,
            record: TaskRecordingState::Off,
            evidence: TaskEvidenceState::Off,
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
        if entry.task.is_running() {
            inner.running.insert(id.clone());
        } else {
            inner.running.remove(&id);
        }
        let Some(entry) = inner.entries.get_mut(&id) else { return };
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
