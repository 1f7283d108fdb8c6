//! A registry of tasks on a target.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};

use super::connect::TargetRunHandle;
use super::distant_run::reported_error;
use super::remote_target::{RemoteTarget, TargetState};
use super::target_requests::UnansweredRequest;
use super::target_run_updates::{PROTOCOL_BROKEN, TargetRunUpdate};
use crate::messages::{
    RegistryEvent, RegistryOpening, TargetCall, TargetEvent, TargetFacts, TargetFailure, TargetRegistryRequest,
    TargetRegistryResponse, TargetRequest, TargetResponse, TaskWaitConditions, encode,
};
use protocol::state_directory;
use protocol::task::{Task, TaskState, TaskStore, now_ms};
use runner::error::RunError;
use runner::live::{TaskChanges, TaskSource, runs};
use runner::registry::{RegistryError, TaskCheck, TaskWatcher};

/// The most tasks that are remembered of one registry.
const MOST_TASKS: usize = 65_536;
/// The most bytes of them, encoded.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The number of the last registry of this process.
static LAST: AtomicU64 = AtomicU64::new(0);

/// An answer in the making. The question has its place among the calls already.
pub trait AnswerFuture<T>: Future<Output = Result<T, UnansweredRequest>> + Send + 'static {}

impl<T, F: Future<Output = Result<T, UnansweredRequest>> + Send + 'static> AnswerFuture<T> for F {}

/// A registry of tasks on a target. It is opened again in each new program there, until it is closed.
pub struct DistantRegistry {
    target: Arc<RemoteTarget>,
    number: u64,
    /// The run that carries its events.
    run: u64,
    runtime: Handle,
    opening: Mutex<RegistryOpening>,
    known: Mutex<KnownTargetTasks>,
    opened: watch::Sender<Option<Result<TaskStore, TargetFailure>>>,
    /// Notified when the registry is closed without a word to the program.
    forgotten: Notify,
    this: Weak<Self>,
}

/// What the program has told last.
#[derive(Default)]
struct KnownTargetTasks {
    tasks: HashMap<String, Task>,
    /// Tasks that ended with a program that is gone, the oldest first.
    gone: VecDeque<Task>,
    /// The bytes of all of them, encoded.
    bytes: usize,
    /// Tasks that ran when their program was lost, and outlive it.
    unwatched: HashSet<String>,
    notes: Vec<String>,
    closed: bool,
    watcher: Option<Arc<dyn TaskWatcher>>,
    exit: bool,
}

impl KnownTargetTasks {
    /// Adds a task, or what has become of it. An end is never taken back.
    fn add(&mut self, task: Task) {
        if self.tasks.get(&task.id).is_some_and(|known| !known.is_running()) {
            return;
        }
        self.remove(&task.id);
        let bytes = bytes_of(&task);
        let is_full =
            |known: &Self| known.tasks.len() + known.gone.len() >= MOST_TASKS || known.bytes + bytes > MOST_BYTES;
        while is_full(self)
            && let Some(oldest) = self.gone.pop_front()
        {
            self.bytes -= bytes_of(&oldest);
        }
        if !is_full(self) {
            self.bytes += bytes;
            self.tasks.insert(task.id.clone(), task);
        }
    }

    fn remove(&mut self, id: &str) {
        if let Some(task) = self.tasks.remove(id) {
            self.bytes -= bytes_of(&task);
        }
    }
}

impl DistantRegistry {
    /// Opens a registry, now or once a link is there. Commands that name it may follow at once. `runtime` drives what
    /// happens in it.
    ///
    /// # Errors
    /// If the target was closed.
    pub fn open(target: &Arc<RemoteTarget>, opening: RegistryOpening, runtime: &Handle) -> Result<Arc<Self>, RunError> {
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let begun = target.begin_standing_request(open_ask(number, &opening))?;
        let registry = Arc::new_cyclic(|this| Self {
            target: Arc::clone(target),
            number,
            run: begun.run,
            runtime: runtime.clone(),
            opening: Mutex::new(opening),
            known: Mutex::default(),
            opened: watch::Sender::new(None),
            forgotten: Notify::new(),
            this: Weak::clone(this),
        });
        let source: Weak<dyn TaskSource> = registry.this.clone();
        runs().add_source(source);
        runtime.spawn(Arc::clone(&registry).follow(begun));
        Ok(registry)
    }

