//! The shell of a command, as far as its shim has reported it.

use crate::run::completion::{ExitUnknown, ShellExit};
use protocol::{Cause, Ended};

/// The exit of the shell, and whether the caller has given it up.
#[derive(Debug, Default)]
pub struct ProcessState {
    /// `None` while it runs.
    pub exit: Option<ShellExit>,
    /// The caller has aborted it.
    pub aborted: bool,
}

impl ProcessState {
    /// Whether no exit is known yet.
    pub fn is_running(&self) -> bool {
        self.exit.is_none()
    }

    /// Whether the command was terminated, or has no reported exit.
    pub fn was_terminated(&self) -> bool {
        let by_itself = |ended: &Ended| ended.cause == Cause::Itself;
        self.aborted || self.exit.as_ref().is_some_and(|exit| !exit.as_ref().is_ok_and(by_itself))
    }

    /// Whether the command ended by itself and left processes running.
    pub fn left_survivors(&self) -> bool {
        !self.aborted && matches!(self.exit, Some(Ok(Ended { alive: true, cause: Cause::Itself, .. })))
    }

    /// Whether the shim terminated the command at its time limit.
    pub fn reached_limit(&self) -> bool {
        matches!(self.exit, Some(Ok(Ended { cause: Cause::Limit, .. })))
    }

    /// Whether the time limit terminated the command, even if a process of it is still there.
    pub fn is_at_limit(&self) -> bool {
        self.reached_limit() || matches!(self.exit, Some(Err(ExitUnknown::AliveAfterLimit)))
    }

    /// The exit of a command that is still there at the hard bound.
    pub fn given_up(&self) -> ShellExit {
        Err(if self.aborted { ExitUnknown::AliveAfterAbort } else { ExitUnknown::AliveAfterLimit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::plan::Recorded;
    use std::time::Duration;
    use sys::{Exit, Usage};

    fn ended(cause: Cause, alive: bool) -> ShellExit {
        let (usage, duration) = (Usage::default(), Duration::ZERO);
        Ok(Ended { end: Exit::Code(0), usage, duration, cause, alive, last: false, record: Recorded::Off })
    }

    #[test]
    fn only_an_exit_of_its_own_is_no_termination() {
        let state = |exit, aborted| ProcessState { exit, aborted };
        assert!(!state(None, false).was_terminated());
        assert!(!state(Some(ended(Cause::Itself, true)), false).was_terminated());
        assert!(state(None, true).was_terminated());
        for cause in [Cause::Limit, Cause::Abort, Cause::Host, Cause::Supervisor] {
            assert!(state(Some(ended(cause, false)), false).was_terminated(), "{cause:?}");
        }
        assert!(state(Some(Err(ExitUnknown::ShimKilled)), false).was_terminated());
    }

    #[test]
    fn only_survivors_of_an_exit_of_its_own_can_become_a_task() {
        let left = |exit, aborted| ProcessState { exit: Some(exit), aborted }.left_survivors();
        assert!(left(ended(Cause::Itself, true), false));
        assert!(!left(ended(Cause::Itself, false), false));
        assert!(!left(ended(Cause::Limit, true), false));
        assert!(!left(ended(Cause::Itself, true), true));
        assert!(!left(Err(ExitUnknown::ShimKilled), false));
    }

    #[test]
    fn a_command_that_does_not_go_ends_with_what_was_asked_for_last() {
        assert_eq!(ProcessState::default().given_up(), Err(ExitUnknown::AliveAfterLimit));
        let aborted = ProcessState { aborted: true, ..ProcessState::default() };
        assert_eq!(aborted.given_up(), Err(ExitUnknown::AliveAfterAbort));
    }
}
