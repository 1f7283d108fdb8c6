//! The tasks of one directory, as a host sees them: the host's own tasks, and tasks of other processes.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::error::{RegistryError, host_in_brackets};
use super::evidence_state::TaskEvidenceState;
use super::recording_state::{TaskRecordingState, forget_records};
use crate::live::{millis, runs};
use crate::supervise::{HelperProcesses, TaskAdmission, TaskSender};
use capture::SanitizeRules;
use evidence::CommandEvidence;
use protocol::task::{StateFileStamp, Task, TaskSpec, TaskStore, is_id, new_id, now_ms};
use receipt::recording::RunRecord;

/// The time limit of a task without another limit, counted from its start.
pub const TASK_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The most running tasks of a registry whose caller sets no limit.
pub const DEFAULT_MAX_TASKS: u64 = 64;
/// The most bytes of a log whose caller sets no limit.
pub const DEFAULT_MAX_LOG_BYTES: u64 = 1 << 30;
/// Time that an ended task is kept if the caller sets no retention.
pub const DEFAULT_RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Time that a killed task may take to end: the longest grace, and the time for SIGKILL.
pub(super) const KILL_BOUND: Duration = Duration::from_secs(20);
/// Time between two scans for a task whose shim cannot report.
pub(super) const SCAN_EVERY: Duration = Duration::from_millis(200);
/// Time after which a start sweeps the directory though no task that is known can be old.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Age of a scan of the directory that suffices for a start.
const RECENT: Duration = Duration::from_millis(50);

/// The options of a registry.
#[derive(Debug, Clone)]
pub struct RegistryOptions {
    /// The directory of tasks that outlive the host. `None`: a directory below `temp`, and the tasks end with the host.
    pub dir: Option<PathBuf>,
    /// The directory for temporary files.
    pub temp: PathBuf,
    /// The most tasks that may run.
    pub max_tasks: usize,
    /// The most bytes of a log.
    pub max_log_bytes: u64,
    /// Time that an ended task is kept.
    pub retention: Duration,
}

/// Receives the events of a registry's tasks.
pub trait TaskWatcher: Send + Sync {
    /// A task has ended. `None`: the task was not recorded, or its evidence is not known.
    fn exit(&self, task: Task, record: Option<Arc<RunRecord>>, evidence: Option<Arc<CommandEvidence>>);
    /// A task has written output. [`TaskRegistry::on_output_taken`] asks for more.
    fn output(&self, task: Task, text: String);
}

/// The tasks of one directory.
pub struct TaskRegistry {
    pub(super) store: TaskStore,
    pub(super) options: RegistryOptions,
    pub(super) helpers: &'static HelperProcesses,
    pub(super) this: Weak<TaskRegistry>,
    /// Held while the whole directory is read.
    pub(super) reading_all: Mutex<()>,
    inner: Mutex<TaskRegistryState>,
}

/// A sweep of the directory.
#[derive(Debug, Clone, Copy)]
pub(super) struct DirectorySweep {
    at: Instant,
    /// The time at which a task can be old enough for the next one, Unix time in ms.
    due: u64,
}

#[derive(Default)]
pub(super) struct TaskRegistryState {
    pub entries: HashMap<String, RegisteredTask>,
    /// The tasks that ran when they were last seen, some of which may be forgotten since.
    pub running: HashSet<String>,
    /// Tasks that are being started. Their files may exist already.
    starting: HashSet<String>,
    /// Tasks whose output a call is about to read.
    reading: HashMap<String, TaskReaderCount>,
    notes: Vec<String>,
    pub damaged: HashMap<String, StateFileStamp>,
    /// The directory when all of it was read.
    pub seen: Option<StateFileStamp>,
    /// The directory when the tasks that run were read.
    pub seen_running: Option<StateFileStamp>,
    /// The last sweep.
    pub swept: Option<DirectorySweep>,
    /// Time of the last scan of the directory.
    pub scanned: Option<Instant>,
    closed: bool,
    pub watch: TaskWatch,
}

/// The watcher, and the events that it gets.
#[derive(Default)]
pub(super) struct TaskWatch {
    pub watcher: Option<Arc<dyn TaskWatcher>>,
    pub exit: bool,
    pub output: bool,
}