    /// Returns its number, for [`crate::TargetCommand::registry`].
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Waits until it is open, also while the target cannot be reached. Returns the directory of its files.
    ///
    /// # Errors
    /// If the directory there cannot be used, or the target was closed.
    pub async fn wait_until_open(&self) -> Result<TaskStore, RunError> {
        let mut opened = self.opened.subscribe();
        let opened = opened.wait_for(Option::is_some).await.ok().and_then(|opened| opened.clone());
        opened.unwrap_or_else(|| Err(closed_error().into())).map_err(reported_error)
    }

    /// Returns the directory of its files, once it is known.
    pub fn store(&self) -> Option<TaskStore> {
        self.opened.borrow().clone()?.ok()
    }

    /// Returns all tasks as they were last known, the oldest first. `None`: the registry was closed.
    pub fn list(&self) -> Option<Vec<Task>> {
        let known = self.known();
        let mut tasks: Vec<Task> = known.gone.iter().chain(known.tasks.values()).cloned().collect();
        tasks.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        (!known.closed).then_some(tasks)
    }

    /// Returns problems with files of the directory, as they were last known.
    pub fn notes(&self) -> Vec<String> {
        self.known().notes.clone()
    }

    /// Adds a task that a command has become.
    pub fn remember_task(&self, task: Task) {
        self.known().add(task);
        runs().on_change();
    }

