//! Lists the runs that can be undone.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::store::{Store, StoreError, Summary};

/// A run that can be undone, or could before its point was evicted. Undos are runs, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoPoint {
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
pub fn points(store: &Store, cwd: Option<&Path>) -> Result<Vec<UndoPoint>, StoreError> {
    let here = |point: &UndoPoint| cwd.is_none_or(|cwd| Path::new(&point.cwd).starts_with(cwd));
    let runs = store.runs()?.into_iter().filter(|run| !store.is_running(run));
    let living = runs.filter_map(|run| store.summary(&run)).filter(|point| point.undoable);
    let evicted = store.evicted().into_iter().filter(|point| point.undoable);
    let mut points: Vec<UndoPoint> = living.chain(evicted).map(UndoPoint::from).filter(here).collect();
    points.sort_by(|one, two| (two.at, &two.run).cmp(&(one.at, &one.run)));
    Ok(points)
}

impl From<Summary> for UndoPoint {
    fn from(summary: Summary) -> Self {
        let Summary { run, command, cwd, at, bytes, all, why, .. } = summary;
        Self { run, command, cwd, at, all, bytes, evicted: (!why.is_empty()).then_some(why) }
    }
}