/// A task, as far as this process knows it.
pub(super) struct RegisteredTask {
    pub task: Task,
    pub stamp: Option<StateFileStamp>,
    /// The shared cursor: the offset up to which the output was read.
    pub cursor: u64,
    /// Link to the shim.
    pub link: Option<FollowedTaskLink>,
    pub progress: watch::Sender<TaskProgress>,
    /// Set while the output is emitted. The end of the task is emitted after that.
    pub emitter: Option<Arc<tokio::sync::Notify>>,
    /// The end was emitted.
    pub exit_emitted: bool,
    /// The end is emitted once the record is read.
    pub exit_waits: bool,
    /// Record of the task.
    pub record: TaskRecordingState,
    /// Evidence of the task.
    pub evidence: TaskEvidenceState,
    /// The ledger in which the task's changes are noted once they are known.
    pub ledger: Option<PathBuf>,
    /// The ledger in which the task's verdict is noted once it is known.
    pub verdict_in: Option<PathBuf>,
}

/// A link with its listener, which stops when this value is dropped.
pub(super) struct FollowedTaskLink {
    pub sender: TaskSender,
    /// The descriptors that the link counts among this process's descriptors.
    pub place: Option<TaskAdmission>,
    pub listener: tokio::task::AbortHandle,
}

impl Drop for FollowedTaskLink {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// The reports of the shim of a running task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TaskProgress {
    /// Bytes of output in the log.
    pub bytes: u64,
    /// Unfinished lines that are not in the log.
    pub pending: Vec<String>,
    /// Whether the task has ended.
    pub ended: bool,
    /// Number of reports.
    pub news: u64,
}

/// The calls that are about to read a task's output.
#[derive(Default)]
struct TaskReaderCount {
    count: usize,
    /// Whether a sweep has left the task alone because of these calls.
    spared: bool,
}

/// Keeps the files of a task from the sweeps of this registry.
pub(super) struct TaskReadGuard(Weak<TaskRegistry>, String);

impl Drop for TaskReadGuard {
    fn drop(&mut self) {
        let Some(registry) = self.0.upgrade() else { return };
        let mut inner = registry.lock_state();
        let Some(readers) = inner.reading.get_mut(&self.1) else { return };
        readers.count -= 1;
        if readers.count == 0 && inner.reading.remove(&self.1).is_some_and(|readers| readers.spared) {
            registry.sweep_soon();
        }
    }
}

/// A place among the running tasks.
pub struct TaskReservation(Weak<TaskRegistry>, String);

impl Drop for TaskReservation {
    fn drop(&mut self) {
        if let Some(registry) = self.0.upgrade() {
            registry.lock_state().starting.remove(&self.1);
        }
    }
}

impl TaskRegistry {
    /// Opens a directory, which is swept soon.
    ///
    /// # Errors
    /// If the directory cannot be used.
    pub fn open(options: RegistryOptions) -> Result<Arc<Self>, RegistryError> {
        let helpers = HelperProcesses::shared()?;
        let store = match &options.dir {
            Some(dir) => TaskStore::open(dir)?,
            None => {
                let store = TaskStore::temporary(&options.temp).map_err(RegistryError::NoTempDirectory)?;
                helpers.remove_at_end(store.path());
                store
            }
        };
        let registry = Arc::new_cyclic(|this| Self {
            store,
            options,
            helpers,
            this: this.clone(),
            reading_all: Mutex::default(),
            inner: Mutex::default(),
        });
        if registry.options.dir.is_some() {
            registry.sweep_soon();
        }
        runs().add_source(registry.this.clone());
        Ok(registry)
    }

