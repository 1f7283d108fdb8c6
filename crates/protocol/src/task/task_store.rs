//! A registry's directory. Each task has a state file, a log, and the socket of its shim. A task that runs has a mark
//! in a directory below, so that what runs is found without a look at all that has ended.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::owned_directories;
use super::task::{Task, TaskEnd, VERSION};
use super::task_log::{TaskLog, readable_end};

const STATE: &str = "json";
const LOG: &str = "log";
const SOCKET: &str = "sock";
/// The changes that a task's command made, as its host has reported them.
pub(super) const RECORD: &str = "record";
/// The directory of marks. A mark is an empty file with the id of a task that runs, or did when its shim was killed.
const RUNNING: &str = "running";
/// How often a mark is tried while other processes replace its directory.
const MARK_ATTEMPTS: usize = 32;
/// The lock of the process that settles the tasks of killed shims.
const LOCK: &str = "lock";
/// The prefix of a directory for tasks that end with their host. The host's pid follows, and its pid namespace.
const TEMPORARY: &str = "tasks-";
/// A log without a state file may belong to a task that is starting, up to this age.
const STARTING: Duration = Duration::from_secs(60);
/// Size limit of a state file. A larger file is not ours.
pub(super) const MAX_STATE: u64 = 128 * 1024 * 1024;

/// A fault of a registry's directory or of a file in it.
#[derive(Debug, thiserror::Error)]
pub enum TaskStoreError {
    /// The directory cannot be created or used.
    #[error("{} cannot be used: {source}", path.display())]
    Folder {
        #[expect(missing_docs, reason = "the folder")]
        path: PathBuf,
        #[expect(missing_docs, reason = "what the system said")]
        source: io::Error,
    },
    /// The directory is a link, or belongs to another user.
    #[error(transparent)]
    Unsafe(#[from] capture::SpillError),
    /// A state file cannot be read.
    #[error("the state file {} cannot be read ({source}); its task is left out", path.display())]
    Damaged {
        #[expect(missing_docs, reason = "the file")]
        path: PathBuf,
        #[expect(missing_docs, reason = "what is wrong with it")]
        source: TaskStateError,
    },
}

/// A fault of a state file.
#[derive(Debug, thiserror::Error)]
pub enum TaskStateError {
    /// The system cannot read the file.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// The file holds no state.
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
    /// Another version of agent-bash has written the file.
    #[error("version {0} is not known")]
    Version(u64),
    /// The file holds the state of another task.
    #[error("it is about task {0}")]
    OtherTask(String),
}

/// A registry's directory. Cheap to clone, and holds nothing open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStore {
    path: PathBuf,
}

/// The log of a task that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedLog {
    /// A shim still holds its lock, and will write the closing line.
    Kept,
    /// The closing line is missing.
    Unclosed,
    /// The closing line is there, or the log is gone.
    Closed,
}

/// Distinguishes one version of a state file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateFileStamp(u64, u64, i64);

impl TaskStore {
    /// Opens our directory below `dir`. Both are created with mode 0700 if missing.
    pub fn open(dir: &Path) -> Result<Self, TaskStoreError> {
        let failed = |source| TaskStoreError::Folder { path: dir.to_owned(), source };
        let dir = std::path::absolute(dir).map_err(failed)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(failed)?;
        let path = dir.join("tasks");
        capture::open_private(&path)?;
        let store = Self { path };
        if !store.path.join(RUNNING).is_dir() {
            // A directory of ours is known by these, and protected from commands that are confined. Where they cannot
            // be made, neither can a task.
            let _ = store.begin_marks().and_then(|()| store.open_lock());
        }
        Ok(store)
    }

    /// Opens the lock of the process that settles tasks.
    fn open_lock(&self) -> io::Result<File> {
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        sys::open_regular(&self.path.join(LOCK), &mut options)
    }

