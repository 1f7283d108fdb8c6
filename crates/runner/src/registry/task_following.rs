//! Links to the shims of running tasks, and their events.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::evidence_state::TaskEvidenceState;
use super::task_registry::{FollowedTaskLink, TaskRegistry};
use crate::supervise::{self, CommandAdmission, TaskAdmission, TaskEvent, TaskLink, TaskSender};
use protocol::task::Task;
use receipt::recording::RunRecording;

/// Time that the lock of a shim may outlast its link.
const GOING: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(5);

/// Whether the listeners of a registry know a task already.
enum TaskOrigin {
    /// The start was announced.
    Known,
    /// The start is still to be announced. The recording of the task's changes goes on, if there is one.
    New(Option<RunRecording>),
}

impl TaskRegistry {
    /// Follows a task of this process from its start.
    pub fn follow_own(self: &Arc<Self>, link: TaskLink, task: Task) {
        self.follow_own_recorded(link, task, None);
    }

    /// Like [`Self::follow_own`], for a task whose command is recorded.
    pub fn follow_own_recorded(self: &Arc<Self>, link: TaskLink, task: Task, recording: Option<RunRecording>) {
        self.follow_link(link, task, TaskOrigin::New(recording));
        self.sweep_when_due();
    }

    /// Counts a task that is followed among the descriptors of this process.
    pub fn count_descriptors(&self, id: &str, place: Option<TaskAdmission>) {
        if let Some(linked) = self.lock_state().entries.get_mut(id).and_then(|entry| entry.link.as_mut()) {
            linked.place = place;
        }
    }

    /// Returns the task of a shim that was killed before it reported the task. `None` if no process was started.
    pub async fn find_lost_task(&self, id: &str) -> Option<Task> {
        self.wait_until_unlocked(id).await;
        let mut inner = self.lock_state();
        self.read_task(&mut inner, id);
        self.scan(&mut inner);
        inner.entries.get(id).map(|entry| entry.task.clone())
    }

    /// Waits until the lock of a task's log is free. The lock may outlast its shim for a moment.
    async fn wait_until_unlocked(&self, id: &str) {
        let until = Instant::now() + GOING;
        let is_running = || self.lock_state().entries.get(id).is_none_or(|entry| entry.task.is_running());
        while is_running() && self.store.has_shim(id) && Instant::now() < until {
            sleep(POLL).await;
        }
    }

    /// Returns the link to a running task, if its shim can be reached.
    pub(super) fn link_to_task(self: &Arc<Self>, id: &str) -> Option<TaskSender> {
        let task = {
            let inner = self.lock_state();
            let entry = inner.entries.get(id)?;
            if let Some(linked) = &entry.link {
                return Some(linked.sender.clone());
            }
            entry.task.clone()
        };
        // The shim of a task elsewhere may be reachable through the file system, but this process must not command it.
        if !task.is_running() || !task.detached || task.is_elsewhere() {
            return None;
        }
        let _runtime = self.runtime().enter();
        let link = supervise::connect(&self.store.socket_path(id)).ok()?;
        let sender = link.sender();
        self.follow_link(link, task, TaskOrigin::Known);
        self.count_descriptors(id, CommandAdmission::shared().try_enter_task());
        Some(sender)
    }

    /// Follows a task by its link.
    fn follow_link(self: &Arc<Self>, mut link: TaskLink, task: Task, origin: TaskOrigin) {
        let sender = link.sender();
        let mut current = task.id.clone();
        let evidence = link.take_watched().map(TaskEvidenceState::Going);
        let mut inner = self.lock_state();
        let weak = Arc::downgrade(self);
        let listener = self.runtime().spawn(async move {
            loop {
                let news = link.next_event().await;
                let Some(registry) = weak.upgrade() else { return };
                match news {
                    TaskEvent::Task(task) => {
                        let next = task.id.clone();
                        registry.on_next_task(*task, &current);
                        current = next;
                    }
                    TaskEvent::Ended(task) => registry.update_task(&mut registry.lock_state(), *task, None),
                    TaskEvent::Grew(bytes, pending) => registry.on_growth(&current, bytes, pending),
                    TaskEvent::Lost => return registry.unlink(&current).await,
                }
            }
        });
        let id = task.id.clone();
        self.update_task(&mut inner, task, None);
        let is_new = matches!(origin, TaskOrigin::New(_));
        if let Some(entry) = inner.entries.get_mut(&id)
            && let Some(evidence) = evidence
        {
            entry.evidence = evidence;
            if !entry.task.is_running() {
                self.end_evidence(&mut inner, &id);
            }
        }
        if let TaskOrigin::New(Some(recording)) = origin {
            self.begin_record(&mut inner, &id, recording);
        }
        if let Some(entry) = inner.entries.get_mut(&id) {
            entry.link = Some(FollowedTaskLink { sender, place: None, listener: listener.abort_handle() });
        }
        if is_new {
            self.announce(&mut inner, &id);
        }
    }

