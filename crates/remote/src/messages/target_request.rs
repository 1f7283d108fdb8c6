//! Questions of a host that are no commands, each with one answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::target_command::TargetCommand;
use super::target_file::{TargetFileRequest, TargetFileResponse};
use super::target_registry::{TargetRegistryRequest, TargetRegistryResponse};
use super::undo_requests::{NewestUndoRequest, TargetUndoRequest, UndoPointsRequest};
use undo::{ListedUndoPoint, UndoOutcome};

/// What a host asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetRequest {
    /// Something of a session. Answered by [`TargetResponse::Done`].
    Session(u64, TargetSessionRequest),
    /// Something of a registry, by the number that the host gave it. Answered by [`TargetResponse::Registry`].
    Registry(u64, TargetRegistryRequest),
    /// Undo a run. Answered by [`TargetResponse::Undone`].
    Undo(TargetUndoRequest),
    /// List the runs that can be undone. Answered by [`TargetResponse::UndoPoints`].
    UndoPoints(UndoPointsRequest),
    /// Find the newest run that an undo would take back. Answered by [`TargetResponse::NewestToUndo`].
    NewestToUndo(NewestUndoRequest),
    /// Start a warm shell for commands like this one. Answered by [`TargetResponse::Warm`].
    WarmUp(Box<TargetCommand>),
    /// End the worlds of an owner, by the number that the host gave it. Answered by [`TargetResponse::Done`].
    EndWorlds(u64),

    /// Something of the file with this absolute path. Answered by [`TargetResponse::File`].
    File(String, TargetFileRequest),
    /// A connection to this port of this host, whose bytes are parts. Answered by [`TargetResponse::Done`] when both
    /// directions have ended.
    Dial(String, u16),
    /// A transport with these arguments, whose bytes are parts. Answered by [`TargetResponse::Carried`] when it has
    /// ended.
    Carry(Vec<String>),
    /// Remove the program, and what it has made for itself, now and at its end. Answered by [`TargetResponse::Done`].
    Uninstall,
}

/// Time in which a program answers, or sends the next part of an answer, if it does not wait for something itself.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
/// Time for work that grows with the number of files.
const FILE_WORK_TIMEOUT: Duration = Duration::from_mins(10);

impl TargetRequest {
    /// Returns how long a program of ours may be silent about this while a link is there. `None`: for as long as what
    /// it waits for takes.
    #[must_use]
    pub fn response_timeout(&self) -> Option<Duration> {
        match self {
            Self::Session(..) | Self::Dial(..) | Self::Carry(_) | Self::Registry(_, TargetRegistryRequest::Open(_)) => {
                None
            }
            Self::Registry(_, TargetRegistryRequest::Wait { until, .. }) => Some(until.timeout? + RESPONSE_TIMEOUT),
            Self::Undo(_) | Self::UndoPoints(_) | Self::NewestToUndo(_) | Self::Registry(..) => Some(FILE_WORK_TIMEOUT),
            Self::File(_, TargetFileRequest::Remove(_)) => Some(FILE_WORK_TIMEOUT),
            Self::WarmUp(_) | Self::EndWorlds(_) | Self::File(..) | Self::Uninstall => Some(RESPONSE_TIMEOUT),
        }
    }

    /// Returns whether its answer grows with what is there, up to the longest message.
    #[must_use]
    pub fn has_long_answer(&self) -> bool {
        matches!(self, Self::Undo(_) | Self::UndoPoints(_) | Self::Registry(..))
    }
}

/// What a host asks of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetSessionRequest {
    /// Begin it in this directory.
    Begin(String),
    /// Forget its state, when its turn comes.
    Reset,
    /// End it.
    Close,
}

/// The answer of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetResponse {
    /// It is done.
    Done,
    /// The answer of a registry.
    Registry(TargetRegistryResponse),
    /// The effect of an undo.
    Undone(UndoOutcome),
    /// The runs that can be undone, the newest first.
    UndoPoints(Vec<ListedUndoPoint>),
    /// The run that an undo would take back, if there is one.
    NewestToUndo(Option<String>),
    /// Whether a warm shell is ready.
    Warm(bool),

    /// The exit code of a transport, and the first 4 KiB of its standard error.
    Carried(Option<i32>, String),
    /// The answer about a file.
    File(TargetFileResponse),
}