    /// Creates a directory below the temporary one, for tasks that end with their host.
    pub fn temporary(temp: &Path) -> Result<Self, TaskStoreError> {
        let failed = |source| TaskStoreError::Folder { path: temp.to_owned(), source };
        let parent = capture::private_parent(temp)?;
        owned_directories::remove_abandoned(&parent, TEMPORARY);
        // No number is used twice, because processes of a closed registry may still remove its directory.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("{TEMPORARY}{}", owned_directories::own_process_name());
        loop {
            let path = parent.join(format!("{name}-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self { path }).map_err(failed),
            }
        }
    }

    /// Creates the directory again if a cleaner of temporary files has removed it.
    pub fn renew(&self) -> Result<(), TaskStoreError> {
        if self.path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = self.path.parent() {
            let failed = |source| TaskStoreError::Folder { path: parent.to_owned(), source };
            DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
        }
        capture::open_private(&self.path)?;
        Ok(())
    }

    /// Returns the existing directory that a task's order names.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    #[expect(missing_docs, reason = "its path")]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a log, absolute.
    pub fn log_path(&self, id: &str) -> PathBuf {
        self.file_path(id, LOG)
    }

    /// Returns the path of the socket on which a task's shim answers.
    pub fn socket_path(&self, id: &str) -> PathBuf {
        self.file_path(id, SOCKET)
    }

    pub(super) fn file_path(&self, id: &str, kind: &str) -> PathBuf {
        self.path.join(format!("{id}.{kind}"))
    }

    /// Creates a new log with mode 0600. Never opens an existing file.
    pub fn create_log(&self, id: &str) -> io::Result<File> {
        File::options().read(true).append(true).create_new(true).mode(0o600).open(self.log_path(id))
    }

    /// Opens an existing log to continue it.
    pub fn append_log(&self, id: &str) -> io::Result<File> {
        sys::open_regular(&self.log_path(id), File::options().read(true).append(true))
    }

    /// Opens a log for reading.
    pub fn open_log(&self, id: &str) -> io::Result<File> {
        sys::open_regular(&self.log_path(id), File::options().read(true))
    }

    /// Replaces a task's state file atomically. The mark of a task that runs is there before the file says so.
    pub fn write(&self, task: &Task) -> io::Result<()> {
        if task.is_running() {
            self.mark_running(&task.id)?;
            return self.replace(&task.id, STATE, task);
        }
        self.replace(&task.id, STATE, task)?;
        self.unmark(&task.id);
        Ok(())
    }

    fn mark_running(&self, id: &str) -> io::Result<()> {
        let mark = || match File::options().write(true).create_new(true).mode(0o600).open(self.mark_path(id)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        };
        // Processes that begin at the same time put their empty directories in each other's place.
        for _ in 0..MARK_ATTEMPTS {
            match mark() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.begin_marks()?,
                marked => return marked,
            }
        }
        mark()
    }

    fn mark_path(&self, id: &str) -> PathBuf {
        self.path.join(RUNNING).join(id)
    }

    /// Removes the mark of a task that does not run.
    pub fn unmark(&self, id: &str) {
        let _ = fs::remove_file(self.mark_path(id));
    }

    /// Creates the directory of marks. An earlier version had none, so the tasks that run get theirs.
    fn begin_marks(&self) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let next = self.path.join(format!(".{RUNNING}.{}.{count}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&next)?;
        let mut marked = Ok(());
        for id in self.running_without_marks()? {
            marked = marked.and(File::options().write(true).create_new(true).mode(0o600).open(next.join(id)).map(drop));
        }
        let placed = marked.and_then(|()| fs::rename(&next, self.path.join(RUNNING)));
        match placed {
            Ok(()) => Ok(()),
            Err(error) => {
                let _ = fs::remove_dir_all(&next);
                // Another process was faster.
                if self.path.join(RUNNING).is_dir() { Ok(()) } else { Err(error) }
            }
        }
    }

    pub(super) fn replace(&self, id: &str, kind: &str, value: &impl Serialize) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let next = self.path.join(format!(".{id}.{}.{count}", std::process::id()));
        let written = File::options().write(true).create_new(true).mode(0o600).open(&next).and_then(|mut file| {
            file.write_all(&serde_json::to_vec(value)?)?;
            fs::rename(&next, self.file_path(id, kind))
        });
        if written.is_err() {
            let _ = fs::remove_file(&next);
        }
        written
    }

    /// Returns a task's state, or `None` if it was swept.
    ///
    /// # Errors
    /// [`TaskStoreError::Damaged`]
    pub fn read(&self, id: &str) -> Result<Option<Task>, TaskStoreError> {
        work::count();
        let path = self.file_path(id, STATE);
        Self::read_state(id, &path).map_err(|source| TaskStoreError::Damaged { path, source })
    }

