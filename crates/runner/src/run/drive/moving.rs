//! The move of a command that reaches its limit: from the addon to its shim, as a task.

use std::io;
use std::os::fd::OwnedFd;

use tokio::time::Instant;

use super::journal::Journal;
use crate::registry::{RegistryError, Reservation};
use crate::request::Request;
use protocol::Transfer;
use protocol::task::Task;

/// How far the move of a command has come.
#[derive(Default)]
pub enum Move {
    /// The command does not move: it has no registry, has exited, or was refused.
    #[default]
    Off,
    /// The command moves at its limit. Until then the journal gathers its output.
    Planned {
        /// The limit.
        at: Instant,
        /// The beginning of the log.
        journal: Journal,
    },
    /// The shim was asked to take the command over, and reads its pipes from here on unless it has just exited.
    HandedOver {
        /// The beginning of the log.
        journal: Journal,
        /// Holds a place among the running tasks until the task counts itself.
        _reservation: Reservation,
    },
    /// The command is this task.
    Done(Task),
}

/// A command that cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The registry takes no more tasks.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The log, or the rest of the standard input, could not be written.
    #[error(transparent)]
    Files(#[from] io::Error),
}

impl Move {
    pub fn of(request: &Request, began: Instant) -> Self {
        let at = request.limit.filter(|_| request.may_move()).map(|limit| began + limit);
        match at.zip(Journal::of(request)) {
            Some((at, journal)) => Self::Planned { at, journal },
            None => Self::Off,
        }
    }

    /// When the command is to be handed over.
    pub fn due_at(&self) -> Option<Instant> {
        match self {
            Self::Planned { at, .. } => Some(*at),
            Self::Off | Self::HandedOver { .. } | Self::Done(_) => None,
        }
    }

    /// Whether the shim was asked to take the command over and has not answered.
    pub fn is_under_way(&self) -> bool {
        matches!(self, Self::HandedOver { .. })
    }

    /// The task that the command has become.
    pub fn task(&self) -> Option<&Task> {
        match self {
            Self::Done(task) => Some(task),
            Self::Off | Self::Planned { .. } | Self::HandedOver { .. } => None,
        }
    }

    /// The command has written.
    pub fn on_output(&mut self, text: &str) {
        if let Self::Planned { journal, .. } = self {
            journal.push(text);
        }
    }

    /// Prepares the order for the shim, with the state of the readers and the rest of the standard input. After an
    /// error the command does not move any more.
    pub fn begin(
        &mut self,
        request: &Request,
        resume: Vec<Vec<u8>>,
        input: io::Result<Vec<OwnedFd>>,
    ) -> Option<Result<(Transfer, Vec<OwnedFd>), MoveError>> {
        let Self::Planned { mut journal, .. } = std::mem::take(self) else { return None };
        let registry = request.registry.as_ref()?;
        let transfer = || -> Result<_, MoveError> {
            let reservation = registry.reserve(journal.id())?;
            Ok((journal.finish()?, input?, reservation))
        };
        Some(transfer().map(|(spec, input, reservation)| {
            *self = Self::HandedOver { journal, _reservation: reservation };
            (Transfer { spec, resume }, input)
        }))
    }

    /// The shim has made the command this task.
    pub fn on_task(&mut self, task: Task) {
        if let Self::HandedOver { journal, .. } | Self::Planned { journal, .. } = self {
            journal.on_taken();
        }
        *self = Self::Done(task);
    }

    /// The command stays where it is. The beginning of its log is removed.
    pub fn cancel(&mut self) {
        if self.task().is_none() {
            *self = Self::Off;
        }
    }
}
