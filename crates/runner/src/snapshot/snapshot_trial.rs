//! Tries a snapshot in a fresh shell, which must read it without printing anything.

use std::time::Duration;

use super::error::SnapshotError;
use super::rc_reader::{SilentListener, internal_request, unanswered_replies};
use super::snapshot_code::SnapshotCode;
use super::snapshot_request::SnapshotRequest;
use crate::run::CommandLaunch;
use crate::run::outcome::CommandStatus;
use sys::SharedDescriptor;

/// Time a shell may take to read the code.
const LIMIT: Duration = Duration::from_secs(5);

/// Tries the code.
///
/// # Errors
/// [`SnapshotError`] if the code cannot be used.
pub async fn try_out(wanted: &SnapshotRequest, code: &SnapshotCode) -> Result<(), SnapshotError> {
    let file = SharedDescriptor::file(code.bytes()).map_err(SnapshotError::TrialFile)?;
    let file_name = protocol::plan::shell_quoted(&file.path().to_string_lossy());
    // The second line is read once the aliases exist.
    let command = format!("\\builtin . {file_name}\n:\n");
    let request = internal_request(wanted, command, LIMIT).map_err(SnapshotError::Trial)?;
    let (_silent, replies) = unanswered_replies();
    let outcome = CommandLaunch::start(request)
        .map_err(SnapshotError::Trial)?
        .finish(SilentListener, replies)
        .await
        .map_err(SnapshotError::Trial)?
        .outcome;
    match (outcome.status, outcome.exit_code) {
        (CommandStatus::Exited, Some(0)) if outcome.stdout.is_empty() && outcome.stderr.is_empty() => Ok(()),
        (CommandStatus::Exited, Some(0)) => Err(SnapshotError::Partial),
        (CommandStatus::TimedOut, _) => Err(SnapshotError::SlowTrial { limit: LIMIT }),
        _ => Err(SnapshotError::FailedTrial),
    }
}
