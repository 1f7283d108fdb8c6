//! Makes room: removes old points, and the oldest points if all together take too much of the disk.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::point_index::{EvictionKey, IndexLine, PointIndex};
use super::{INDEX, KEPT, LOCK, PointSummary, UndoStore, UndoStoreError, remove_tree};
use crate::manifest::RETENTION;
use crate::path_state::FileTime;
use crate::run_images::{BLOCK, UndoLimits, cost_of, lacking_bytes};
use crate::undo_traces::UndoTraces;

/// Time between two stocktakings of a store, by any process.
const STOCKTAKING: Duration = Duration::from_secs(60);

/// Points that are evicted, and whose files are about to be removed. No other process evicts or undoes meanwhile.
#[derive(Debug, Default)]
#[must_use = "the files are still there"]
pub struct EvictedFiles {
    store: Option<(UndoStore, fs::File)>,
    /// The runs, oldest first.
    pub runs: Vec<String>,
    /// Whether the disk lacks the room.
    pub is_urgent: bool,
}

impl EvictedFiles {
    /// Removes the files. A point whose files stay, because this process is killed, is evicted again later.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub fn remove(self) -> Result<(), UndoStoreError> {
        let Some((store, _lock)) = self.store else { return Ok(()) };
        for run in &self.runs {
            match run.strip_prefix(KEPT_RUN) {
                Some(name) => remove_tree(store.path.join(KEPT).join(name))?,
                None => store.remove(run)?,
            }
        }
        Ok(())
    }
}

