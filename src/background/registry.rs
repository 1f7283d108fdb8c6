//! The tasks of one folder, as a host sees them: those that it started, and those of other processes.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::store::{Stamp, Store};
use super::task::{Order, Task};
use crate::background::new_id;
use crate::capture::Sanitize;
use crate::error::Error;
use crate::supervise::{HelperError, Helpers, Speaker};

/// The time limit of a task that has none of its own, from its start.
pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A start is content with a look at the folder that is no older.
const RECENT: Duration = Duration::from_millis(50);

/// How a registry is made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where tasks outlive the host; `None`: in a folder below `temp`, and they do not.
    pub dir: Option<PathBuf>,
    /// The folder for temporary files.
    pub temp: PathBuf,
    /// The most tasks that may run.
    pub max_tasks: usize,
    /// The most a log may hold, bytes.
    pub max_log_bytes: u64,
    /// For how long an ended task is kept.
    pub retention: Duration,
}

/// Who hears of a registry's tasks.
pub trait Watcher: Send + Sync {
    /// A task has ended.
    fn exit(&self, task: Task);
    /// A task has written; [`Registry::took`] asks for more.
    fn output(&self, task: Task, text: String);
}

/// The tasks of one folder.
pub struct Registry {
    pub(super) store: Store,
    pub(super) settings: Settings,
    pub(super) helpers: &'static Helpers,
    pub(super) this: Weak<Registry>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
pub(super) struct Inner {
    pub entries: HashMap<String, Entry>,
    /// Tasks that are being started; their files may be there already.
    starting: HashSet<String>,
    notes: Vec<String>,
    pub damaged: HashMap<String, Stamp>,
    pub seen: Option<Stamp>,
    /// When the folder was looked at last.
    pub looked: Option<Instant>,
    closed: bool,
    pub watch: Watch,
}

/// What somebody wants to hear.
#[derive(Default)]
pub(super) struct Watch {
    pub watcher: Option<Arc<dyn Watcher>>,
    pub exit: bool,
    pub output: bool,
}

/// One task, as far as this process knows it.
pub(super) struct Entry {
    pub task: Task,
    pub stamp: Option<Stamp>,
    /// The shared cursor: up to where its output was read.
    pub cursor: u64,
    /// To its shim, while there is a link.
    pub link: Option<Linked>,
    pub progress: watch::Sender<Progress>,
    /// Its output is being told to the watcher, which hears of its end after that.
    pub told: Option<Arc<tokio::sync::Notify>>,
    /// The watcher has heard of its end.
    pub exit_told: bool,
}

/// A link that is listened to, for as long as this lives.
pub(super) struct Linked {
    pub speaker: Speaker,
    pub listener: tokio::task::AbortHandle,
}

impl Drop for Linked {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// What is heard of a running task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Bytes of output in its log.
    pub bytes: u64,
    /// Unfinished lines that are not in it.
    pub pending: Vec<String>,
    /// It has ended.
    pub ended: bool,
    /// Counts up with each piece of news.
    pub news: u64,
}

/// A place among the running tasks.
pub struct Place(Weak<Registry>, String);

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(registry) = self.0.upgrade() {
            registry.inner().starting.remove(&self.1);
        }
    }
}

