//! The exit-code contract: from the exit of a shell and its cause to status, exit code and signal.

use serde::{Deserialize, Serialize};

use crate::messages::TerminationCause;
use sys::ChildExit;

/// Exit code after the time limit, as for `timeout`.
pub const TIMED_OUT: i32 = 124;
/// Exit code after an abort, equal to the code of SIGINT.
pub const ABORTED: i32 = 130;
/// Added to the number of a signal, gives the exit code.
pub const SIGNALED: i32 = 128;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandStatus {
    /// The shell exited with an exit code of its own.
    Exited,
    /// A signal ended the shell.
    Signaled,
    /// The time limit ended the command.
    TimedOut,
    /// The caller ended the command.
    Aborted,
    /// The command goes on in the background.
    Backgrounded,
    /// The machine that ran the command is lost, and its end is not known.
    Lost,
}

/// The end of a command in the terms of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandConclusion {
    /// How the command ended.
    pub status: CommandStatus,
    /// The exit code, 0…255.
    pub exit_code: i32,
    /// The signal that ended the shell.
    pub signal: Option<i32>,
}

impl CommandConclusion {
    /// Concludes from the exit of a shell. `cause`: why its tree was terminated.
    #[must_use]
    pub fn of(cause: TerminationCause, end: ChildExit) -> Self {
        let signal = match end {
            ChildExit::Signal(number) => Some(number),
            ChildExit::Code(_) => None,
        };
        match (cause, end) {
            (TerminationCause::Itself, ChildExit::Code(exit_code)) => {
                Self { status: CommandStatus::Exited, exit_code, signal }
            }
            (TerminationCause::Itself, ChildExit::Signal(number)) => Self::by_signal(number),
            (TerminationCause::Limit, _) => Self { status: CommandStatus::TimedOut, exit_code: TIMED_OUT, signal },
            (TerminationCause::Abort | TerminationCause::Host, _) => {
                Self { status: CommandStatus::Aborted, exit_code: ABORTED, signal }
            }
            (TerminationCause::LimitExceeded(limit), _) => Self::by_signal(signal.unwrap_or_else(|| limit.signal())),
            (TerminationCause::Supervisor, _) => Self::by_signal(libc::SIGKILL),
        }
    }

    /// Concludes that a signal ended the shell.
    #[must_use]
    pub fn by_signal(number: i32) -> Self {
        Self { status: CommandStatus::Signaled, exit_code: SIGNALED + number, signal: Some(number) }
    }
}
