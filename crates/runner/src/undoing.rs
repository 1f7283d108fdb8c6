//! Undoes runs, and lists those that can be undone.

use std::path::{Path, PathBuf};

use crate::error::RunError;
use crate::request::undo_store;
use undo::{ListedUndoPoint, UndoError, UndoOutcome, UndoRequest, UndoStore, UndoStoreError};

/// Undoes a run. `dir`: the directory of the store. Without it, the environment names the user's store.
///
/// # Errors
/// If the run has no undo point, or the store cannot be used.
pub fn undo_run(
    run: &str,
    wanted: UndoRequest<'_>,
    dir: Option<&str>,
    environment: &str,
) -> Result<UndoOutcome, RunError> {
    let Some(store) = store(dir, environment)? else { return Err(no_point(run).into()) };
    Ok(undo::undo(&store, run, wanted)?)
}

/// Lists the undo points, the newest first. With `cwd`, only those of commands that ran there or below.
///
/// # Errors
/// If the store cannot be used.
pub fn undo_points(cwd: Option<&Path>, dir: Option<&str>, environment: &str) -> Result<Vec<ListedUndoPoint>, RunError> {
    let Some(store) = store(dir, environment)? else { return Ok(Vec::new()) };
    Ok(undo::list_points(&store, cwd).map_err(UndoError::from)?)
}

/// Returns the newest run of a directory that an undo for these absolute paths would take back; see
/// [`undo::newest_to_undo`].
///
/// # Errors
/// If the store cannot be used.
pub fn newest_to_undo(
    cwd: &Path,
    paths: &[PathBuf],
    dir: Option<&str>,
    environment: &str,
) -> Result<Option<String>, RunError> {
    let Some(store) = store(dir, environment)? else { return Ok(None) };
    Ok(undo::newest_to_undo(&store, cwd, paths)?)
}

/// Lists the undo points of these runs that were not evicted. Takes as long as there are runs, and not points.
///
/// # Errors
/// If the store cannot be used.
pub fn undo_points_of(runs: &[String], environment: &str) -> Result<Vec<ListedUndoPoint>, RunError> {
    let Some(store) = store(None, environment)? else { return Ok(Vec::new()) };
    let points = runs.iter().filter(|run| UndoStore::is_id(run) && !store.is_running(run));
    let points = points.filter_map(|run| store.read_summary(run)).filter(|point| point.undoable);
    Ok(points.map(ListedUndoPoint::from).collect())
}

/// The error for a run without a store.
fn no_point(run: &str) -> UndoError {
    UndoError::Store(if UndoStore::is_id(run) {
        UndoStoreError::NoPoint(run.to_owned())
    } else {
        UndoStoreError::NoId(run.to_owned())
    })
}

/// Returns the store in a directory, or the user's store. `None` if there is no store.
fn store(dir: Option<&str>, environment: &str) -> Result<Option<UndoStore>, RunError> {
    let dir = undo_store(dir, environment).ok_or(UndoError::NoStore)?;
    Ok(UndoStore::open_existing(&dir).map_err(UndoError::from)?)
}