    pub(super) fn lock_state(&self) -> MutexGuard<'_, TaskRegistryState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the runtime that drives the registry's work.
    pub fn runtime(&self) -> &'static tokio::runtime::Handle {
        self.helpers.runtime()
    }

    pub(super) fn open_inner(&self) -> Result<MutexGuard<'_, TaskRegistryState>, RegistryError> {
        let inner = self.lock_state();
        if inner.closed { Err(RegistryError::Closed) } else { Ok(inner) }
    }

    /// Reserves a place for a task until the task counts itself.
    ///
    /// # Errors
    /// [`RegistryError::TooManyTasks`], [`RegistryError::Closed`], [`RegistryError::Store`]
    pub fn reserve(&self, id: &str) -> Result<TaskReservation, RegistryError> {
        let mut inner = self.open_inner()?;
        self.store.renew()?;
        // A start in another process at this very moment cannot be seen in any case.
        if inner.scanned.is_none_or(|scanned| scanned.elapsed() >= RECENT) {
            self.scan(&mut inner);
        }
        let starting = &inner.starting;
        let running = inner.running().map(|(_, entry)| &entry.task);
        let running = running.filter(|task| !starting.contains(&task.id) && !task.is_elsewhere()).count();
        if running + starting.len() >= self.options.max_tasks {
            return Err(RegistryError::TooManyTasks(self.options.max_tasks));
        }
        inner.starting.insert(id.to_owned());
        Ok(TaskReservation(self.this.clone(), id.to_owned()))
    }

    /// Returns the description of a new task, for its shim.
    pub fn task_spec(
        &self,
        command: &str,
        cwd: &str,
        sanitize: Option<SanitizeRules>,
        limit: Option<Duration>,
    ) -> TaskSpec {
        TaskSpec {
            id: new_id(),
            folder: self.store.path().to_owned(),
            command: command.to_owned(),
            cwd: cwd.to_owned(),
            max_log_bytes: self.options.max_log_bytes,
            sanitize,
            detached: self.options.dir.is_some(),
            limit_ms: millis(limit.unwrap_or(TASK_LIMIT)),
            idle_ms: None,
            confinement: None,
            draft: None,
            joins: false,
        }
    }

    /// Returns the files of the directory.
    pub fn store(&self) -> &TaskStore {
        &self.store
    }

    /// Returns all tasks, the oldest first.
    ///
    /// # Errors
    /// [`RegistryError::Closed`]
    pub fn list(&self) -> Result<Vec<Task>, RegistryError> {
        let inner = self.read_whole_directory(self.open_inner()?);
        let mut tasks: Vec<Task> = inner.entries.values().map(|entry| entry.task.clone()).collect();
        tasks.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        Ok(tasks)
    }

    /// Reads the whole directory, after its first sweep.
    fn read_whole_directory<'r>(
        &'r self,
        inner: MutexGuard<'r, TaskRegistryState>,
    ) -> MutexGuard<'r, TaskRegistryState> {
        let is_swept = inner.swept.is_some() || self.options.dir.is_none();
        drop(inner);
        if is_swept {
            self.read_all();
        } else {
            self.sweep();
        }
        let mut inner = self.lock_state();
        self.scan(&mut inner);
        inner
    }

    /// Returns problems with files of the directory, and tasks that run elsewhere.
    pub fn notes(&self) -> Vec<String> {
        let mut inner = self.lock_state();
        if !inner.closed {
            inner = self.read_whole_directory(inner);
        }
        let mut notes = inner.notes.clone();
        let mut tasks: Vec<&Task> = inner.entries.values().map(|entry| &entry.task).collect();
        tasks.sort_by(|a, b| a.id.cmp(&b.id));
        for task in tasks {
            notes.extend(task.notes.iter().map(|note| format!("task {}: {note}", task.id)));
            if task.is_running() && task.is_elsewhere() {
                notes.push(format!("task {}: {}", task.id, elsewhere_note(task)));
            }
        }
        notes
    }

    /// Finds a task by its id or its pid. If several have the pid, a task of this machine comes first, then the running
    /// task, then the task started last. Ended tasks that this process has not seen count if no other has the pid. No
    /// sweep of this registry removes its files for as long as the guard lives.
    ///
    /// # Errors
    /// [`RegistryError::UnknownTask`], [`RegistryError::Closed`]
    pub(super) fn find(&self, named: &str) -> Result<(Task, TaskReadGuard), RegistryError> {
        let mut inner = self.open_inner()?;
        let mut found = inner.find(named).filter(Task::is_running);
        if found.is_none() {
            self.scan(&mut inner);
            if is_id(named) {
                self.read_task(&mut inner, named);
            }
            found = self.find_known(&mut inner, named);
        }
        if found.is_none() && !is_id(named) {
            drop(inner);
            self.read_all();
            inner = self.open_inner()?;
            found = inner.find(named);
        }
        let unknown = || RegistryError::UnknownTask { task: named.to_owned(), directory: self.store.path().to_owned() };
        let task = found.ok_or_else(unknown)?;
        inner.reading.entry(task.id.clone()).or_default().count += 1;
        Ok((task.clone(), TaskReadGuard(self.this.clone(), task.id)))
    }

    /// Finds a task among those that are known, if its files are still there.
    fn find_known(&self, inner: &mut TaskRegistryState, named: &str) -> Option<Task> {
        loop {
            let task = inner.find(named)?;
            self.read_task(inner, &task.id);
            if inner.entries.contains_key(&task.id) {
                return inner.find(named);
            }
        }
    }

    /// Sweeps the directory if a task may have become old enough since the last time, or now and then for what starts
    /// left.
    pub(super) fn sweep_when_due(&self) {
        let swept = self.lock_state().swept;
        if swept.is_none_or(|swept| swept.at.elapsed() >= SWEEP_EVERY || now_ms() >= swept.due) {
            self.sweep_soon();
        }
    }

    /// Removes ended tasks that are older than the retention, except those that are being read, and files of starts
    /// that never completed. Blocks.
    pub fn sweep(&self) {
        let (at, now) = (Instant::now(), now_ms());
        self.read_all();
        let mut inner = self.lock_state();
        // A task that ends from here on is not old before this.
        let mut due = now.saturating_add(millis(self.options.retention));
        let mut removed = Vec::new();
        let TaskRegistryState { entries, reading, .. } = &mut *inner;
        entries.retain(|id, entry| {
            let Some(until) = entry.task.kept_until(self.options.retention) else { return true };
            if until >= now {
                due = due.min(until);
            } else if let Some(readers) = reading.get_mut(id) {
                readers.spared = true;
            } else {
                removed.push(entry.task.clone());
                return false;
            }
            true
        });
        // A call that begins now finds a task with its files, or neither.
        removed.iter().for_each(|task| self.store.remove(&task.id));
        inner.swept = Some(DirectorySweep { at, due });
        drop(inner);
        forget_records(&removed);
        self.store.remove_unstarted();
    }

    /// Terminates tasks that do not outlive the host, and releases the others. No-op when called again.
    pub async fn close(&self) {
        let tasks: Vec<Task> = {
            let mut inner = self.lock_state();
            if std::mem::replace(&mut inner.closed, true) {
                return;
            }
            inner.running().map(|(_, entry)| entry.task.clone()).collect()
        };
        if self.options.dir.is_none() {
            let ends = tasks.into_iter().filter_map(|task| {
                let registry = self.this.upgrade()?;
                Some(self.runtime().spawn(async move { registry.terminate_and_wait(&task.id).await }))
            });
            for end in ends.collect::<Vec<_>>() {
                let _ = end.await;
            }
            self.wait_until_emitted().await;
        }
        self.close_without_waiting();
    }

    /// Like [`Self::close`] without waiting, when the caller's thread ends: shims notice the end of their host
    /// themselves.
    pub fn close_without_waiting(&self) {
        let mut inner = self.lock_state();
        inner.closed = true;
        inner.watch = TaskWatch::default();
        inner.stop_emitting();
        let ended: Vec<Task> =
            inner.entries.drain().map(|(_, entry)| entry.task).filter(|task| !task.is_running()).collect();
        drop(inner);
        if self.options.dir.is_none() {
            ended.iter().for_each(|task| self.store.remove(&task.id));
            forget_records(&ended);
            self.store.remove_if_empty();
            // Tasks that are just ending remove their files themselves, and the last of them removes the directory.
            if !self.store.path().exists() {
                self.helpers.remove_no_more(self.store.path());
            }
        }
    }
}

