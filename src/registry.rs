//! A registry of tasks as JavaScript sees it. Slow calls return a number and are answered by an event with that number.

use std::sync::Arc;
use std::time::Duration;

use napi_derive::napi;
use tokio::sync::oneshot;

use super::any_task_registry::AnyTaskRegistry;
use super::bridge::Bridge;
use super::event_emitter::TaskEventEmitter;
use super::native_event::NativeEvent;
use super::registry_options::NativeRegistryOptions;
use super::request::NativeRequest;
use super::result::{NativeCheck, NativeError};
use super::target_run::TargetCommandInput;
use super::thread_calls::ThreadCalls;
use remote::client::{RemoteTarget, UnansweredRequest};
use remote::{TargetCommandPlace, TaskWaitConditions};
use runner::error::RunError;
use runner::registry::{RegistryError, TaskRegistry};
use runner::run::runtime;

/// Events that end a wait in addition to the task's own end.
#[napi(object, object_to_js = false)]
pub struct NativeWait {
    /// Time limit in ms.
    pub timeout_ms: Option<f64>,
    /// An ECMAScript regular expression.
    pub pattern: Option<String>,
    /// The flags of the expression.
    pub flags: Option<String>,
    /// A port of this machine.
    pub port: Option<u32>,
    /// Whether the wait was aborted before it began.
    pub aborted: Option<bool>,
}

/// The tasks of one directory, here or on a target. The thread owns the registry until it is closed.
#[napi]
pub struct NativeRegistry {
    calls: Arc<ThreadCalls>,
    id: u32,
    tasks: Result<AnyTaskRegistry, Option<RunError>>,
}