impl Registry {
    /// Opens a folder, and sweeps it.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn open(settings: Settings) -> Result<Arc<Self>, Error> {
        let helpers = Helpers::shared().map_err(|error: HelperError| Error::helper(&error, ""))?;
        let store = match &settings.dir {
            Some(dir) => Store::open(dir)?,
            None => {
                let store = Store::temporary(&settings.temp)?;
                helpers.remove_at_end(store.path());
                store
            }
        };
        let registry =
            Arc::new_cyclic(|this| Self { store, settings, helpers, this: this.clone(), inner: Mutex::default() });
        if registry.settings.dir.is_some() {
            registry.look(&mut registry.inner());
            registry.sweep();
        }
        Ok(registry)
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where its work is driven.
    pub fn runtime(&self) -> &'static tokio::runtime::Handle {
        self.helpers.runtime()
    }

    pub(super) fn open_inner(&self) -> Result<MutexGuard<'_, Inner>, Error> {
        let inner = self.inner();
        if inner.closed { Err(Error::Closed) } else { Ok(inner) }
    }

    /// A place for one more task, until it is there itself.
    ///
    /// # Errors
    /// [`Error::TooManyTasks`], [`Error::Closed`], [`Error::Store`]
    pub fn reserve(&self, id: &str) -> Result<Place, Error> {
        let mut inner = self.open_inner()?;
        self.store.renew()?;
        // Of what other processes start at this very moment nobody knows anyway.
        if inner.looked.is_none_or(|looked| looked.elapsed() >= RECENT) {
            self.look(&mut inner);
        }
        let Inner { entries, starting, .. } = &*inner;
        let running = entries.values().map(|entry| &entry.task).filter(|task| task.is_running());
        let running = running.filter(|task| !starting.contains(&task.id)).count();
        if running + starting.len() >= self.settings.max_tasks {
            return Err(Error::TooManyTasks(self.settings.max_tasks));
        }
        inner.starting.insert(id.to_owned());
        Ok(Place(self.this.clone(), id.to_owned()))
    }

    /// What a shim is told of a new task.
    pub fn order(&self, command: &str, cwd: &str, sanitize: Option<Sanitize>, limit: Option<Duration>) -> Order {
        Order {
            id: new_id(),
            folder: self.store.path().to_owned(),
            command: command.to_owned(),
            cwd: cwd.to_owned(),
            max_log_bytes: self.settings.max_log_bytes,
            sanitize,
            detached: self.settings.dir.is_some(),
            limit_ms: u64::try_from(limit.unwrap_or(DAY).as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// The folder's files.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// All tasks, the oldest first.
    ///
    /// # Errors
    /// [`Error::Closed`]
    pub fn list(&self) -> Result<Vec<Task>, Error> {
        let mut inner = self.open_inner()?;
        self.look(&mut inner);
        let mut tasks: Vec<Task> = inner.entries.values().map(|entry| entry.task.clone()).collect();
        tasks.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        Ok(tasks)
    }

    /// What went wrong with files of the folder.
    pub fn notes(&self) -> Vec<String> {
        let mut inner = self.inner();
        if !inner.closed {
            self.look(&mut inner);
        }
        let mut notes = inner.notes.clone();
        let mut tasks: Vec<&Task> = inner.entries.values().map(|entry| &entry.task).collect();
        tasks.sort_by(|a, b| a.id.cmp(&b.id));
        notes.extend(tasks.iter().flat_map(|task| task.notes.iter().map(|note| format!("task {}: {note}", task.id))));
        notes
    }

    /// A task by its id, or by its pid: the one that runs, else the one that was started last.
    ///
    /// # Errors
    /// [`Error::UnknownTask`], [`Error::Closed`]
    pub fn find(&self, named: &str) -> Result<Task, Error> {
        let mut inner = self.open_inner()?;
        let found = |inner: &Inner| {
            if let Some(entry) = inner.entries.get(named) {
                return Some(entry.task.clone());
            }
            let pid: i32 = named.parse().ok().filter(|pid| *pid > 0)?;
            let with_pid = inner.entries.values().map(|entry| &entry.task).filter(|task| task.pid == pid);
            with_pid.max_by_key(|task| (task.is_running(), task.started_at)).cloned()
        };
        if let Some(task) = found(&inner).filter(Task::is_running) {
            return Ok(task);
        }
        self.look(&mut inner);
        found(&inner).ok_or_else(|| Error::UnknownTask { task: named.to_owned(), folder: self.store.path().to_owned() })
    }

    /// Takes ended tasks away that are older than they may be.
    pub fn sweep(&self) {
        let ended: Vec<Task> = {
            let mut inner = self.inner();
            self.look(&mut inner);
            inner.entries.values().map(|entry| entry.task.clone()).filter(|task| !task.is_running()).collect()
        };
        self.store.sweep(ended.into_iter(), self.settings.retention);
    }

    /// Ends tasks that do not outlive the host, lets go of the others. A second call does nothing.
    pub async fn close(&self) {
        let tasks: Vec<Task> = {
            let mut inner = self.inner();
            if std::mem::replace(&mut inner.closed, true) {
                return;
            }
            inner.entries.values().map(|entry| entry.task.clone()).filter(Task::is_running).collect()
        };
        if self.settings.dir.is_none() {
            let ends = tasks.into_iter().filter_map(|task| {
                let registry = self.this.upgrade()?;
                Some(self.runtime().spawn(async move { registry.end(&task.id).await }))
            });
            for end in ends.collect::<Vec<_>>() {
                let _ = end.await;
            }
            self.until_told().await;
        }
        self.shut();
    }

    /// The same without waiting, when its thread ends: shims see for themselves that nobody wants their tasks.
    pub fn shut(&self) {
        let mut inner = self.inner();
        inner.closed = true;
        inner.watch = Watch::default();
        inner.stop_telling();
        let ended: Vec<String> =
            inner.entries.drain().filter(|(_, entry)| !entry.task.is_running()).map(|(id, _)| id).collect();
        drop(inner);
        if self.settings.dir.is_none() {
            ended.iter().for_each(|id| self.store.remove(id));
            self.store.remove_if_empty();
            // Tasks that are just ending take their files away themselves, and the last of them the folder.
            if !self.store.path().exists() {
                self.helpers.remove_no_more(self.store.path());
            }
        }
    }
}

impl Inner {
    /// Lets those go who wait for the watcher.
    pub fn stop_telling(&mut self) {
        self.entries.values_mut().filter_map(|entry| entry.told.take()).for_each(|told| told.notify_one());
    }

    /// Tells the watcher once that a task has ended.
    pub fn tell_exit(&mut self, id: &str) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        if let Some(watcher) = self.watch.watcher.as_ref().filter(|_| self.watch.exit)
            && !std::mem::replace(&mut entry.exit_told, true)
        {
            watcher.exit(entry.task.clone());
        }
    }

    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
