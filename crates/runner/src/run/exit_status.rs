//! The exit of a shell in a result: its conclusion, and what the caller has to know about it.

use super::completion::{ExitUnknown, ShellExit};
use protocol::{ABORTED, CommandConclusion, CommandStatus, EndedBy, TIMED_OUT, TerminationCause};

const STILL_THERE: &str = "the command did not end after SIGKILL; its processes may still be there";
const HELPER_KILLED: &str = "a helper process of agent-bash was killed; the command was ended with it";

/// Translates the exit of a shell, with a note for the caller. `started`: whether the shell is known to have run.
pub fn conclude(exit: &ShellExit, started: bool) -> (CommandConclusion, Option<String>) {
    let ended = match exit {
        Ok(ended) => ended,
        Err(unknown) => return conclude_unknown(*unknown, started),
    };
    let note = match ended.cause {
        TerminationCause::LimitExceeded(limit) => Some(limit.note()),
        TerminationCause::Supervisor => Some(HELPER_KILLED.to_owned()),
        TerminationCause::Itself | TerminationCause::Limit | TerminationCause::Abort | TerminationCause::Host => None,
    };
    (CommandConclusion::of(ended.cause, ended.end), note)
}

/// Returns the cause of the end of a command. `silent`: its limit was the one on silence.
pub fn ended_by(exit: &ShellExit, silent: bool) -> Option<EndedBy> {
    let cause = match exit {
        Ok(ended) => ended.cause,
        Err(ExitUnknown::AliveAfterLimit) => TerminationCause::Limit,
        Err(ExitUnknown::AliveAfterAbort) => TerminationCause::Abort,
        Err(ExitUnknown::ShimKilled) => TerminationCause::Supervisor,
    };
    cause.ended_by(silent)
}

fn still_there() -> String {
    let why =
        if sys::can_sample() { "" } else { ": /proc is not mounted, or lists no children, so no tree can be read" };
    format!("{STILL_THERE}{why}")
}