impl UndoStore {
    /// Evicts points that are too old, and then the oldest points until `limits` and the disk have room for a new run.
    /// Points of running commands stay. Does nothing while another process evicts or undoes.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn make_room(&self, limits: UndoLimits, now: SystemTime) -> Result<EvictedFiles, UndoStoreError> {
        self.with_memory(|known| {
            known.limits = Some(limits);
            self.evict(&mut known.index, limits, None, now)
        })
    }

    /// Makes room after a run that has added a point, within the limits of this process's last
    /// [`UndoStore::make_room`]. The point of that run stays.
    ///
    /// # Errors
    /// As [`UndoStore::make_room`].
    pub fn make_room_after(&self, run: &str, now: SystemTime) -> Result<EvictedFiles, UndoStoreError> {
        self.with_memory(|known| match known.limits {
            Some(limits) => self.evict(&mut known.index, limits, Some(run), now),
            None => Ok(EvictedFiles::default()),
        })
    }

    fn evict(
        &self,
        index: &mut PointIndex,
        limits: UndoLimits,
        spared: Option<&str>,
        now: SystemTime,
    ) -> Result<EvictedFiles, UndoStoreError> {
        self.refresh(index)?;
        let oldest = milliseconds(now).saturating_sub(milliseconds(SystemTime::UNIX_EPOCH + RETENTION));
        let is_old = |(at, _): &EvictionKey| *at < oldest;
        let is_due = self.is_stocktaking_due(now);
        let mut lacking = if index.bytes() > 0 { lacking_bytes(&self.path) } else { 0 };
        let is_too_much = index.cost() > limits.store_bytes || lacking > 0;
        let has_old = index.after(None).is_some_and(|(age, _)| is_old(age));
        if !(is_due || is_too_much || has_old || index.is_mostly_obsolete()) {
            return Ok(EvictedFiles::default());
        }
        let lock = self.lock_file()?;
        if lock.try_lock().is_err() {
            return Ok(EvictedFiles::default());
        }
        self.refresh(index)?;
        if is_due {
            self.take_stock(index, now)?;
            lock.set_modified(now).map_err(|source| UndoStoreError::System { path: self.path.join(LOCK), source })?;
        }
        let is_urgent = lacking > 0;
        let mut runs = Vec::new();
        let mut last: Option<EvictionKey> = None;
        while let Some((age, point)) = index.after(last.as_ref()) {
            let why = if is_old(age) {
                "older than 7 days".to_owned()
            } else if index.cost() > limits.store_bytes {
                format!("the store holds at most {} bytes", limits.store_bytes)
            } else if lacking > 0 && index.bytes() > 0 {
                "the last tenth of the disk stays free".to_owned()
            } else {
                break;
            };
            let frees_nothing = point.bytes == 0 && !is_old(age) && index.cost() <= limits.store_bytes;
            let (run, cost) = (age.1.to_string(), point.cost);
            last = Some(age.clone());
            if frees_nothing || spared == Some(&run) || self.is_running(&run) {
                continue;
            }
            self.append(&IndexLine::Evicted { run: run.clone(), why })?;
            self.refresh(index)?;
            lacking = lacking.saturating_sub(cost);
            runs.push(run);
        }
        if index.is_mostly_obsolete() {
            let path = self.path.join(INDEX);
            index.rewrite(&path).map_err(|source| UndoStoreError::System { path, source })?;
        }
        Ok(EvictedFiles { store: Some((self.clone(), lock)), runs, is_urgent })
    }

    fn refresh(&self, index: &mut PointIndex) -> Result<(), UndoStoreError> {
        let path = self.path.join(INDEX);
        index.refresh(&path).map(drop).map_err(|source| UndoStoreError::System { path, source })
    }

    /// Returns whether no process has taken stock for a while.
    fn is_stocktaking_due(&self, now: SystemTime) -> bool {
        let last = fs::metadata(self.path.join(LOCK)).and_then(|data| data.modified());
        last.map_or(true, |last| now.duration_since(last).map_or(true, |age| age > STOCKTAKING))
    }

    /// Writes down what the index lacks: points whose recorders were killed, and files that conflicts have kept.
    /// Forgets what was removed by others.
    fn take_stock(&self, index: &mut PointIndex, now: SystemTime) -> Result<(), UndoStoreError> {
        let runs: HashSet<String> = self.list_runs()?.into_iter().collect();
        for run in runs.iter().filter(|run| !index.has(run) && !self.is_running(run)) {
            match self.read_summary(run) {
                Some(summary) => self.add_summary(&summary)?,
                // A recorder may be about to write it, or another version of agent-bash has written it.
                None if self.manifest_path(run).is_ok_and(|path| is_older(&path, RETENTION, now)) => {
                    self.remove(run)?
                }
                None => {}
            }
        }
        let mut kept = HashSet::new();
        for entry in fs::read_dir(self.path.join(KEPT)).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let run = format!("{KEPT_RUN}{name}");
            if !index.has(&run) {
                let at = entry.metadata().and_then(|data| data.modified()).map_or(0, milliseconds);
                self.add_summary(&kept_files(run.clone(), at, disk_use(entry.path())))?;
            }
            kept.insert(run);
        }
        let is_gone = |run: &str| !runs.contains(run) && !kept.contains(run);
        let gone: Vec<String> =
            index.living().filter(|((_, run), _)| is_gone(run)).map(|((_, run), _)| run.to_string()).collect();
        for run in gone {
            self.append(&IndexLine::Gone { run })?;
        }
        let oldest = now.checked_sub(RETENTION).unwrap_or(SystemTime::UNIX_EPOCH);
        let seconds = i64::try_from(milliseconds(oldest) / 1000).unwrap_or(0);
        UndoTraces::remove_if_old(&self.traces_path(), FileTime { seconds, nanoseconds: 0 });
        self.refresh(index)
    }

    /// Writes down the files that conflicts with the undo of a run have kept.
    ///
    /// # Errors
    /// If the index cannot be written. The next stocktaking finds them.
    pub(crate) fn add_kept(&self, run: &str) -> Result<(), UndoStoreError> {
        let cost = disk_use(self.path.join(KEPT).join(run));
        self.add_summary(&kept_files(format!("{KEPT_RUN}{run}"), milliseconds(SystemTime::now()), cost))
    }
}

/// The beginning of the name by which the index has the files that conflicts with the undo of a run have kept.
const KEPT_RUN: &str = "kept/";

/// Returns the summary of files that conflicts have kept. They are in no list.
fn kept_files(run: String, at: u64, cost: u64) -> PointSummary {
    let (command, cwd, why) = (String::new(), String::new(), String::new());
    PointSummary { run, command, cwd, at, bytes: 0, cost, all: true, undoable: false, changes: 0, of: None, why }
}

/// Returns the bytes of disk that a directory takes with everything in it.
fn disk_use(directory: PathBuf) -> u64 {
    let mut cost = 0;
    let mut directories = vec![directory];
    while let Some(directory) = directories.pop() {
        cost += cost_of(BLOCK);
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(data) if data.is_dir() => directories.push(entry.path()),
                Ok(data) => cost += cost_of(data.len()),
                Err(_) => {}
            }
        }
    }
    cost
}

fn is_older(path: &Path, age: Duration, now: SystemTime) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|data| data.modified());
    changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|passed| passed > age))
}

/// Returns a time in ms since 1970.
fn milliseconds(time: SystemTime) -> u64 {
    let passed = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(passed.as_millis()).unwrap_or(u64::MAX)
}
