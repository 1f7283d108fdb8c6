//! A registry of tasks as JavaScript sees it. Slow calls return a number and are answered by an event with that number.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use tokio::sync::oneshot;

use super::bridge::Bridge;
use super::calls::Calls;
use super::emitter::TaskEmitter;
use super::events::NativeEvent;
use super::request::NativeRequest;
use super::result::{BackgroundTask, NativeCheck, NativeError};
use runner::error::Error;
use runner::pattern::Pattern;
use runner::registry::{
    Check, DEFAULT_MAX_LOG_BYTES, DEFAULT_MAX_TASKS, DEFAULT_RETENTION, Registry, RegistryError, RegistryOptions,
    WaitOptions,
};

/// The options of a registry. Ranges have been checked.
#[napi(object, object_to_js = false)]
pub struct NativeRegistryOptions {
    /// Absolute directory of tasks that outlive the host. If left out, tasks do not outlive it.
    pub dir: Option<String>,
    /// The directory for temporary files.
    pub temp: String,
    /// Most tasks. Default 64.
    pub max_tasks: Option<f64>,
    /// Most bytes of a log. Default 1 GiB.
    pub max_log_bytes: Option<f64>,
    /// Time to keep ended tasks, in ms. Default 7 days.
    pub retention_ms: Option<f64>,
}

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

/// The tasks of one directory. The thread owns the registry until it is closed.
#[napi]
pub struct NativeRegistry {
    calls: Arc<Calls>,
    id: u32,
    registry: Result<Arc<Registry>, Option<Error>>,
}

#[napi]
impl NativeRegistry {
    /// Never throws; see `failure`.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge, options: NativeRegistryOptions) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
        let whole = |value: Option<f64>, default: u64| value.map_or(default, |value| value as u64);
        let settings = RegistryOptions {
            dir: options.dir.map(PathBuf::from),
            temp: options.temp.into(),
            max_tasks: usize::try_from(whole(options.max_tasks, DEFAULT_MAX_TASKS)).unwrap_or(usize::MAX),
            max_log_bytes: whole(options.max_log_bytes, DEFAULT_MAX_LOG_BYTES),
            retention: options.retention_ms.map_or(DEFAULT_RETENTION, |ms| Duration::from_millis(whole(Some(ms), 0))),
        };
        let calls = Arc::clone(&bridge.calls);
        let id = calls.number();
        let registry = Registry::open(settings).map_err(|error| Some(error.into()));
        if let Ok(registry) = &registry {
            calls.registries().insert(id, Arc::clone(registry));
        }
        Self { calls, id, registry }
    }

    /// Returns why the registry could not be opened. Reported once.
    #[napi]
    pub fn failure(&mut self) -> Option<NativeError> {
        self.registry.as_mut().err().and_then(Option::take).map(NativeError::from)
    }

    /// Returns the registry's number, for the option `registry`.
    #[napi(getter)]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Starts a task; answered by `task`.
    #[napi]
    pub fn start(
        &self,
        command: String,
        cwd: String,
        host_env: Option<String>,
        umask: u32,
        options: String,
        stdin: Option<Uint8Array>,
    ) -> u32 {
        self.calls.run(NativeRequest { command, cwd, host_env, umask, options, stdin }, Some(self.id))
    }

    /// Returns all tasks, the oldest first: `BackgroundTask[]` as JSON. `null` after the registry was closed.
    #[napi]
    pub fn list(&self) -> Option<String> {
        let registry = self.registry.as_ref().ok()?;
        let tasks = registry.list().ok()?;
        let tasks: Vec<_> = tasks.into_iter().map(|task| BackgroundTask::of(task, registry.store())).collect();
        serde_json::to_string(&tasks).ok()
    }

    /// Returns problems with the files of the registry's directory.
    #[napi]
    pub fn notes(&self) -> Vec<String> {
        self.registry.as_ref().map(|registry| registry.notes()).unwrap_or_default()
    }

    /// Reads the new part of a task's log. The task is named by its id or pid; answered by `check`.
    #[napi]
    pub fn check(&self, task: String, cursor: Option<f64>) -> u32 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
        let cursor = cursor.map(|cursor| cursor as u64);
        self.look(None, move |registry| async move { registry.check(&task, cursor).await })
    }

    /// Waits for a task; answered by `check`.
    #[napi]
    pub fn wait(&self, task: String, options: NativeWait) -> u32 {
        let pattern = options.pattern.map(|source| Pattern::new(&source, options.flags.as_deref().unwrap_or_default()));
        let timeout = options.timeout_ms.map(|ms| Duration::from_secs_f64(ms / 1000.0));
        let port = options.port.and_then(|port| u16::try_from(port).ok());
        let (give_up, given_up) = oneshot::channel();
        // A wait without the other end counts as given up.
        let give_up = (!options.aborted.unwrap_or(false)).then_some(give_up);
        self.look(give_up, move |registry| async move {
            let wait = WaitOptions { timeout, pattern: pattern.transpose()?, port };
            registry.wait(&task, wait, given_up).await.map_err(Error::from)
        })
    }

    /// Ends a task's whole tree; answered by `check`.
    #[napi]
    pub fn kill(&self, task: String) -> u32 {
        self.look(None, move |registry| async move { registry.kill(&task).await })
    }

    /// Gives up a wait, or a start that has not begun.
    #[napi]
    pub fn abort(&self, id: u32) {
        self.calls.abort(id);
    }

    /// Sets which events of tasks are sent: `taskExited`, `taskOutput`.
    #[napi]
    pub fn watch(&self, exit: bool, output: bool) {
        if let Ok(registry) = &self.registry {
            let watcher = TaskEmitter { emitter: self.calls.emitter(self.id), store: registry.store().clone() };
            registry.watch(Arc::new(watcher), exit, output);
        }
    }

    /// Reports that the listeners have taken the last `taskOutput` of this task.
    #[napi]
    pub fn output_taken(&self, task: String) {
        if let Ok(registry) = &self.registry {
            registry.took(&task);
        }
    }

    /// Terminates tasks that do not outlive the host, and detaches from the others; answered by `done`.
    #[napi]
    pub fn close(&self) -> u32 {
        let id = self.calls.number();
        self.calls.registries().remove(&self.id);
        match &self.registry {
            Ok(registry) => {
                let registry = Arc::clone(registry);
                let runtime = registry.runtime();
                self.calls.call(id, runtime, None, None, async move {
                    registry.close().await;
                    NativeEvent::Done
                });
            }
            Err(_) => self.calls.emitter(id).emit(NativeEvent::Done),
        }
        id
    }

    fn look<W, E>(&self, give_up: Option<oneshot::Sender<()>>, work: impl FnOnce(Arc<Registry>) -> W) -> u32
    where
        W: Future<Output = Result<Check, E>> + Send + 'static,
        E: Into<Error>,
    {
        let id = self.calls.number();
        match &self.registry {
            Ok(registry) => {
                let store = registry.store().clone();
                let runtime = registry.runtime();
                let work = work(Arc::clone(registry));
                self.calls.call(id, runtime, None, give_up, async move {
                    match work.await {
                        Ok(check) => NativeEvent::Check { check: NativeCheck::of(check, &store) },
                        Err(error) => error.into().into(),
                    }
                });
            }
            Err(_) => self.calls.emitter(id).emit(Error::from(RegistryError::Closed).into()),
        }
        id
    }
}