    /// Handles the news that the shim keeps another task from here on: the survivors of the first task.
    fn on_next_task(self: &Arc<Self>, task: Task, before: &str) {
        let id = task.id.clone();
        if id == before {
            return;
        }
        let mut inner = self.lock_state();
        let linked = inner.entries.get_mut(before).and_then(|entry| entry.link.take());
        self.update_task(&mut inner, task, None);
        if let Some(entry) = inner.entries.get_mut(&id) {
            entry.link = linked;
        }
        self.announce(&mut inner, &id);
    }

    fn on_growth(&self, id: &str, bytes: u64, pending: Vec<String>) {
        if let Some(entry) = self.lock_state().entries.get(id) {
            entry.progress.send_modify(|progress| {
                progress.bytes = progress.bytes.max(bytes);
                progress.pending = pending;
                progress.news += 1;
            });
        }
    }

    /// Handles the end of a link: the task has ended, the shim has, or only the connection between the two processes.
    async fn unlink(self: Arc<Self>, id: &str) {
        self.wait_until_unlocked(id).await;
        let mut inner = self.lock_state();
        if let Some(entry) = inner.entries.get_mut(id) {
            // This code runs in the listener itself, which has no await point left at which it could be stopped.
            entry.link = None;
            entry.progress.send_modify(|progress| progress.news += 1);
            if entry.task.is_running() {
                self.scan(&mut inner);
            }
        }
    }

    pub(super) fn sweep_soon(&self) {
        let weak = self.this.clone();
        self.runtime().spawn_blocking(move || weak.upgrade().map(|registry| registry.sweep()));
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::registry::RegistryOptions;
    use protocol::task::TaskLog;

    /// Returns a registry with a task whose log the test keeps.
    fn kept() -> (Arc<TaskRegistry>, Task, TaskLog, TempDir) {
        let directory = tempfile::tempdir().expect("a directory");
        let (dir, temp) = (Some(directory.path().to_owned()), directory.path().to_owned());
        let options = RegistryOptions { dir, temp, max_tasks: 8, max_log_bytes: 1 << 20, retention: GOING };
        let registry = TaskRegistry::open(options).expect("opened");
        let spec = registry.task_spec("x", "/", None, None);
        let log =
            TaskLog::lock_and_continue(registry.store().create_log(&spec.id).expect("made"), 1 << 20).expect("locked");
        let task = Task::begin(&spec, 700_101, 700_101, "mark", 1);
        registry.store().write(&task).expect("written");
        registry.list().expect("open");
        (registry, task, log, directory)
    }

    #[tokio::test]
    async fn a_report_of_growth_wakes_those_who_wait_and_takes_no_bytes_back() {
        let (registry, task, _log, _directory) = kept();
        let mut progress = registry.lock_state().entries[&task.id].progress.subscribe();
        for (bytes, line, known) in [(8, "", 8), (8, "Name: ", 8), (4, "", 8), (9, "", 9)] {
            registry.on_growth(&task.id, bytes, vec![line.to_owned()]);
            assert!(progress.has_changed().expect("open"), "{bytes} {line:?}");
            let seen = progress.borrow_and_update().clone();
            assert_eq!((seen.bytes, seen.pending.concat().as_str(), seen.ended), (known, line, false));
        }
        registry.on_growth("t000000000000", 1, Vec::new());
        assert!(!progress.has_changed().expect("open"), "another task");
    }

    #[tokio::test]
    async fn a_task_reported_before_is_no_next_task() {
        let (registry, task, _log, _directory) = kept();
        registry.on_next_task(task.clone(), &task.id);
        assert_eq!(registry.list().expect("open").len(), 1);
        let next = Task { id: "t000000000001".into(), ..task.clone() };
        registry.on_next_task(next.clone(), &task.id);
        assert_eq!(registry.lock_state().entries[&next.id].task, next);
    }

    #[tokio::test]
    async fn a_task_of_the_host_alone_has_no_link_but_its_own() {
        let (registry, task, log, _directory) = kept();
        assert!(registry.link_to_task(&task.id).is_none(), "its shim does not answer");
        assert!(registry.link_to_task("t000000000000").is_none());
        drop(log);
        assert_eq!(registry.find_lost_task(&task.id).await.map(|task| task.is_running()), Some(false));
    }
}
