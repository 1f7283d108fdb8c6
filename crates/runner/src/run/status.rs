//! The exit-code contract: from the exit of a shell to the status, exit code and signal of a result.

use super::completion::{ExitUnknown, ShellExit};
use protocol::Cause;
use sys::Exit;

/// Exit code after the time limit, as for `timeout`.
pub const TIMED_OUT: i32 = 124;
/// Exit code after an abort, equal to the code of SIGINT.
pub const ABORTED: i32 = 130;
/// Added to the number of a signal, gives the exit code.
const SIGNALED: i32 = 128;

const STILL_THERE: &str = "the command did not end after SIGKILL; its processes may still be there";
const HELPER_KILLED: &str = "a helper process of agent-bash was killed; the command was ended with it";

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

/// A command that has ended, in the terms of the contract.
#[derive(Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// How the command ended.
    pub status: Status,
    /// The exit code, 0…255.
    pub exit_code: i32,
    /// The signal that ended the shell.
    pub signal: Option<String>,
    /// A fact for the caller.
    pub note: Option<String>,
}

/// Translates the exit of a shell. `started`: whether the shell is known to have run.
pub fn conclude(exit: &ShellExit, started: bool) -> Conclusion {
    let ended = match exit {
        Ok(ended) => ended,
        Err(unknown) => return conclude_unknown(*unknown, started),
    };
    let (status, exit_code) = match (ended.cause, ended.end) {
        (Cause::Itself, Exit::Code(code)) => (Status::Exited, code),
        (Cause::Itself, Exit::Signal(number)) => (Status::Signaled, SIGNALED + number),
        (Cause::Limit, _) => (Status::TimedOut, TIMED_OUT),
        (Cause::Abort | Cause::Host, _) => (Status::Aborted, ABORTED),
        (Cause::LimitExceeded(limit), end) => {
            let number = if let Exit::Signal(number) = end { number } else { limit.signal() };
            return Conclusion {
                status: Status::Signaled,
                exit_code: SIGNALED + number,
                signal: Some(sys::signal_name(number)),
                note: Some(limit.note()),
            };
        }
        (Cause::Supervisor, _) => return conclude_unknown(ExitUnknown::ShimKilled, started),
    };
    let signal = match ended.end {
        Exit::Signal(number) => Some(sys::signal_name(number)),
        Exit::Code(_) => None,
    };
    Conclusion { status, exit_code, signal, note: None }
}

fn still_there() -> String {
    let why =
        if sys::can_sample() { "" } else { ": /proc is not mounted, or lists no children, so no tree can be read" };
    format!("{STILL_THERE}{why}")
}

fn conclude_unknown(unknown: ExitUnknown, started: bool) -> Conclusion {
    match unknown {
        ExitUnknown::AliveAfterLimit => {
            Conclusion { status: Status::TimedOut, exit_code: TIMED_OUT, signal: None, note: Some(still_there()) }
        }
        ExitUnknown::AliveAfterAbort => {
            Conclusion { status: Status::Aborted, exit_code: ABORTED, signal: None, note: started.then(still_there) }
        }
        ExitUnknown::ShimKilled => Conclusion {
            status: Status::Signaled,
            exit_code: SIGNALED + libc::SIGKILL,
            signal: Some(sys::signal_name(libc::SIGKILL)),
            note: Some(HELPER_KILLED.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::plan::Recorded;
    use protocol::{Ended, ExceededLimit, LimitKind};
    use std::time::Duration;
    use sys::Usage;

    fn of(end: Exit, cause: Cause) -> (Status, i32, Option<String>, bool) {
        let (usage, duration) = (Usage::default(), Duration::ZERO);
        let exit = Ok(Ended { end, usage, duration, cause, alive: false, last: false, record: Recorded::Off });
        let Conclusion { status, exit_code, signal, note } = conclude(&exit, true);
        (status, exit_code, signal, note.is_some())
    }

    #[test]
    fn each_exit_has_its_status_code_and_signal() {
        let (kill, term) = (|| Some("SIGKILL".to_owned()), || Some("SIGTERM".to_owned()));
        let exceeded = |limit| Cause::LimitExceeded(ExceededLimit { limit, used: 2, allowed: 1 });
        for (end, cause, expected) in [
            (Exit::Code(0), Cause::Itself, (Status::Exited, 0, None, false)),
            (Exit::Code(255), Cause::Itself, (Status::Exited, 255, None, false)),
            (Exit::Code(124), Cause::Itself, (Status::Exited, 124, None, false)),
            (Exit::Signal(9), Cause::Itself, (Status::Signaled, 137, kill(), false)),
            (Exit::Signal(15), Cause::Itself, (Status::Signaled, 143, term(), false)),
            (Exit::Code(0), Cause::Limit, (Status::TimedOut, 124, None, false)),
            (Exit::Signal(9), Cause::Limit, (Status::TimedOut, 124, kill(), false)),
            (Exit::Code(3), Cause::Abort, (Status::Aborted, 130, None, false)),
            (Exit::Signal(15), Cause::Abort, (Status::Aborted, 130, term(), false)),
            (Exit::Signal(9), Cause::Host, (Status::Aborted, 130, kill(), false)),
            (Exit::Signal(15), exceeded(LimitKind::Cpu), (Status::Signaled, 143, term(), true)),
            (Exit::Signal(9), exceeded(LimitKind::Cpu), (Status::Signaled, 137, kill(), true)),
            (Exit::Code(0), exceeded(LimitKind::Cpu), (Status::Signaled, 143, term(), true)),
            (Exit::Signal(9), exceeded(LimitKind::Memory), (Status::Signaled, 137, kill(), true)),
            (Exit::Code(0), exceeded(LimitKind::Processes), (Status::Signaled, 137, kill(), true)),
            (Exit::Code(0), Cause::Supervisor, (Status::Signaled, 137, kill(), true)),
            (Exit::Signal(15), Cause::Supervisor, (Status::Signaled, 137, kill(), true)),
        ] {
            assert_eq!(of(end, cause), expected, "{end:?} {cause:?}");
        }
    }

    #[test]
    fn a_shell_whose_exit_is_unknown_has_a_note_that_says_so() {
        for (unknown, started, status, exit_code, signal, note) in [
            (ExitUnknown::AliveAfterLimit, true, Status::TimedOut, 124, None, Some(STILL_THERE)),
            (ExitUnknown::AliveAfterAbort, true, Status::Aborted, 130, None, Some(STILL_THERE)),
            (ExitUnknown::AliveAfterAbort, false, Status::Aborted, 130, None, None),
            (ExitUnknown::ShimKilled, true, Status::Signaled, 137, Some("SIGKILL"), Some(HELPER_KILLED)),
        ] {
            let (signal, note) = (signal.map(str::to_owned), note.map(str::to_owned));
            let expected = Conclusion { status, exit_code, signal, note };
            assert_eq!(conclude(&Err(unknown), started), expected, "{unknown:?} {started}");
        }
    }
}