    fn read_state(id: &str, path: &Path) -> Result<Option<Task>, TaskStateError> {
        let file = match sys::open_regular(path, File::options().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut bytes = Vec::new();
        file.take(MAX_STATE).read_to_end(&mut bytes)?;
        let task: Task = match serde_json::from_slice(&bytes) {
            Ok(task) => task,
            Err(error) => {
                let version = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
                let version = version.and_then(|value| value.get("version")?.as_u64());
                return Err(match version {
                    Some(other) if other != u64::from(VERSION) => TaskStateError::Version(other),
                    _ => error.into(),
                });
            }
        };
        if task.version != VERSION {
            return Err(TaskStateError::Version(task.version.into()));
        }
        if task.id != id {
            return Err(TaskStateError::OtherTask(task.id));
        }
        Ok(Some(task))
    }

    /// Returns the ids of all tasks, and of starts that never completed.
    pub fn ids(&self) -> io::Result<HashSet<String>> {
        let mut ids = HashSet::new();
        for entry in fs::read_dir(&self.path)?.flatten() {
            work::count();
            // Logs count too: a state file that is being replaced may be missing from the listing.
            let name = entry.file_name();
            ids.extend(task_id_of_file(&name, STATE).or_else(|| task_id_of_file(&name, LOG)).map(str::to_owned));
        }
        Ok(ids)
    }

    /// Returns the ids of the tasks that run, and of tasks whose shims were killed before they took their marks away.
    pub fn running_ids(&self) -> io::Result<Vec<String>> {
        let listed = match fs::read_dir(self.path.join(RUNNING)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.running_without_marks(),
            listed => listed?,
        };
        let names =
            listed.flatten().inspect(|_| work::count()).filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| is_id(name)).collect())
    }

    /// Returns the ids of the tasks that run, by their state files: before the first start of a version with marks
    /// there are none. A reader makes none, since the directory may be about to be removed.
    fn running_without_marks(&self) -> io::Result<Vec<String>> {
        let is_running = |id: &String| self.read(id).is_ok_and(|task| task.is_some_and(|task| task.is_running()));
        Ok(self.ids()?.into_iter().filter(is_running).collect())
    }

    /// Returns the stamp of a task's state file. `None`: there is none.
    pub fn stamp_of(&self, id: &str) -> Option<StateFileStamp> {
        work::count();
        fs::symlink_metadata(self.file_path(id, STATE)).ok().map(|meta| stamp(&meta))
    }

    /// Returns the directories by which the worlds of running tasks are joined.
    pub fn joinable_worlds(&self) -> Vec<PathBuf> {
        let tasks = self.running_ids().unwrap_or_default().into_iter().filter_map(|id| self.read(&id).ok().flatten());
        let running = tasks.filter(|task| task.is_running() && !task.is_elsewhere() && self.has_shim(&task.id));
        running.filter_map(|task| task.world).collect()
    }

    /// Returns a stamp that changes whenever a file is added, removed or replaced, or `None` if the directory may be
    /// changing now.
    pub fn stamp(&self) -> Option<StateFileStamp> {
        /// The coarsest tick of the clock of file times.
        const TICK: Duration = Duration::from_millis(20);
        let meta = fs::metadata(&self.path).ok()?;
        let settled = meta.modified().ok()?.elapsed().is_ok_and(|age| age > TICK);
        settled.then(|| stamp(&meta))
    }

    /// Returns whether a task has a shim, which holds the log's lock for as long as it lives.
    pub fn has_shim(&self, id: &str) -> bool {
        work::count();
        self.open_log(id).is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
    }

    /// Settles a task without a shim. A task that still counts as running was lost. A task whose shim was killed before
    /// its last step lacks the closing line. Any process in the place of the task may do this, and it happens once. A
    /// task that runs elsewhere stays as it is: its shim may live, and its lock need not be seen from here.
    pub fn settle(&self, id: &str) -> Result<Option<Task>, TaskStoreError> {
        let failed = |source| TaskStoreError::Folder { path: self.path.clone(), source };
        let lock = self.open_lock().map_err(failed)?;
        lock.lock().map_err(failed)?;
        let Some(mut task) = self.read(id)? else { return Ok(None) };
        let Some(loss) = task.loss() else { return Ok(Some(task)) };
        let Ok(file) = self.append_log(id) else {
            if task.is_running() {
                task.notes.push("its log is gone".into());
                task.end(TaskEnd::Lost(loss), 0);
                self.write(&task).map_err(failed)?;
            }
            return Ok(Some(task));
        };
        // A shim has the task after all.
        let Ok(log) = TaskLog::lock_and_continue(file, u64::MAX) else { return Ok(Some(task)) };
        if task.is_running() {
            task.end(TaskEnd::Lost(loss), log.written());
            self.write(&task).map_err(failed)?;
        }
        if task.output_bytes == Some(log.written()) {
            log.close(&task);
        }
        let _ = fs::remove_file(self.socket_path(id));
        Ok(Some(task))
    }

    /// Returns the state of the log of a task that has ended.
    pub fn ended_log(&self, task: &Task) -> EndedLog {
        work::count();
        let Ok(log) = self.open_log(&task.id) else { return EndedLog::Closed };
        if matches!(log.try_lock_shared(), Err(fs::TryLockError::WouldBlock)) {
            return EndedLog::Kept;
        }
        let length = log.metadata().ok().map(|meta| meta.len());
        if length.is_some() && length == task.output_bytes { EndedLog::Unclosed } else { EndedLog::Closed }
    }

    /// Removes a task's files.
    pub fn remove(&self, id: &str) {
        for kind in [STATE, LOG, SOCKET, RECORD] {
            let _ = fs::remove_file(self.file_path(id, kind));
        }
        self.unmark(id);
    }

    /// Removes files of starts that never completed.
    pub fn remove_unstarted(&self) {
        let Ok(files) = fs::read_dir(&self.path) else { return };
        let (mut started, mut left) = (HashSet::new(), Vec::new());
        for name in files.flatten().map(|entry| entry.file_name()) {
            work::count();
            if let Some(id) = task_id_of_file(&name, STATE) {
                started.insert(id.to_owned());
            } else if let Some(id) = task_id_of_file(&name, LOG).or_else(|| task_id_of_unfinished(&name)) {
                left.push((id.to_owned(), self.path.join(&name)));
            }
        }
        let marks = self.running_ids().unwrap_or_default().into_iter().map(|id| (id.clone(), self.mark_path(&id)));
        for (id, path) in left.into_iter().chain(marks).filter(|(id, _)| !started.contains(id)) {
            let old = fs::symlink_metadata(&path).is_ok_and(|meta| {
                let age = SystemTime::now().duration_since(meta.modified().unwrap_or(SystemTime::now()));
                meta.is_file() && age.is_ok_and(|age| age > STARTING)
            });
            if old && !self.file_path(&id, STATE).exists() && !self.has_shim(&id) {
                let _ = fs::remove_file(&path);
            }
        }
    }

    /// Removes the directory if it holds no files of a task.
    pub fn remove_if_empty(&self) {
        let _ = fs::remove_file(self.path.join(LOCK));
        // Marks go with their tasks. While one is left, the directory is not empty.
        let _ = fs::remove_dir(self.path.join(RUNNING));
        let _ = fs::remove_dir(&self.path);
    }

    /// Returns a task's state, its log and the current end of its output.
    ///
    /// # Errors
    /// [`TaskStoreError::Damaged`], [`TaskStoreError::Folder`]
    pub fn read_with_log(&self, id: &str) -> Result<Option<(Task, File, u64)>, TaskStoreError> {
        let failed = |source| TaskStoreError::Folder { path: self.log_path(id), source };
        let file = match self.open_log(id) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.read(id)?.is_none() => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // The length is read first, because a task's end is recorded before the closing line is written.
        let length = file.metadata().map_err(failed)?.len();
        let Some(task) = self.read(id)? else { return Ok(None) };
        let end = readable_end(&file, task.output_bytes.map_or(length, |bytes| bytes.min(length))).map_err(failed)?;
        Ok(Some((task, file, end)))
    }

    /// Makes the socket's file as private as its directory.
    pub fn protect(&self, id: &str) {
        let _ = fs::set_permissions(self.socket_path(id), Permissions::from_mode(0o600));
    }
}

