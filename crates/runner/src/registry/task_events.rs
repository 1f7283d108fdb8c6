//! Events for the host: the output of its tasks, and their ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::recording_state::TaskRecordingState;
use super::task_registry::{RegisteredTask, SCAN_EVERY, TaskRegistry, TaskRegistryState, TaskWatcher};
use protocol::task::Task;
use protocol::task::TaskLogReader;

/// The most bytes of text in one event.
const BATCH: u64 = 64 * 1024;
/// Time that the watcher of a closed registry has to take the remaining events.
const TAKEN: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(5);

impl TaskRegistry {
    /// Sets the watcher, and the events that it gets.
    pub fn watch(self: &Arc<Self>, watcher: Arc<dyn TaskWatcher>, exit: bool, output: bool) {
        let mut inner = self.lock_state();
        if !output {
            inner.stop_emitting();
        }
        inner.watch = super::task_registry::TaskWatch { watcher: Some(watcher), exit, output };
        self.scan(&mut inner);
        let running: Vec<Task> = inner.running().map(|(_, entry)| entry.task.clone()).collect();
        drop(inner);
        for task in running {
            // This includes tasks of other processes.
            if (exit || output) && self.link_to_task(&task.id).is_some() {
                self.start_emitting(&mut self.lock_state(), &task.id, None);
            }
        }
    }

    /// Records that the watcher has taken the last output of this task.
    pub fn on_output_taken(&self, id: &str) {
        if let Some(told) = self.lock_state().entries.get(id).and_then(|entry| entry.emitter.as_ref()) {
            told.notify_one();
        }
    }

    /// Emits the output of a new task from its first byte, and its end if it has ended already.
    pub(super) fn announce(self: &Arc<Self>, inner: &mut TaskRegistryState, id: &str) {
        self.start_emitting(inner, id, Some(0));
        if inner.entries.get(id).is_some_and(|entry| entry.emitter.is_none() && !entry.task.is_running()) {
            inner.emit_exit(id);
        }
    }

    /// Emits output from this offset on. `None`: only future output.
    fn start_emitting(self: &Arc<Self>, inner: &mut TaskRegistryState, id: &str, from: Option<u64>) {
        let Some(watcher) = inner.watch.watcher.clone().filter(|_| inner.watch.output) else { return };
        let Some(entry) = inner.entries.get_mut(id).filter(|entry| entry.emitter.is_none()) else { return };
        let took = Arc::new(Notify::new());
        entry.emitter = Some(Arc::clone(&took));
        let weak = Arc::downgrade(self);
        let id = id.to_owned();
        self.runtime().spawn(async move {
            let mut at = from;
            while let Some(registry) = weak.upgrade() {
                if !registry.emit_next(&id, &mut at, watcher.as_ref(), &took).await {
                    return;
                }
            }
        });
    }

    /// Waits until the watcher has taken everything, or takes too long.
    pub(super) async fn wait_until_emitted(&self) {
        let until = Instant::now() + TAKEN;
        let is_left = |entry: &RegisteredTask| entry.emitter.is_some() || entry.exit_waits;
        while self.lock_state().entries.values().any(is_left) && Instant::now() < until {
            sleep(POLL).await;
        }
    }

    /// Records that all output of a task was emitted. Its end follows once it has ended.
    fn on_all_emitted(&self, id: &str) {
        let mut inner = self.lock_state();
        let Some(entry) = inner.entries.get_mut(id) else { return };
        entry.emitter = None;
        if !entry.task.is_running() {
            inner.emit_exit(id);
        }
    }

    /// Emits new output. Returns whether there may be more.
    async fn emit_next(&self, id: &str, at: &mut Option<u64>, watcher: &dyn TaskWatcher, took: &Arc<Notify>) -> bool {
        let is_listening = || {
            self.lock_state()
                .entries
                .get(id)
                .is_some_and(|entry| entry.emitter.as_ref().is_some_and(|told| Arc::ptr_eq(told, took)))
        };
        if !is_listening() {
            return false;
        }
        // If the files of a task are gone, only its end is left to emit.
        let Ok(Some((task, file, end))) = self.store.read_with_log(id) else {
            self.on_all_emitted(id);
            return false;
        };
        let start = *at.get_or_insert(end);
        if start < end {
            let end = end.min(start + BATCH);
            let text = TaskLogReader::of(file, start, end).and_then(|mut text| text.piece());
            let Ok(Some(text)) = text else { return false };
            *at = Some(start + text.len() as u64);
            watcher.output(task, text);
            took.notified().await;
            return true;
        }
        if !task.is_running() && !self.is_closing(&task) {
            self.update_task(&mut self.lock_state(), task, None);
            self.on_all_emitted(id);
            return false;
        }
        let (sender, mut progress) = {
            let inner = self.lock_state();
            let Some(entry) = inner.entries.get(id) else { return false };
            (entry.link.as_ref().map(|linked| linked.sender.clone()), entry.progress.subscribe())
        };
        if let Some(sender) = sender {
            sender.watch(end, false);
        }
        // The next read sees changes between reading the log and now.
        let _ = tokio::time::timeout(SCAN_EVERY, progress.changed()).await;
        true
    }
}

impl TaskRegistryState {
    /// Stops all emitters, even those that wait for the watcher.
    pub fn stop_emitting(&mut self) {
        self.entries.values_mut().filter_map(|entry| entry.emitter.take()).for_each(|told| told.notify_one());
    }

    /// Emits the end of a task, once, with its record and its evidence.
    pub fn emit_exit(&mut self, id: &str) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        if entry.evidence.is_pending() {
            entry.exit_waits = true;
            return;
        }
        let record = match &entry.record {
            TaskRecordingState::Going(_) | TaskRecordingState::Ending => {
                entry.exit_waits = true;
                return;
            }
            TaskRecordingState::Done(record) => Some(Arc::clone(record)),
            TaskRecordingState::Off => None,
        };
        if let Some(watcher) = self.watch.watcher.as_ref().filter(|_| self.watch.exit)
            && !std::mem::replace(&mut entry.exit_emitted, true)
        {
            watcher.exit(entry.task.clone(), record, entry.evidence.known());
        }
    }
}
