//! The tasks of a registry, of this machine or of a target.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::result::{BackgroundTask, NativeCheck};
use protocol::task::{Task, TaskStore};
use remote::TaskWaitConditions;
use remote::client::{DistantRegistry, UnansweredRequest};
use runner::error::RunError;
use runner::pattern::JsPattern;
use runner::registry::{TaskCheck, TaskRegistry, TaskWaitOptions, TaskWatcher};

/// The tasks of a registry.
#[derive(Clone)]
pub enum AnyTaskRegistry {
    /// Of this machine.
    Local(Arc<TaskRegistry>),
    /// Of a target.
    Distant {
        /// The registry there.
        registry: Arc<DistantRegistry>,
        /// The number of the target.
        number: u32,
        /// The name of the target.
        target: Arc<str>,
    },
}

impl AnyTaskRegistry {
    /// Converts a task.
    pub fn to_background_task(&self, task: Task) -> BackgroundTask {
        match self {
            Self::Local(registry) => BackgroundTask::of(task, registry.store(), None),
            Self::Distant { registry, target, .. } => {
                // A registry that is not open yet has no tasks.
                let store = registry.store().unwrap_or_else(|| TaskStore::at("".into()));
                BackgroundTask::of(task, &store, Some(target))
            }
        }
    }

    /// Converts tasks: `BackgroundTask[]` as JSON.
    pub fn json(&self, tasks: Vec<Task>) -> String {
        let tasks: Vec<_> = tasks.into_iter().map(|task| self.to_background_task(task)).collect();
        serde_json::to_string(&tasks).unwrap_or_default()
    }

    /// Returns all tasks, those of a target as it has told them last. `None`: the registry was closed.
    pub fn list(&self) -> Option<Vec<Task>> {
        match self {
            Self::Local(registry) => registry.list().ok(),
            Self::Distant { registry, .. } => registry.list(),
        }
    }

    /// Returns all tasks as they are now.
    pub async fn refresh(&self) -> Result<Vec<Task>, UnansweredRequest> {
        match self {
            Self::Local(registry) => registry.list().map_err(|error| UnansweredRequest::Failed(error.into())),
            Self::Distant { registry, .. } => registry.refresh().await,
        }
    }

    /// Returns problems with the files of the directory.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Local(registry) => registry.notes(),
            Self::Distant { registry, .. } => registry.notes(),
        }
    }

    /// Reads the new output of a task, or what follows a cursor.
    pub async fn check(&self, task: String, cursor: Option<u64>) -> Result<NativeCheck, UnansweredRequest> {
        match self {
            Self::Local(registry) => self.local_check(registry.check(&task, cursor).await),
            Self::Distant { registry, .. } => self.distant_check(registry.check(task, cursor).await),
        }
    }

    /// Ends the tree of a task.
    pub async fn kill(&self, task: String) -> Result<NativeCheck, UnansweredRequest> {
        match self {
            Self::Local(registry) => self.local_check(registry.kill(&task).await),
            Self::Distant { registry, .. } => self.distant_check(registry.kill(task).await),
        }
    }

    /// Waits for a task until the caller gives up.
    pub async fn wait(
        &self,
        task: String,
        until: TaskWaitConditions,
        given_up: oneshot::Receiver<()>,
    ) -> Result<NativeCheck, UnansweredRequest> {
        let TaskWaitConditions { timeout, pattern, port } = &until;
        let pattern = pattern.as_ref().map(|(source, flags)| JsPattern::new(source, flags)).transpose();
        let pattern = pattern.map_err(|error| UnansweredRequest::Failed(error.into()))?;
        match self {
            Self::Local(registry) => {
                let wait = TaskWaitOptions { timeout: *timeout, pattern, port: *port };
                self.local_check(registry.wait(&task, wait, given_up).await)
            }
            Self::Distant { registry, .. } => {
                let given_up = async { drop(given_up.await) };
                self.distant_check(registry.wait(task, until, given_up).await)
            }
        }
    }

    /// Sets the watcher, and the events that it gets.
    pub fn watch(&self, watcher: Arc<dyn TaskWatcher>, exit: bool, output: bool) {
        match self {
            Self::Local(registry) => registry.watch(watcher, exit, output),
            Self::Distant { registry, .. } => registry.watch(watcher, exit, output),
        }
    }

    /// Tells that the watcher has taken the last output of a task.
    pub fn on_output_taken(&self, task: &str) {
        match self {
            Self::Local(registry) => registry.on_output_taken(task),
            Self::Distant { registry, .. } => registry.on_output_taken(task),
        }
    }

    /// Ends tasks that do not outlive the host, and releases the others.
    pub async fn close(&self) {
        match self {
            Self::Local(registry) => registry.close().await,
            Self::Distant { registry, .. } => registry.close().await,
        }
    }

    /// Ends tasks that do not outlive the host, without a word to who has them. Those of a target end with it.
    pub fn shut(&self) {
        if let Self::Local(registry) = self {
            registry.close_without_waiting();
        }
    }

    fn local_check<E: Into<RunError>>(&self, checked: Result<TaskCheck, E>) -> Result<NativeCheck, UnansweredRequest> {
        let check = checked.map_err(|error| UnansweredRequest::Failed(error.into()))?;
        let task = self.to_background_task(check.task.clone());
        Ok(NativeCheck::of(check, task))
    }

    fn distant_check(
        &self,
        checked: Result<(TaskCheck, TaskStore), UnansweredRequest>,
    ) -> Result<NativeCheck, UnansweredRequest> {
        let (check, _) = checked?;
        let task = self.to_background_task(check.task.clone());
        Ok(NativeCheck::of(check, task))
    }
}
