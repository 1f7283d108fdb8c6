//! Why a step of an undo was not taken.

use std::io;

use super::open_route::RouteError;
use crate::change_journal::JournalError;

/// Why a step was not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum StepFailure {
    #[error("it changed while it was being undone")]
    Changed,
    #[error("git is at work on it: there is a lock beside it")]
    GitAtWork,
    #[error("what was kept of it is gone, or has changed since")]
    Gone,
    #[error("what is there now cannot be kept: {0}")]
    NotKept(String),
    #[error("{0}")]
    System(#[from] io::Error),
    #[error("stopped")]
    Stopped,
}

impl From<JournalError> for StepFailure {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::NotKept(why) => Self::NotKept(why.to_string()),
            JournalError::System(error) => Self::System(error),
        }
    }
}

impl From<RouteError> for StepFailure {
    fn from(error: RouteError) -> Self {
        match error {
            RouteError::Changed => Self::Changed,
            RouteError::System(error) => Self::System(error),
        }
    }
}
