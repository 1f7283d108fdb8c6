//! One command of a session, from its place in the queue to its outcome.

use std::path::PathBuf;
use std::sync::Arc;

use super::session_command::{PreparedSessionCommand, SessionCommandRequest};
use super::shell_session::{SessionTurn, ShellSession};
use super::shell_state_files::ShellStateFiles;
use crate::error::RunError;
use crate::request::{PlannedRun, RawOptions};
use crate::run::outcome::{CommandOutcome, CommandStatus};
use crate::run::{CallerReplies, CommandListener, FinishedRun, ShellAfter, ShellStateSource, StartingShellState};
use crate::snapshot::SnapshotRequest;
use crate::supervise::{AdmissionSlot, CommandAdmission};

/// A command of a session.
pub struct SessionRun {
    turn: SessionTurn,
    stage: SessionRunStage,
}

enum SessionRunStage {
    /// The command waits for its turn.
    Queued(Box<RawOptions>),
    /// The command has begun.
    Prepared(Box<PreparedSessionCommand>),
}

impl SessionRun {
    /// Enters the queue, and begins the command if it is first.
    ///
    /// # Errors
    /// If no command could be run.
    pub fn start(session: &Arc<ShellSession>, command: RawOptions) -> Result<Self, RunError> {
        let turn = session.enter_queue()?;
        if turn.has_come()
            && let Ok(snapshot) = snapshot_of(session, &command)?.into_known()
            && let Some(slot) = CommandAdmission::shared().try_enter_session()
        {
            let prepared = PreparedSessionCommand::start(session, command, snapshot, slot)?;
            return Ok(Self { turn, stage: SessionRunStage::Prepared(Box::new(prepared)) });
        }
        Ok(Self { turn, stage: SessionRunStage::Queued(Box::new(command)) })
    }

    /// Runs the command to its outcome. Returns the session's directory as well.
    ///
    /// # Errors
    /// If no command could be run.
    pub async fn finish(
        self,
        listener: impl CommandListener,
        replies: impl Into<CallerReplies>,
    ) -> Result<(CommandOutcome, PathBuf), RunError> {
        let (Self { mut turn, stage }, mut replies) = (self, replies.into());
        let session = Arc::clone(turn.session());
        let prepared = match stage {
            SessionRunStage::Prepared(prepared) => *prepared,
            SessionRunStage::Queued(mut command) => {
                let Some(slot) = wait_for_turn(&mut turn, &mut command, &mut replies).await? else {
                    if session.is_closed() {
                        return Err(RunError::SessionClosed);
                    }
                    return Ok((CommandOutcome::not_started(&PlannedRun::check(*command)?), session.directory()));
                };
                let snapshot = snapshot_of(&session, &command)?.resolve(&mut command, &mut replies).await;
                PreparedSessionCommand::start(&session, *command, snapshot, slot)?
            }
        };
        let (run, mut saver) = prepared.into_parts(&session);
        let FinishedRun { outcome, shell: ShellAfter { child, directory, files, kind, storable, .. } } =
            run.finish(listener, replies).await?;
        (saver.kind, saver.storable) = (kind, storable);
        if let Some(files) = files {
            saver.exchange = ShellStateFiles::Inherited(files);
        }
        match child {
            // The command has exited while its shell still writes. Only the next command waits for that.
            Some(child) => {
                if let Some(directory) = directory {
                    session.set_directory(&directory);
                }
                let directory = session.directory();
                tokio::spawn(async move {
                    saver.follow(child).await;
                    drop(turn);
                });
                Ok((outcome, directory))
            }
            None => {
                match outcome.status {
                    // Nothing ran, and the state is that of the command before.
                    _ if outcome.reused.is_some() => saver.discard(),
                    CommandStatus::Exited => saver.save().await,
                    CommandStatus::Signaled | CommandStatus::Lost => saver.discard(),
                    CommandStatus::TimedOut | CommandStatus::Aborted | CommandStatus::Backgrounded => {
                        saver.hold(outcome.pid)
                    }
                }
                Ok((outcome, session.directory()))
            }
        }
    }
}

/// Waits for the turn of a command and for its slot. `None` if it was aborted before.
async fn wait_for_turn(
    turn: &mut SessionTurn,
    command: &mut RawOptions,
    replies: &mut CallerReplies,
) -> Result<Option<AdmissionSlot>, RunError> {
    if command.aborted {
        return Ok(None);
    }
    let ready = async {
        turn.wait_for_turn().await?;
        Ok::<_, RunError>(CommandAdmission::shared().enter_session().await)
    };
    tokio::select! {
        biased;
        () = replies.aborted() => {
            command.aborted = true;
            Ok(None)
        }
        slot = ready => slot,
    }
}

/// Returns the request of a session's first command, as far as the snapshot that it begins with is known. A snapshot is
/// not read, and no warm shell can have it then.
///
/// # Errors
/// If no command could be run.
pub fn first_request(session: &ShellSession, raw: RawOptions) -> Result<PlannedRun, RunError> {
    let snapshot = snapshot_of(session, &raw)?.into_known();
    let is_known = snapshot.is_ok();
    let mut request = SessionCommandRequest::of(session, raw, snapshot.ok().flatten())?.request;
    request.warm &= is_known;
    Ok(request)
}

/// Returns the snapshot that a session begins with. Afterwards its own state holds the snapshot.
fn snapshot_of(session: &ShellSession, command: &RawOptions) -> Result<StartingShellState<SnapshotRequest>, RunError> {
    if session.state().is_some() { Ok(StartingShellState::Plain) } else { SnapshotRequest::of(command) }
}
