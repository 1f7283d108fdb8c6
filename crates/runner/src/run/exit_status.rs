//! The exit of a shell in a result: its conclusion, and what the caller has to know about it.

use super::completion::{ExitUnknown, ShellExit};
use protocol::{ABORTED, Cause, Conclusion, EndedBy, Status, TIMED_OUT};

const STILL_THERE: &str = "the command did not end after SIGKILL; its processes may still be there";
const HELPER_KILLED: &str = "a helper process of agent-bash was killed; the command was ended with it";

/// Translates the exit of a shell, with a note for the caller. `started`: whether the shell is known to have run.
pub fn conclude(exit: &ShellExit, started: bool) -> (Conclusion, Option<String>) {
    let ended = match exit {
        Ok(ended) => ended,
        Err(unknown) => return conclude_unknown(*unknown, started),
    };
    let note = match ended.cause {
        Cause::LimitExceeded(limit) => Some(limit.note()),
        Cause::Supervisor => Some(HELPER_KILLED.to_owned()),
        Cause::Itself | Cause::Limit | Cause::Abort | Cause::Host => None,
    };
    (Conclusion::of(ended.cause, ended.end), note)
}

/// Returns the cause of the end of a command. `silent`: its limit was the one on silence.
pub fn ended_by(exit: &ShellExit, silent: bool) -> Option<EndedBy> {
    let cause = match exit {
        Ok(ended) => ended.cause,
        Err(ExitUnknown::AliveAfterLimit) => Cause::Limit,
        Err(ExitUnknown::AliveAfterAbort) => Cause::Abort,
        Err(ExitUnknown::ShimKilled) => Cause::Supervisor,
    };
    cause.ended_by(silent)
}

fn still_there() -> String {
    let why =
        if sys::can_sample() { "" } else { ": /proc is not mounted, or lists no children, so no tree can be read" };
    format!("{STILL_THERE}{why}")
}

fn conclude_unknown(unknown: ExitUnknown, started: bool) -> (Conclusion, Option<String>) {
    let still_alive = |status, exit_code| Conclusion { status, exit_code, signal: None };
    match unknown {
        ExitUnknown::AliveAfterLimit => (still_alive(Status::TimedOut, TIMED_OUT), Some(still_there())),
        ExitUnknown::AliveAfterAbort => (still_alive(Status::Aborted, ABORTED), started.then(still_there)),
        ExitUnknown::ShimKilled => (Conclusion::by_signal(libc::SIGKILL), Some(HELPER_KILLED.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::plan::Recorded;
    use protocol::{Ended, ExceededLimit, LimitKind};
    use std::time::Duration;
    use sys::{Exit, Usage};

    fn of(end: Exit, cause: Cause) -> (Status, i32, Option<i32>, bool) {
        let ended = Ended {
            end,
            usage: Usage::default(),
            duration: Duration::ZERO,
            cause,
            alive: false,
            last: false,
            record: Recorded::Off,
            unwritten: None,
        };
        let (Conclusion { status, exit_code, signal }, note) = conclude(&Ok(ended), true);
        (status, exit_code, signal, note.is_some())
    }

    #[test]
    fn each_exit_has_its_status_code_and_signal() {
        let (kill, term) = (Some(libc::SIGKILL), Some(libc::SIGTERM));
        let exceeded = |limit| Cause::LimitExceeded(ExceededLimit { limit, used: 2, allowed: 1 });
        for (end, cause, expected) in [
            (Exit::Code(0), Cause::Itself, (Status::Exited, 0, None, false)),
            (Exit::Code(255), Cause::Itself, (Status::Exited, 255, None, false)),
            (Exit::Code(124), Cause::Itself, (Status::Exited, 124, None, false)),
            (Exit::Signal(9), Cause::Itself, (Status::Signaled, 137, kill, false)),
            (Exit::Signal(15), Cause::Itself, (Status::Signaled, 143, term, false)),
            (Exit::Code(0), Cause::Limit, (Status::TimedOut, 124, None, false)),
            (Exit::Signal(9), Cause::Limit, (Status::TimedOut, 124, kill, false)),
            (Exit::Code(3), Cause::Abort, (Status::Aborted, 130, None, false)),
            (Exit::Signal(15), Cause::Abort, (Status::Aborted, 130, term, false)),
            (Exit::Signal(9), Cause::Host, (Status::Aborted, 130, kill, false)),
            (Exit::Signal(15), exceeded(LimitKind::Cpu), (Status::Signaled, 143, term, true)),
            (Exit::Signal(9), exceeded(LimitKind::Cpu), (Status::Signaled, 137, kill, true)),
            (Exit::Code(0), exceeded(LimitKind::Cpu), (Status::Signaled, 143, term, true)),
            (Exit::Signal(9), exceeded(LimitKind::Memory), (Status::Signaled, 137, kill, true)),
            (Exit::Code(0), exceeded(LimitKind::Processes), (Status::Signaled, 137, kill, true)),
            (Exit::Code(0), Cause::Supervisor, (Status::Signaled, 137, kill, true)),
            (Exit::Signal(15), Cause::Supervisor, (Status::Signaled, 137, kill, true)),
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
            (ExitUnknown::ShimKilled, true, Status::Signaled, 137, Some(libc::SIGKILL), Some(HELPER_KILLED)),
        ] {
            let expected = (Conclusion { status, exit_code, signal }, note.map(str::to_owned));
            assert_eq!(conclude(&Err(unknown), started), expected, "{unknown:?} {started}");
        }
    }

    #[test]
    fn each_end_has_its_cause() {
        let ended = |cause| {
            let (end, usage, record) = (Exit::Signal(9), Usage::default(), Recorded::Off);
            let duration = Duration::ZERO;
            Ok(Ended { end, usage, duration, cause, alive: false, last: false, record, unwritten: None })
        };
        let exceeded = |limit| Cause::LimitExceeded(ExceededLimit { limit, used: 2, allowed: 1 });
        for (exit, silent, expected) in [
            (ended(Cause::Itself), false, None),
            (ended(Cause::Limit), false, Some(EndedBy::Timeout)),
            (ended(Cause::Limit), true, Some(EndedBy::Silence)),
            (ended(Cause::Abort), false, Some(EndedBy::Abort)),
            (ended(Cause::Host), false, Some(EndedBy::Host)),
            (ended(Cause::Supervisor), false, Some(EndedBy::Helper)),
            (ended(exceeded(LimitKind::Cpu)), false, Some(EndedBy::Cpu)),
            (ended(exceeded(LimitKind::Memory)), false, Some(EndedBy::Memory)),
            (ended(exceeded(LimitKind::Processes)), false, Some(EndedBy::Processes)),
            (Err(ExitUnknown::AliveAfterLimit), false, Some(EndedBy::Timeout)),
            (Err(ExitUnknown::AliveAfterLimit), true, Some(EndedBy::Silence)),
            (Err(ExitUnknown::AliveAfterAbort), false, Some(EndedBy::Abort)),
            (Err(ExitUnknown::ShimKilled), false, Some(EndedBy::Helper)),
        ] {
            assert_eq!(ended_by(&exit, silent), expected, "{exit:?}");
        }
    }
}
