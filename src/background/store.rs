//! The folder of a registry: for each task a state file, a log, and the socket by which its shim is reached.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::log::{Log, end_of};
use super::task::{End, Task, VERSION, now_ms};
use crate::capture;
use crate::sys;

const STATE: &str = "json";
const LOG: &str = "log";
const SOCKET: &str = "sock";
/// Taken by whoever settles what a killed shim left undone.
const LOCK: &str = "lock";
/// Begins the name of a folder for tasks that end with their host; its pid follows.
const TEMPORARY: &str = "tasks-";
/// A log without a state file may belong to a task that is just being started.
const STARTING: Duration = Duration::from_secs(60);
/// A state file of ours is far smaller; what is larger is no state file.
const MAX_STATE: u64 = 128 * 1024 * 1024;

/// What is wrong with a registry's folder or a file in it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be made or used.
    #[error("{}: {source}", path.display())]
    Folder {
        #[expect(missing_docs, reason = "the folder")]
        path: PathBuf,
        #[expect(missing_docs, reason = "what the system said")]
        source: io::Error,
    },
    /// It is a link, or somebody else's.
    #[error(transparent)]
    Unsafe(#[from] capture::SpillError),
    /// A state file cannot be read.
    #[error("the state file {} cannot be read ({reason}); its task is left out", path.display())]
    Damaged {
        #[expect(missing_docs, reason = "the file")]
        path: PathBuf,
        #[expect(missing_docs, reason = "what is wrong with it")]
        reason: String,
    },
}

/// A registry's folder. Cheap to clone; nothing stays open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    path: PathBuf,
}

/// Tells one version of a state file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64, u64, i64);

