//! Conclusions from the exit of a shell about its command.

use super::super::*;
use protocol::plan::ChangeJournalOutcome;
use std::time::Duration;
use sys::{ChildExit, ResourceUsage};

fn ended(cause: TerminationCause, alive: bool) -> ShellExit {
    let (usage, duration) = (ResourceUsage::default(), Duration::ZERO);
    Ok(ShellExitReport {
        end: ChildExit::Code(0),
        usage,
        duration,
        cause,
        alive,
        last: false,
        record: ChangeJournalOutcome::Off,
        unwritten: None,
    })
}

#[test]
fn only_an_exit_of_its_own_is_no_termination() {
    let state = |exit, aborted| ShellExitState { exit, reported: None, aborted };
    assert!(!state(None, false).was_terminated());
    assert!(!state(Some(ended(TerminationCause::Itself, true)), false).was_terminated());
    assert!(state(None, true).was_terminated());
    for cause in
        [TerminationCause::Limit, TerminationCause::Abort, TerminationCause::Host, TerminationCause::Supervisor]
    {
        assert!(state(Some(ended(cause, false)), false).was_terminated(), "{cause:?}");
    }
    assert!(state(Some(Err(ExitUnknown::ShimKilled)), false).was_terminated());
}

#[test]
fn only_survivors_of_an_exit_of_its_own_can_become_a_task() {
    let left = |exit, aborted| ShellExitState { exit: Some(exit), reported: None, aborted }.left_survivors();
    assert!(left(ended(TerminationCause::Itself, true), false));
    assert!(!left(ended(TerminationCause::Itself, false), false));
    assert!(!left(ended(TerminationCause::Limit, true), false));
    assert!(!left(ended(TerminationCause::Itself, true), true));
    assert!(!left(Err(ExitUnknown::ShimKilled), false));
}

#[test]
fn a_command_that_does_not_go_ends_with_what_was_asked_for_last() {
    assert_eq!(ShellExitState::default().given_up(), Err(ExitUnknown::AliveAfterLimit));
    let aborted = ShellExitState { aborted: true, ..ShellExitState::default() };
    assert_eq!(aborted.given_up(), Err(ExitUnknown::AliveAfterAbort));
}