fn stamp(meta: &fs::Metadata) -> StateFileStamp {
    StateFileStamp(meta.ino(), meta.len(), meta.mtime() * 1_000_000_000 + meta.mtime_nsec())
}

/// Returns the task whose file of this kind has this name.
fn task_id_of_file<'n>(name: &'n OsStr, kind: &str) -> Option<&'n str> {
    name.to_str()?.strip_suffix(kind)?.strip_suffix('.').filter(|id| is_id(id))
}

/// Returns the task of a state file that was not renamed into place.
fn task_id_of_unfinished(name: &OsStr) -> Option<&str> {
    name.to_str()?.strip_prefix('.')?.split('.').next().filter(|id| is_id(id))
}

/// Counts files that are listed, looked at and opened by this thread, for tests of how the work grows.
pub mod work {
    #[cfg(any(test, debug_assertions))]
    thread_local! {
        static DONE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    /// Counts one file.
    pub(super) fn count() {
        #[cfg(any(test, debug_assertions))]
        DONE.with(|done| done.set(done.get() + 1));
    }

    /// Returns the number of files, and begins anew.
    #[cfg(any(test, debug_assertions))]
    pub fn take() -> usize {
        DONE.with(std::cell::Cell::take)
    }
}

/// Returns whether a text is the id of a task.
pub fn is_id(name: &str) -> bool {
    name.strip_prefix('t').is_some_and(|rest| rest.len() == 12 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns a new unique id of a task.
pub fn new_id() -> String {
    new_id_of('t')
}

/// Returns a new unique id that begins with a letter.
pub fn new_id_of(kind: char) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    // Shims are forked with the same seed, but their pids differ.
    let random = RandomState::new().hash_one((std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed), now));
    format!("{kind}{:012x}", random & 0xffff_ffff_ffff)
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