impl Store {
    /// The folder of ours below `dir`; both are made with 0700 if they are missing.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Folder { path: dir.to_owned(), source };
        let dir = std::path::absolute(dir).map_err(failed)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(failed)?;
        let path = dir.join("tasks");
        capture::open_private(&path)?;
        Ok(Self { path })
    }

    /// A folder below the one for temporary files, for tasks that end with their host.
    pub fn temporary(temp: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Folder { path: temp.to_owned(), source };
        let parent = capture::private_parent(temp)?;
        sweep_temporary(&parent);
        let path = parent.join(format!("{TEMPORARY}{}-{}", sys::process_mark(), new_id()));
        DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        Ok(Self { path })
    }

    /// Makes the folder again should a cleaner of temporary files have taken it away.
    pub fn renew(&self) -> Result<(), StoreError> {
        if self.path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = self.path.parent() {
            let failed = |source| StoreError::Folder { path: parent.to_owned(), source };
            DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
        }
        capture::open_private(&self.path)?;
        Ok(())
    }

    /// One that is there already, as a task's order names it.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    #[expect(missing_docs, reason = "its path")]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Of the log, absolute.
    pub fn log_path(&self, id: &str) -> PathBuf {
        self.file(id, LOG)
    }

    /// Of the socket on which a task's shim answers.
    pub fn socket_path(&self, id: &str) -> PathBuf {
        self.file(id, SOCKET)
    }

    fn file(&self, id: &str, kind: &str) -> PathBuf {
        self.path.join(format!("{id}.{kind}"))
    }

    /// A new log, 0600, never one that was there.
    pub fn create_log(&self, id: &str) -> io::Result<File> {
        File::options().read(true).append(true).create_new(true).mode(0o600).open(self.log_path(id))
    }

    /// A log that is there, to go on writing it.
    pub fn append_log(&self, id: &str) -> io::Result<File> {
        File::options().read(true).append(true).custom_flags(libc::O_NOFOLLOW).open(self.log_path(id))
    }

    /// A log to be read.
    pub fn open_log(&self, id: &str) -> io::Result<File> {
        File::options().read(true).custom_flags(libc::O_NOFOLLOW).open(self.log_path(id))
    }

    /// Writes a task's state whole or not at all.
    pub fn write(&self, task: &Task) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let next = self.path.join(format!(".{}.{}.{count}", task.id, std::process::id()));
        let written = File::options().write(true).create_new(true).mode(0o600).open(&next).and_then(|mut file| {
            file.write_all(&serde_json::to_vec(task)?)?;
            fs::rename(&next, self.file(&task.id, STATE))
        });
        if written.is_err() {
            let _ = fs::remove_file(&next);
        }
        written
    }

    /// A task's state; `None` when it was swept.
    ///
    /// # Errors
    /// [`StoreError::Damaged`]
    pub fn read(&self, id: &str) -> Result<Option<Task>, StoreError> {
        let path = self.file(id, STATE);
        let damaged = |reason: String| StoreError::Damaged { path: path.clone(), reason };
        let file = match File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(damaged(error.to_string())),
        };
        let mut bytes = Vec::new();
        file.take(MAX_STATE).read_to_end(&mut bytes).map_err(|error| damaged(error.to_string()))?;
        let task: Task = match serde_json::from_slice(&bytes) {
            Ok(task) => task,
            Err(error) => {
                let version = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
                let version = version.and_then(|value| value.get("version")?.as_u64());
                return Err(damaged(match version {
                    Some(other) if other != u64::from(VERSION) => format!("version {other} is not known"),
                    _ => error.to_string(),
                }));
            }
        };
        if task.version != VERSION {
            return Err(damaged(format!("version {} is not known", task.version)));
        }
        if task.id != id {
            return Err(damaged(format!("it is about task {}", task.id)));
        }
        Ok(Some(task))
    }

    /// The ids of all tasks, with the stamp of each state file.
    pub fn ids(&self) -> io::Result<HashMap<String, Stamp>> {
        let mut ids = HashMap::new();
        for entry in fs::read_dir(&self.path)?.flatten() {
            // By its log as well: a state file that is just being replaced may be missing from the listing.
            let Some(id) = id_of(&entry.path(), STATE).or_else(|| id_of(&entry.path(), LOG)) else { continue };
            if !ids.contains_key(&id)
                && let Ok(meta) = fs::symlink_metadata(self.file(&id, STATE))
            {
                ids.insert(id, stamp(&meta));
            }
        }
        Ok(ids)
    }

    /// Changes whenever a file comes, goes or is replaced; `None` when it may just be changing.
    pub fn stamp(&self) -> Option<Stamp> {
        /// The clock of file times may tick this seldom.
        const TICK: Duration = Duration::from_millis(20);
        let meta = fs::metadata(&self.path).ok()?;
        let settled = meta.modified().ok()?.elapsed().is_ok_and(|age| age > TICK);
        settled.then(|| stamp(&meta))
    }

    /// Whether somebody keeps a task: its shim holds the log's lock for as long as it lives.
    pub fn is_kept(&self, id: &str) -> bool {
        self.open_log(id).is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
    }

    /// Brings a task that nobody keeps to its end: one that still counts as running was lost, and one whose shim was
    /// killed before its last word lacks the closing line. Any process may do this; it happens once.
    pub fn settle(&self, id: &str) -> Result<Option<Task>, StoreError> {
        let failed = |source| StoreError::Folder { path: self.path.clone(), source };
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.path.join(LOCK))
            .map_err(failed)?;
        lock.lock().map_err(failed)?;
        let Some(mut task) = self.read(id)? else { return Ok(None) };
        let Ok(file) = self.append_log(id) else {
            if task.is_running() {
                task.notes.push("its log is gone".into());
                task.end(End::Lost(task.loss()), 0);
                self.write(&task).map_err(failed)?;
            }
            return Ok(Some(task));
        };
        // Somebody keeps it after all.
        let Ok(log) = Log::keep(file, u64::MAX) else { return Ok(Some(task)) };
        if task.is_running() {
            task.end(End::Lost(task.loss()), log.written());
            self.write(&task).map_err(failed)?;
        }
        if task.output_bytes == Some(log.written()) {
            log.close(&task);
        }
        let _ = fs::remove_file(self.socket_path(id));
        Ok(Some(task))
    }

    /// The same for a task that has ended, if its log lacks the closing line.
    pub fn settle_unclosed(&self, id: &str) -> Result<(), StoreError> {
        let Ok(Some(task)) = self.read(id) else { return Ok(()) };
        let length = self.open_log(id).and_then(|file| file.metadata()).map(|meta| meta.len());
        if length.ok() == task.output_bytes { self.settle(id).map(|_| ()) } else { Ok(()) }
    }

    /// Takes a task's files away.
    pub fn remove(&self, id: &str) {
        for kind in [STATE, LOG, SOCKET] {
            let _ = fs::remove_file(self.file(id, kind));
        }
    }

    /// Takes away what ended longer than `retention` ago, and what a start that never came to its end has left.
    pub fn sweep(&self, ended: impl Iterator<Item = Task>, retention: Duration) {
        let retention = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
        let now = now_ms();
        for task in ended.filter(|task| task.ended_at.is_some_and(|at| now.saturating_sub(at) > retention)) {
            self.remove(&task.id);
        }
        let Ok(files) = fs::read_dir(&self.path) else { return };
        for path in files.flatten().map(|entry| entry.path()) {
            let Some(id) = id_of(&path, LOG).or_else(|| unfinished(&path)) else { continue };
            let old = fs::symlink_metadata(&path).is_ok_and(|meta| {
                let age = SystemTime::now().duration_since(meta.modified().unwrap_or(SystemTime::now()));
                meta.is_file() && age.is_ok_and(|age| age > STARTING)
            });
            if old && !self.file(&id, STATE).exists() && !self.is_kept(&id) {
                let _ = fs::remove_file(&path);
            }
        }
    }

    /// Takes the folder away if nothing of a task is in it.
    pub fn remove_if_empty(&self) {
        let _ = fs::remove_file(self.path.join(LOCK));
        let _ = fs::remove_dir(&self.path);
    }

    /// A task's log, up to where there is output now, and its state at that time.
    ///
    /// # Errors
    /// [`StoreError::Damaged`], [`StoreError::Folder`]
    pub fn readable(&self, id: &str) -> Result<Option<(Task, File, u64)>, StoreError> {
        let failed = |source| StoreError::Folder { path: self.log_path(id), source };
        let file = match self.open_log(id) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.read(id)?.is_none() => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // First the length: an end is written down before the closing line is.
        let length = file.metadata().map_err(failed)?.len();
        let Some(task) = self.read(id)? else { return Ok(None) };
        let end = end_of(&file, task.output_bytes.map_or(length, |bytes| bytes.min(length))).map_err(failed)?;
        Ok(Some((task, file, end)))
    }

    /// Makes the socket's file as private as its folder.
    pub fn protect(&self, id: &str) {
        let _ = fs::set_permissions(self.socket_path(id), Permissions::from_mode(0o600));
    }
}