    /// Asks for all tasks, and lists them.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn refresh(self: &Arc<Self>) -> impl AnswerFuture<Vec<Task>> {
        let before: HashSet<String> = self.known().tasks.keys().cloned().collect();
        let (asked, this) = (self.request(TargetRegistryRequest::List), Arc::clone(self));
        async move {
            let TargetRegistryResponse::Listed(tasks, notes, _) = asked.await? else {
                return Err(UnansweredRequest::Lost(PROTOCOL_BROKEN));
            };
            {
                let mut known = this.known();
                let there: HashSet<&String> = tasks.iter().map(|task| &task.id).collect();
                // A task that was seen meanwhile may be younger than the answer.
                before.iter().filter(|id| !there.contains(id)).for_each(|id| known.remove(id));
                tasks.into_iter().for_each(|task| known.add(task));
                known.notes = notes;
            }
            this.list().ok_or_else(|| UnansweredRequest::Failed(closed_error()))
        }
    }

    /// Reads the new output of a task, or what follows a cursor. Returns it with the directory of the task's files.
    ///
    /// # Errors
    /// If there is no such task, or no answer.
    pub fn check(self: &Arc<Self>, task: String, cursor: Option<u64>) -> impl AnswerFuture<(TaskCheck, TaskStore)> {
        self.request_check(TargetRegistryRequest::Check { task, cursor }, std::future::pending())
    }

    /// Ends the tree of a task.
    ///
    /// # Errors
    /// If there is no such task, or no answer.
    pub fn kill(self: &Arc<Self>, task: String) -> impl AnswerFuture<(TaskCheck, TaskStore)> {
        self.request_check(TargetRegistryRequest::Kill(task), std::future::pending())
    }

    /// Waits for a task until the caller gives up, and returns what there is then.
    ///
    /// # Errors
    /// If there is no such task, or no answer: [`RunError::Aborted`] if the caller gives up while no link is there.
    pub fn wait(
        self: &Arc<Self>,
        task: String,
        until: TaskWaitConditions,
        given_up: impl Future<Output = ()> + Send + 'static,
    ) -> impl AnswerFuture<(TaskCheck, TaskStore)> {
        self.request_check(TargetRegistryRequest::Wait { task, until }, given_up)
    }

    /// Sets the watcher, and the events that it gets, also in later programs.
    pub fn watch(self: &Arc<Self>, watcher: Arc<dyn TaskWatcher>, exit: bool, output: bool) {
        {
            let mut known = self.known();
            (known.watcher, known.exit) = (Some(watcher), exit);
        }
        let ask = {
            let mut opening = lock(&self.opening);
            opening.output = output;
            open_ask(self.number, &opening)
        };
        self.target.outbox.replace_standing(self.run, ask);
        // A target that is lost is not reached for this alone.
        if self.target.state() != TargetState::Lost {
            self.runtime.spawn(self.request(TargetRegistryRequest::Watch { output }));
        }
    }

    /// Tells that the watcher has taken the last output of this task.
    pub fn on_output_taken(&self, task: &str) {
        // Room is left for it, unless the program takes nothing for ever.
        let _full = self.target.outbox.send(self.run, &TargetCall::TaskOutputTaken(task.to_owned()));
    }

    /// Ends tasks that do not outlive the host, and releases the others. May be called again.
    pub fn close(self: &Arc<Self>) -> impl Future<Output = ()> + Send + 'static {
        let asked = match self.target.state() {
            // Nothing is open there.
            TargetState::Lost | TargetState::Closed => None,
            TargetState::Connected | TargetState::Disconnected => Some(self.request(TargetRegistryRequest::Close)),
        };
        self.known().closed = true;
        let this = Arc::clone(self);
        async move {
            if let Some(asked) = asked {
                // All ends with a target that is lost.
                let _lost = asked.await;
            }
            this.forgotten.notify_one();
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownTargetTasks> {
        lock(&self.known)
    }

    fn request(self: &Arc<Self>, ask: TargetRegistryRequest) -> impl AnswerFuture<TargetRegistryResponse> {
        self.request_until(ask, std::future::pending())
    }

    fn request_until(
        self: &Arc<Self>,
        ask: TargetRegistryRequest,
        given_up: impl Future<Output = ()> + Send + 'static,
    ) -> impl AnswerFuture<TargetRegistryResponse> {
        let this = Arc::clone(self);
        let asked = (!self.known().closed)
            .then(|| self.target.request_until(TargetRequest::Registry(self.number, ask), given_up));
        async move {
            let Some(asked) = asked else { return Err(UnansweredRequest::Failed(closed_error())) };
            match asked.await {
                Ok(TargetResponse::Registry(answer)) => Ok(answer),
                Ok(_) => Err(UnansweredRequest::Lost(PROTOCOL_BROKEN)),
                // A registry that could not be opened counts as closed there.
                Err(UnansweredRequest::Failed(error)) if error.code() == "ERR_BASH_CLOSED" => {
                    Err(UnansweredRequest::Failed(this.wait_until_open().await.err().unwrap_or(error)))
                }
                Err(error) => Err(error),
            }
        }
    }

    fn request_check(
        self: &Arc<Self>,
        ask: TargetRegistryRequest,
        given_up: impl Future<Output = ()> + Send + 'static,
    ) -> impl AnswerFuture<(TaskCheck, TaskStore)> {
        let (asked, this) = (self.request_until(ask, given_up), Arc::clone(self));
        async move {
            let TargetRegistryResponse::Checked(check, store) = asked.await? else {
                return Err(UnansweredRequest::Lost(PROTOCOL_BROKEN));
            };
            this.remember_task(check.task.clone());
            Ok((*check, store))
        }
    }

    /// Follows what happens in it until it is closed.
    async fn follow(self: Arc<Self>, mut begun: TargetRunHandle) {
        loop {
            let happened = tokio::select! {
                biased;
                happened = begun.happened.recv() => happened,
                () = self.forgotten.notified() => None,
            };
            match happened {
                Some(TargetRunUpdate::Event(TargetEvent::Registry(event))) => {
                    self.on_event(*event);
                    // A mailbox that is full is that of a link that is down.
                    let _full =
                        self.target.outbox.send(self.run, &TargetCall::OutputTaken(begun.happened.take_read_cost()));
                }
                Some(TargetRunUpdate::Event(TargetEvent::Failed(failure))) => {
                    self.opened.send_replace(Some(Err(failure)));
                    return;
                }
                Some(TargetRunUpdate::Lost(why)) => self.on_program_lost(why),
                // The next program opens it.
                Some(TargetRunUpdate::Unreachable(_)) => {}
                Some(TargetRunUpdate::Event(_)) | None => break,
            }
        }
        self.opened.send_if_modified(|opened| {
            let never = opened.is_none();
            opened.get_or_insert_with(|| Err(closed_error().into()));
            never
        });
    }

    fn on_event(self: &Arc<Self>, event: RegistryEvent) {
        match event {
            RegistryEvent::Opened(tasks, store) => {
                let mut ended = tasks.clone();
                {
                    let mut known = self.known();
                    let unwatched = std::mem::take(&mut known.unwatched);
                    ended.retain(|task| !task.is_running() && unwatched.contains(&task.id));
                    tasks.into_iter().for_each(|task| known.add(task));
                }
                self.opened.send_replace(Some(Ok(store)));
                runs().on_change();
                // No program was there to tell these ends.
                self.tell_exits(ended);
                // The watcher may have come after the question that opened it.
                if lock(&self.opening).output {
                    self.runtime.spawn(self.request(TargetRegistryRequest::Watch { output: true }));
                }
            }
            RegistryEvent::Output(task, text) => {
                let watcher = self.known().watcher.clone();
                if let Some(watcher) = watcher {
                    watcher.output(task, text);
                }
            }
            RegistryEvent::Exited(task, record, evidence) => {
                self.remember_task(task.clone());
                if let Some(watcher) = self.exit_watcher() {
                    watcher.exit(task, record.map(Arc::new), evidence.map(Arc::new));
                }
            }
        }
    }

    fn exit_watcher(&self) -> Option<Arc<dyn TaskWatcher>> {
        let known = self.known();
        known.watcher.clone().filter(|_| known.exit)
    }

    /// Counts tasks that do not outlive their program as lost.
    fn on_program_lost(&self, why: &str) {
        if lock(&self.opening).dir.is_some() {
            let mut known = self.known();
            let running: Vec<String> =
                known.tasks.values().filter(|task| task.is_running()).map(|task| task.id.clone()).collect();
            known.unwatched.extend(running);
            return;
        }
        let mut lost = Vec::new();
        {
            let mut known = self.known();
            for mut task in std::mem::take(&mut known.tasks).into_values() {
                known.bytes -= bytes_of(&task);
                if task.is_running() {
                    (task.state, task.ended_at) = (TaskState::Lost, Some(now_ms()));
                    task.notes.push(why.to_owned());
                    lost.push(task.clone());
                }
                known.bytes += bytes_of(&task);
                known.gone.push_back(task);
            }
        }
        runs().on_change();
        self.tell_exits(lost);
    }

    /// Tells the ends of tasks that no program has told.
    fn tell_exits(&self, tasks: Vec<Task>) {
        if let Some(watcher) = self.exit_watcher() {
            tasks.into_iter().for_each(|task| watcher.exit(task, None, None));
        }
    }
}

