//! The record that a request asks for.

use tokio::task::block_in_place;

use crate::error::RunError;
use crate::request::PlannedRun;
use protocol::WarmCommand;
use protocol::plan::ChangeJournalPlan;
use receipt::recording::{NotUndoable, PreparedRecording, RecordedCommand, prepare};

/// Returns what chooses how the command of a request is recorded, which blocks. `None`: no record is wanted.
pub(super) fn preparation(
    request: &mut PlannedRun,
) -> Option<impl FnOnce() -> Result<PreparedRecording, NotUndoable> + use<>> {
    let wanted = request.record.clone()?;
    let home = request.environment.get("HOME").map(str::to_owned).or_else(sys::home);
    let subject = RecordedCommand {
        command: request.command.clone(),
        cwd: request.cwd.clone(),
        home: home.map(Into::into),
        risk: request.risk.take().map(|risk| *risk).unwrap_or_default(),
    };
    Some(move || prepare(&wanted, subject))
}

/// Prepares the record of a request. Blocks this thread, as a change of threads would take as long as the work.
///
/// # Errors
/// [`RunError::NotUndoable`]
pub(super) fn prepare_blocking<T>(prepare: impl FnOnce() -> Result<T, NotUndoable>) -> Result<T, RunError> {
    block_in_place(prepare).map_err(|refused| RunError::NotUndoable(refused.why))
}

/// Returns the form for a warm shell of a command that has this record. `None` if its changes cannot be listened to.
pub(super) fn recorded_form(warm: WarmCommand, record: &ChangeJournalPlan) -> Option<WarmCommand> {
    (!record.only_tree).then(|| warm.recorded())
}