/// Takes away what a host has left that was killed together with its helpers.
fn sweep_temporary(parent: &Path) {
    let Ok(folders) = fs::read_dir(parent) else { return };
    for folder in folders.flatten() {
        let name = folder.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY)?.split('-').next()?.parse().ok());
        if pid.is_some_and(|pid| sys::identity(nix::unistd::Pid::from_raw(pid)).is_none()) {
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

fn stamp(meta: &fs::Metadata) -> Stamp {
    Stamp(meta.ino(), meta.len(), meta.mtime() * 1_000_000_000 + meta.mtime_nsec())
}

fn id_of(path: &Path, kind: &str) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(kind)?.strip_suffix('.')?;
    is_id(name).then(|| name.to_owned())
}

/// The task of a state file that was not put in its place.
fn unfinished(path: &Path) -> Option<String> {
    let id = path.file_name()?.to_str()?.strip_prefix('.')?.split('.').next()?;
    is_id(id).then(|| id.to_owned())
}

fn is_id(name: &str) -> bool {
    name.strip_prefix('t').is_some_and(|rest| rest.len() == 12 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// An id that no other task has.
pub fn new_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    // Shims are forked with the same seed; their pids tell them apart.
    let random = RandomState::new().hash_one((std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed), now));
    format!("t{:012x}", random & 0xffff_ffff_ffff)
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
