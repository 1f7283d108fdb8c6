//! Undoes runs.

use super::sessions::Answering;
use crate::messages::{Answer, NewestAsk, PointsAsk, UndoAsk};
use runner::error::Error;
use runner::undoing::{newest_to_undo, undo_points, undo_run};
use undo::UndoRequest;

/// Undoes a run.
pub fn undo(UndoAsk { run, dry_run, paths, dir }: UndoAsk) -> Answering {
    blocking(move || {
        let wanted = UndoRequest { dry_run, paths: &paths };
        undo_run(&run, wanted, dir.as_deref(), &sys::environment()).map(Answer::Undone)
    })
}

/// Lists the runs that can be undone.
pub fn points(PointsAsk { cwd, dir }: PointsAsk) -> Answering {
    blocking(move || undo_points(cwd.as_deref(), dir.as_deref(), &sys::environment()).map(Answer::UndoPoints))
}

/// Finds the newest run that an undo would take back.
pub fn newest(NewestAsk { cwd, paths, dir }: NewestAsk) -> Answering {
    blocking(move || newest_to_undo(&cwd, &paths, dir.as_deref(), &sys::environment()).map(Answer::NewestToUndo))
}

/// Does work on files away from the link.
fn blocking(work: impl FnOnce() -> Result<Answer, Error> + Send + 'static) -> Answering {
    let work = tokio::task::spawn_blocking(work);
    Box::pin(async { work.await.unwrap_or_else(|error| Err(Error::spawn(error.to_string(), "undo"))) })
}
