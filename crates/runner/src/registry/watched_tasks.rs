//! The tasks of a registry for the people who watch.

use std::fs::File;
use std::path::PathBuf;

use super::task_registry::TaskRegistry;
use crate::live::{TaskChanges, TaskSource};
use protocol::task::Task;

impl TaskSource for TaskRegistry {
    fn running(&self, fresh: bool) -> Vec<Task> {
        let mut inner = self.lock_state();
        // A directory of this process alone has no tasks that are not known.
        if fresh && self.options.dir.is_some() && !inner.is_closed() {
            self.scan(&mut inner);
        }
        inner.running().map(|(_, entry)| &entry.task).filter(|task| !task.is_elsewhere()).cloned().collect()
    }

    fn task(&self, id: &str) -> Option<Task> {
        let known = self.lock_state().entries.get(id).map(|entry| entry.task.clone());
        known.or_else(|| self.store().read(id).ok().flatten())
    }

    fn readable(&self, id: &str) -> Option<(Task, File, u64)> {
        let read = || self.store().read_with_log(id).ok().flatten();
        let (task, log, end) = read()?;
        if task.is_running() {
            Some((task, log, end))
        } else if self.is_closing(&task) {
            Some((task.before_its_end(), log, end))
        } else {
            // Output may have come after its length was read.
            read()
        }
    }

    fn log_path(&self, id: &str) -> PathBuf {
        self.store().log_path(id)
    }

    fn changes(&self, id: &str) -> TaskChanges {
        self.changes_so_far(id)
    }

    fn stop(&self, id: &str) {
        if let Some(registry) = self.this.upgrade() {
            let id = id.to_owned();
            self.runtime().spawn(async move { registry.terminate_and_wait(&id).await });
        }
    }
}
