//! The exit-code contract: from the exit of a shell and its cause to status, exit code and signal.

use serde::{Deserialize, Serialize};

use crate::messages::Cause;
use sys::Exit;

/// Exit code after the time limit, as for `timeout`.
pub const TIMED_OUT: i32 = 124;
/// Exit code after an abort, equal to the code of SIGINT.
pub const ABORTED: i32 = 130;
/// Added to the number of a signal, gives the exit code.
pub const SIGNALED: i32 = 128;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
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
pub struct Conclusion {
    /// How the command ended.
    pub status: Status,
    /// The exit code, 0…255.
    pub exit_code: i32,
    /// The signal that ended the shell.
    pub signal: Option<i32>,
}

impl Conclusion {
    /// Concludes from the exit of a shell. `cause`: why its tree was terminated.
    #[must_use]
    pub fn of(cause: Cause, end: Exit) -> Self {
        let signal = match end {
            Exit::Signal(number) => Some(number),
            Exit::Code(_) => None,
        };
        match (cause, end) {
            (Cause::Itself, Exit::Code(exit_code)) => Self { status: Status::Exited, exit_code, signal },
            (Cause::Itself, Exit::Signal(number)) => Self::by_signal(number),
            (Cause::Limit, _) => Self { status: Status::TimedOut, exit_code: TIMED_OUT, signal },
            (Cause::Abort | Cause::Host, _) => Self { status: Status::Aborted, exit_code: ABORTED, signal },
            (Cause::LimitExceeded(limit), _) => Self::by_signal(signal.unwrap_or_else(|| limit.signal())),
            (Cause::Supervisor, _) => Self::by_signal(libc::SIGKILL),
        }
    }

    /// Concludes that a signal ended the shell.
    #[must_use]
    pub fn by_signal(number: i32) -> Self {
        Self { status: Status::Signaled, exit_code: SIGNALED + number, signal: Some(number) }
    }
}
