//! Telling a host what its tasks write, and when they end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::log::Text;
use super::registry::{Inner, Registry, Watcher};
use super::task::Task;

/// The most text that is told at once, bytes.
const BATCH: u64 = 64 * 1024;
/// When a registry is closed, for its watcher to take what is still to be told.
const TAKEN: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

impl Registry {
    /// Who hears of tasks from here on, and of what.
    pub fn watch(self: &Arc<Self>, watcher: Arc<dyn Watcher>, exit: bool, output: bool) {
        let mut inner = self.inner();
        if !output {
            inner.stop_telling();
        }
        inner.watch = super::registry::Watch { watcher: Some(watcher), exit, output };
        self.look(&mut inner);
        let running: Vec<Task> =
            inner.entries.values().map(|entry| entry.task.clone()).filter(Task::is_running).collect();
        drop(inner);
        for task in running {
            // Of those that other processes started, too.
            if (exit || output) && self.link(&task.id).is_some() {
                self.tell_output(&mut self.inner(), &task.id, None);
            }
        }
    }

    /// The watcher has taken what it was told of this task.
    pub fn took(&self, id: &str) {
        if let Some(told) = self.inner().entries.get(id).and_then(|entry| entry.told.as_ref()) {
            told.notify_one();
        }
    }

    /// Tells of a new task from its first byte, and of its end should it have ended before anybody knew of it.
    pub(super) fn tell_of_new(self: &Arc<Self>, inner: &mut Inner, id: &str) {
        self.tell_output(inner, id, Some(0));
        if inner.entries.get(id).is_some_and(|entry| entry.told.is_none() && !entry.task.is_running()) {
            inner.tell_exit(id);
        }
    }

    /// `from` `None`: from what is not there yet.
    fn tell_output(self: &Arc<Self>, inner: &mut Inner, id: &str, from: Option<u64>) {
        let Some(watcher) = inner.watch.watcher.clone().filter(|_| inner.watch.output) else { return };
        let Some(entry) = inner.entries.get_mut(id).filter(|entry| entry.told.is_none()) else { return };
        let took = Arc::new(Notify::new());
        entry.told = Some(Arc::clone(&took));
        let weak = Arc::downgrade(self);
        let id = id.to_owned();
        self.runtime().spawn(async move {
            let mut at = from;
            while let Some(registry) = weak.upgrade() {
                if !registry.tell_next(&id, &mut at, watcher.as_ref(), &took).await {
                    return;
                }
            }
        });
    }

    /// Until the watcher has heard of all ends, or takes too long.
    pub(super) async fn until_told(&self) {
        let until = Instant::now() + TAKEN;
        while self.inner().entries.values().any(|entry| entry.told.is_some()) && Instant::now() < until {
            sleep(LOOK_AGAIN).await;
        }
    }

    /// All output of a task was told: its end may be, as soon as it has ended.
    fn told_all(&self, id: &str) {
        let mut inner = self.inner();
        let Some(entry) = inner.entries.get_mut(id) else { return };
        entry.told = None;
        if !entry.task.is_running() {
            inner.tell_exit(id);
        }
    }

    /// Tells what has come since. Returns whether there will be more.
    async fn tell_next(&self, id: &str, at: &mut Option<u64>, watcher: &dyn Watcher, took: &Arc<Notify>) -> bool {
        let is_listening = || {
            self.inner()
                .entries
                .get(id)
                .is_some_and(|entry| entry.told.as_ref().is_some_and(|told| Arc::ptr_eq(told, took)))
        };
        if !is_listening() {
            return false;
        }
        // A task whose files are gone has nothing more to say but its end.
        let Ok(Some((task, file, end))) = self.store.readable(id) else {
            self.told_all(id);
            return false;
        };
        let start = *at.get_or_insert(end);
        if start < end {
            let end = end.min(start + BATCH);
            let text = Text::of(file, start, end).and_then(|mut text| text.piece());
            let Ok(Some(text)) = text else { return false };
            *at = Some(start + text.len() as u64);
            watcher.output(task, text);
            took.notified().await;
            return true;
        }
        if !task.is_running() && !self.is_closing(&task) {
            self.take_in(&mut self.inner(), task, None);
            self.told_all(id);
            return false;
        }
        let (speaker, mut progress) = {
            let inner = self.inner();
            let Some(entry) = inner.entries.get(id) else { return false };
            (entry.link.as_ref().map(|linked| linked.speaker.clone()), entry.progress.subscribe())
        };
        if let Some(speaker) = speaker {
            speaker.watch(end, false);
        }
        // A change between the look at the log and now is seen by the next look.
        let _ = tokio::time::timeout(super::wait::LOOK, progress.changed()).await;
        true
    }
}