/// Returns the note on a task that runs elsewhere.
fn elsewhere_note(task: &Task) -> String {
    let place = host_in_brackets(task.machine.host_name.as_deref());
    format!(
        "it runs elsewhere, on another machine or in another container{place}; only its files can be read from here"
    )
}

impl TaskRegistryState {
    /// Returns the tasks that run, as far as this process knows.
    pub fn running(&self) -> impl Iterator<Item = (&String, &RegisteredTask)> {
        let known = self.running.iter().filter_map(|id| self.entries.get_key_value(id));
        known.filter(|(_, entry)| entry.task.is_running())
    }

    /// Returns the stamp of the state file that was read of a task.
    pub fn known_stamp(&self, id: &str) -> Option<StateFileStamp> {
        let known = self.entries.get(id).and_then(|entry| entry.stamp);
        known.or_else(|| self.damaged.get(id).copied())
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    fn find(&self, named: &str) -> Option<Task> {
        if let Some(entry) = self.entries.get(named) {
            return Some(entry.task.clone());
        }
        let pid: i32 = named.parse().ok().filter(|pid| *pid > 0)?;
        let is_here = |task: &&Task| task.pid == pid && !task.is_elsewhere();
        let here = self.running().map(|(_, entry)| &entry.task).filter(is_here).max_by_key(|task| task.started_at);
        if let Some(task) = here {
            return Some(task.clone());
        }
        let with_pid = self.entries.values().map(|entry| &entry.task).filter(|task| task.pid == pid);
        with_pid.max_by_key(|task| (!task.is_elsewhere(), task.is_running(), task.started_at)).cloned()
    }

    pub fn add_note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
