//! Lists the runs that can be undone.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::execution::{UndoError, would_change};
use super::store::{PointSummary, UndoStore, UndoStoreError};

/// A run that can be undone, or could before its point was evicted. Undos are runs, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedUndoPoint {
    #[expect(missing_docs, reason = "its run")]
    pub run: String,
    #[expect(missing_docs, reason = "its command")]
    pub command: String,
    /// Directory of the command, as text.
    pub cwd: String,
    /// Start of the run, in ms since 1970.
    pub at: u64,
    /// Whether the undo covers everything.
    pub all: bool,
    /// Bytes that are kept for the point.
    pub bytes: u64,
    /// Why the point is gone, if it is.
    pub evicted: Option<String>,
}

/// Lists the points, the newest first. With `cwd`, only points of commands that ran there or below. Runs that still go
/// on have no point yet.
///
/// # Errors
/// If the store cannot be read.
pub fn list_points(store: &UndoStore, cwd: Option<&Path>) -> Result<Vec<ListedUndoPoint>, UndoStoreError> {
    Ok(store.summaries(cwd)?.into_iter().map(ListedUndoPoint::from).collect())
}

/// Returns the newest run of a directory that changed something, was not undone and is no undo. With `paths`, something
/// at these absolute paths or below. Called again and again, with undos between, it goes back from run to run.
///
/// # Errors
/// If the store cannot be read, or a run that an undo would have to look at.
pub fn newest_to_undo(store: &UndoStore, cwd: &Path, paths: &[PathBuf]) -> Result<Option<String>, UndoError> {
    let _lock = store.lock()?;
    let unended = store.unended_headers()?;
    let mut undone = HashSet::new();
    for PointSummary { run, of, changes, why, .. } in store.summaries(Some(cwd))? {
        if undone.contains(&run) {
            continue;
        }
        match of {
            Some(of) => drop(undone.insert(of)),
            // The older runs are gone, too, and the reason is worth reading.
            None if !why.is_empty() => return Ok(Some(run)),
            None if changes > 0 && would_change(store, &run, paths, &unended)? => return Ok(Some(run)),
            None => {}
        }
    }
    Ok(None)
}

impl UndoStore {
    /// Returns the points, existing and evicted ones, the newest first.
    fn summaries(&self, cwd: Option<&Path>) -> Result<Vec<PointSummary>, UndoStoreError> {
        let is_here = |directory: &str| cwd.is_none_or(|cwd| Path::new(directory).starts_with(cwd));
        // Runs that end after this have a line in the index.
        let runs: HashSet<String> = self.list_runs()?.into_iter().collect();
        let (mut listed, unlisted) = self.listed_points(&runs, is_here)?;
        let ended = unlisted.into_iter().filter(|run| !self.is_running(run));
        listed.extend(ended.filter_map(|run| self.read_summary(run)).filter(|it| it.undoable && is_here(&it.cwd)));
        listed.sort_by(|one, two| (two.at, &two.run).cmp(&(one.at, &one.run)));
        // A point whose eviction was cut short was evicted twice.
        listed.dedup_by(|one, two| one.run == two.run);
        Ok(listed)
    }
}

impl From<PointSummary> for ListedUndoPoint {
    fn from(summary: PointSummary) -> Self {
        let PointSummary { run, command, cwd, at, bytes, all, why, .. } = summary;
        Self { run, command, cwd, at, all, bytes, evicted: (!why.is_empty()).then_some(why) }
    }
}