/// Watchers see the tasks and may stop them. Their logs are there, and cannot be followed here.
impl TaskSource for DistantRegistry {
    fn target(&self) -> Option<&str> {
        Some(self.target.id())
    }

    fn running(&self, _fresh: bool) -> Vec<Task> {
        let known = self.known();
        if known.closed {
            return Vec::new();
        }
        known.tasks.values().filter(|task| task.is_running()).cloned().collect()
    }

    fn task(&self, id: &str) -> Option<Task> {
        let known = self.known();
        known.tasks.get(id).or_else(|| known.gone.iter().find(|task| task.id == id)).cloned()
    }

    fn readable(&self, _id: &str) -> Option<(Task, File, u64)> {
        None
    }

    fn log_path(&self, id: &str) -> PathBuf {
        self.store().map(|store| store.log_path(id)).unwrap_or_default()
    }

    fn changes(&self, _id: &str) -> TaskChanges {
        TaskChanges::Unrecorded
    }

    fn stop(&self, id: &str) {
        if let Some(registry) = self.this.upgrade() {
            // A target that does not answer ends the task with its lease.
            let asked = registry.kill(id.to_owned());
            self.runtime.spawn(async move { drop(asked.await) });
        }
    }
}

/// Returns the directory of the user's own registry on a target. `None`: the user has no home there.
pub fn user_registry_directory(facts: &TargetFacts) -> Option<PathBuf> {
    state_directory(|name| {
        let mut variables = facts.environment.split('\0').filter_map(|variable| variable.split_once('='));
        let value = variables.find(|(known, _)| *known == name).map(|(_, value)| value);
        value.or((name == "HOME").then_some(facts.home.as_str())).map(PathBuf::from)
    })
}

/// Returns the bytes of a task, encoded: how much it takes.
fn bytes_of(task: &Task) -> usize {
    #[derive(Serialize)]
    struct EncodedTask<'t>(#[serde(with = "runner::as_json")] &'t Task);
    encode(&EncodedTask(task)).map_or(0, |bytes| bytes.len())
}

fn open_ask(number: u64, opening: &RegistryOpening) -> TargetRequest {
    TargetRequest::Registry(number, TargetRegistryRequest::Open(opening.clone()))
}

fn closed_error() -> RunError {
    RegistryError::Closed.into()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
