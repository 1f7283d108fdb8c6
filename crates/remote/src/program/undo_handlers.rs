//! Undoes runs.

use super::session_table::ResponseFuture;
use crate::messages::{NewestUndoRequest, TargetResponse, TargetUndoRequest, UndoPointsRequest};
use runner::error::RunError;
use runner::undoing::{newest_to_undo, undo_points, undo_run};
use undo::UndoRequest;

/// Undoes a run.
pub fn undo(TargetUndoRequest { run, dry_run, paths, dir }: TargetUndoRequest) -> ResponseFuture {
    blocking(move || {
        let wanted = UndoRequest { dry_run, paths: &paths };
        undo_run(&run, wanted, dir.as_deref(), &sys::environment()).map(TargetResponse::Undone)
    })
}

/// Lists the runs that can be undone.
pub fn list_undo_points(UndoPointsRequest { cwd, dir }: UndoPointsRequest) -> ResponseFuture {
    blocking(move || undo_points(cwd.as_deref(), dir.as_deref(), &sys::environment()).map(TargetResponse::UndoPoints))
}

/// Finds the newest run that an undo would take back.
pub fn find_newest_undo(NewestUndoRequest { cwd, paths, dir }: NewestUndoRequest) -> ResponseFuture {
    blocking(move || {
        newest_to_undo(&cwd, &paths, dir.as_deref(), &sys::environment()).map(TargetResponse::NewestToUndo)
    })
}

/// Does work on files away from the link.
fn blocking(work: impl FnOnce() -> Result<TargetResponse, RunError> + Send + 'static) -> ResponseFuture {
    let work = tokio::task::spawn_blocking(work);
    Box::pin(async { work.await.unwrap_or_else(|error| Err(RunError::spawn(error.to_string(), "undo"))) })
}