fn conclude_unknown(unknown: ExitUnknown, started: bool) -> (CommandConclusion, Option<String>) {
    let still_alive = |status, exit_code| CommandConclusion { status, exit_code, signal: None };
    match unknown {
        ExitUnknown::AliveAfterLimit => (still_alive(CommandStatus::TimedOut, TIMED_OUT), Some(still_there())),
        ExitUnknown::AliveAfterAbort => (still_alive(CommandStatus::Aborted, ABORTED), started.then(still_there)),
        ExitUnknown::ShimKilled => (CommandConclusion::by_signal(libc::SIGKILL), Some(HELPER_KILLED.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::plan::ChangeJournalOutcome;
    use protocol::{ExceededLimit, LimitKind, ShellExitReport};
    use std::time::Duration;
    use sys::{ChildExit, ResourceUsage};

    fn of(end: ChildExit, cause: TerminationCause) -> (CommandStatus, i32, Option<i32>, bool) {
        let ended = ShellExitReport {
            end,
            usage: ResourceUsage::default(),
            duration: Duration::ZERO,
            cause,
            alive: false,
            last: false,
            record: ChangeJournalOutcome::Off,
            unwritten: None,
        };
        let (CommandConclusion { status, exit_code, signal }, note) = conclude(&Ok(ended), true);
        (status, exit_code, signal, note.is_some())
    }

    #[test]
    fn each_exit_has_its_status_code_and_signal() {
        let (kill, term) = (Some(libc::SIGKILL), Some(libc::SIGTERM));
        let exceeded = |limit| TerminationCause::LimitExceeded(ExceededLimit { limit, used: 2, allowed: 1 });
        for (end, cause, expected) in [
            (ChildExit::Code(0), TerminationCause::Itself, (CommandStatus::Exited, 0, None, false)),
            (ChildExit::Code(255), TerminationCause::Itself, (CommandStatus::Exited, 255, None, false)),
            (ChildExit::Code(124), TerminationCause::Itself, (CommandStatus::Exited, 124, None, false)),
            (ChildExit::Signal(9), TerminationCause::Itself, (CommandStatus::Signaled, 137, kill, false)),
            (ChildExit::Signal(15), TerminationCause::Itself, (CommandStatus::Signaled, 143, term, false)),
            (ChildExit::Code(0), TerminationCause::Limit, (CommandStatus::TimedOut, 124, None, false)),
            (ChildExit::Signal(9), TerminationCause::Limit, (CommandStatus::TimedOut, 124, kill, false)),
            (ChildExit::Code(3), TerminationCause::Abort, (CommandStatus::Aborted, 130, None, false)),
            (ChildExit::Signal(15), TerminationCause::Abort, (CommandStatus::Aborted, 130, term, false)),
            (ChildExit::Signal(9), TerminationCause::Host, (CommandStatus::Aborted, 130, kill, false)),
            (ChildExit::Signal(15), exceeded(LimitKind::Cpu), (CommandStatus::Signaled, 143, term, true)),
            (ChildExit::Signal(9), exceeded(LimitKind::Cpu), (CommandStatus::Signaled, 137, kill, true)),
            (ChildExit::Code(0), exceeded(LimitKind::Cpu), (CommandStatus::Signaled, 143, term, true)),
            (ChildExit::Signal(9), exceeded(LimitKind::Memory), (CommandStatus::Signaled, 137, kill, true)),
            (ChildExit::Code(0), exceeded(LimitKind::Processes), (CommandStatus::Signaled, 137, kill, true)),
            (ChildExit::Code(0), TerminationCause::Supervisor, (CommandStatus::Signaled, 137, kill, true)),
            (ChildExit::Signal(15), TerminationCause::Supervisor, (CommandStatus::Signaled, 137, kill, true)),
        ] {
            assert_eq!(of(end, cause), expected, "{end:?} {cause:?}");
        }
    }

    #[test]
    fn a_shell_whose_exit_is_unknown_has_a_note_that_says_so() {
        for (unknown, started, status, exit_code, signal, note) in [
            (ExitUnknown::AliveAfterLimit, true, CommandStatus::TimedOut, 124, None, Some(STILL_THERE)),
            (ExitUnknown::AliveAfterAbort, true, CommandStatus::Aborted, 130, None, Some(STILL_THERE)),
            (ExitUnknown::AliveAfterAbort, false, CommandStatus::Aborted, 130, None, None),
            (ExitUnknown::ShimKilled, true, CommandStatus::Signaled, 137, Some(libc::SIGKILL), Some(HELPER_KILLED)),
        ] {
            let expected = (CommandConclusion { status, exit_code, signal }, note.map(str::to_owned));
            assert_eq!(conclude(&Err(unknown), started), expected, "{unknown:?} {started}");
        }
    }

    #[test]
    fn each_end_has_its_cause() {
        let ended = |cause| {
            let (end, usage, record) = (ChildExit::Signal(9), ResourceUsage::default(), ChangeJournalOutcome::Off);
            let duration = Duration::ZERO;
            Ok(ShellExitReport { end, usage, duration, cause, alive: false, last: false, record, unwritten: None })
        };
        let exceeded = |limit| TerminationCause::LimitExceeded(ExceededLimit { limit, used: 2, allowed: 1 });
        for (exit, silent, expected) in [
            (ended(TerminationCause::Itself), false, None),
            (ended(TerminationCause::Limit), false, Some(EndedBy::Timeout)),
            (ended(TerminationCause::Limit), true, Some(EndedBy::Silence)),
            (ended(TerminationCause::Abort), false, Some(EndedBy::Abort)),
            (ended(TerminationCause::Host), false, Some(EndedBy::Host)),
            (ended(TerminationCause::Supervisor), false, Some(EndedBy::Helper)),
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
