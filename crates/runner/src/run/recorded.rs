//! The record that a request asks for.

use tokio::task::spawn_blocking;

use crate::error::Error;
use crate::request::Request;
use protocol::WarmCommand;
use protocol::plan::Record;
use receipt::recording::{Prepared, Subject, prepare};

/// Chooses how the command of a request is recorded.
///
/// # Errors
/// [`Error::NotUndoable`]
pub(super) async fn record_of(request: &mut Request) -> Result<Prepared, Error> {
    let Some(wanted) = request.record.clone() else { return Ok(Prepared::default()) };
    let home = request.environment.get("HOME").map(str::to_owned).or_else(sys::home);
    let subject = Subject {
        command: request.command.clone(),
        cwd: request.cwd.clone(),
        home: home.map(Into::into),
        risk: request.risk.take().map(|risk| *risk).unwrap_or_default(),
    };
    let prepared = spawn_blocking(move || prepare(&wanted, subject)).await;
    let prepared = prepared.map_err(|error| Error::spawn(error.to_string(), &request.command))?;
    prepared.map_err(|refused| Error::NotUndoable(refused.why))
}

/// Returns the form for a warm shell of a command that has this record. `None` if its changes cannot be listened to.
pub(super) fn recorded(warm: WarmCommand, record: &Record) -> Option<WarmCommand> {
    (!record.only_tree).then(|| warm.recorded())
}