#[napi]
impl NativeRegistry {
    /// Never throws; see `failure`. The first call tells why a directory of a target cannot be used.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge, options: NativeRegistryOptions) -> Self {
        let calls = Arc::clone(&bridge.calls);
        let id = calls.next_number();
        let tasks = match options.target {
            Some(target) => calls.open_distant_registry(target, options),
            None => TaskRegistry::open(options.here()).map(AnyTaskRegistry::Local).map_err(RunError::from),
        };
        if let Ok(tasks) = &tasks {
            calls.registries().insert(id, tasks.clone());
        }
        Self { calls, id, tasks: tasks.map_err(Some) }
    }

    /// Returns why the registry could not be opened. Reported once.
    #[napi]
    pub fn failure(&mut self) -> Option<NativeError> {
        self.tasks.as_mut().err().and_then(Option::take).map(NativeError::from)
    }

    /// Returns the registry's number, for the option `registry`.
    #[napi(getter)]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Starts a task; answered by `task`.
    #[napi]
    pub fn start(&self, request: NativeRequest) -> u32 {
        if let Ok(AnyTaskRegistry::Distant { number, .. }) = &self.tasks {
            let place = TargetCommandPlace::Shell;
            let order = TargetCommandInput { request, place, task_of: Some(self.id) };
            return self.calls.run_on_target(*number, order, None, RemoteTarget::run, |_| {});
        }
        self.calls.run(request, Some(self.id))
    }

    /// Returns all tasks, the oldest first: `BackgroundTask[]` as JSON; those of a target as it has told them last.
    /// `null` after the registry was closed.
    #[napi]
    pub fn list(&self) -> Option<String> {
        let tasks = self.tasks.as_ref().ok()?;
        Some(tasks.json(tasks.list()?))
    }

    /// Asks for all tasks; answered by `told`, as `list` returns them.
    #[napi]
    pub fn refresh(&self) -> u32 {
        let id = self.calls.next_number();
        let asked = self.open().and_then(|tasks| Ok((runtime()?, tasks)));
        let Some((runtime, tasks)) = self.calls.start_or_report(id, asked) else { return id };
        self.calls.run_call(id, runtime, None, None, async move {
            match tasks.refresh().await {
                Ok(listed) => NativeEvent::Told { answer: tasks.json(listed) },
                Err(unanswered) => unanswered.into(),
            }
        });
        id
    }

    /// Returns problems with the files of the registry's directory.
    #[napi]
    pub fn notes(&self) -> Vec<String> {
        self.tasks.as_ref().map(AnyTaskRegistry::notes).unwrap_or_default()
    }

    /// Reads the new part of a task's log. The task is named by its id or pid; answered by `check`.
    #[napi]
    pub fn check(&self, task: String, cursor: Option<f64>) -> u32 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
        let cursor = cursor.map(|cursor| cursor as u64);
        self.look(None, move |tasks| async move { tasks.check(task, cursor).await })
    }

    /// Waits for a task; answered by `check`.
    #[napi]
    pub fn wait(&self, task: String, options: NativeWait) -> u32 {
        let pattern = options.pattern.map(|source| (source, options.flags.unwrap_or_default()));
        let timeout = options.timeout_ms.map(|ms| Duration::from_secs_f64(ms / 1000.0));
        let port = options.port.and_then(|port| u16::try_from(port).ok());
        let (give_up, given_up) = oneshot::channel();
        // A wait without the other end counts as given up.
        let give_up = (!options.aborted.unwrap_or(false)).then_some(give_up);
        let until = TaskWaitConditions { timeout, pattern, port };
        self.look(give_up, move |tasks| async move { tasks.wait(task, until, given_up).await })
    }

    /// Ends a task's whole tree; answered by `check`.
    #[napi]
    pub fn kill(&self, task: String) -> u32 {
        self.look(None, move |tasks| async move { tasks.kill(task).await })
    }

    /// Gives up a wait, or a start that has not begun.
    #[napi]
    pub fn abort(&self, id: u32) {
        self.calls.abort(id);
    }

    /// Sets which events of tasks are sent: `taskExited`, `taskOutput`.
    #[napi]
    pub fn watch(&self, exit: bool, output: bool) {
        if let Ok(tasks) = &self.tasks {
            let watcher = TaskEventEmitter { emitter: self.calls.emitter(self.id), tasks: tasks.clone() };
            tasks.watch(Arc::new(watcher), exit, output);
        }
    }

    /// Reports that the listeners have taken the last `taskOutput` of this task.
    #[napi]
    pub fn output_taken(&self, task: String) {
        if let Ok(tasks) = &self.tasks {
            tasks.on_output_taken(&task);
        }
    }

    /// Terminates tasks that do not outlive the host, and detaches from the others; answered by `done`.
    #[napi]
    pub fn close(&self) -> u32 {
        let id = self.calls.next_number();
        self.calls.registries().remove(&self.id);
        let Some((runtime, tasks)) = self.open().and_then(|tasks| Ok((runtime()?, tasks))).ok() else {
            self.calls.emitter(id).emit(NativeEvent::Done);
            return id;
        };
        self.calls.run_call(id, runtime, None, None, async move {
            tasks.close().await;
            NativeEvent::Done
        });
        id
    }

    fn open(&self) -> Result<AnyTaskRegistry, RunError> {
        self.tasks.as_ref().map(AnyTaskRegistry::clone).map_err(|_| RegistryError::Closed.into())
    }

    fn look<W>(&self, give_up: Option<oneshot::Sender<()>>, work: impl FnOnce(AnyTaskRegistry) -> W) -> u32
    where
        W: Future<Output = Result<NativeCheck, UnansweredRequest>> + Send + 'static,
    {
        let id = self.calls.next_number();
        let asked = self.open().and_then(|tasks| Ok((runtime()?, tasks)));
        let Some((runtime, tasks)) = self.calls.start_or_report(id, asked) else { return id };
        let work = work(tasks);
        self.calls.run_call(id, runtime, None, give_up, async move {
            work.await.map_or_else(NativeEvent::from, |check| NativeEvent::Check { check })
        });
        id
    }
}
