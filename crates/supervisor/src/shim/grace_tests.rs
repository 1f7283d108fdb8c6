//! When a running tree reaches its limit, and how long it may take to exit after that.

use super::*;

/// Returns the limit of CPU time, memory or processes, exceeded.
fn exceeded(limit: LimitKind) -> TerminationCause {
    TerminationCause::LimitExceeded(ExceededLimit { limit, used: 2, allowed: 1 })
}

#[test]
fn the_time_limit_of_a_command_is_exact() {
    for limit in [MS, 300 * MS, 1_234 * MS, Duration::from_secs(30), Duration::from_secs(15 * 60)] {
        let (mock, mut running) = running();
        running.limit = Some(running.started + limit);
        assert_eq!(running.wake_at(), running.limit);
        assert_eq!(running.due_action(mock.pass(limit - MS)), DueAction::Nothing, "{limit:?}");
        assert_eq!(running.due_action(mock.pass(MS)), DueAction::Limit, "{limit:?}");
    }
}

#[test]
fn each_cause_has_its_first_signal_and_its_grace() {
    let long = Duration::from_secs(15);
    for (cause, given, signals, grace) in [
        (TerminationCause::Limit, GRACE, vec![Signal::SIGTERM], GRACE),
        (TerminationCause::Limit, long, vec![Signal::SIGTERM], long),
        (TerminationCause::Limit, 300 * MS, vec![Signal::SIGTERM], 300 * MS),
        (TerminationCause::Abort, GRACE, vec![Signal::SIGTERM], GRACE),
        (TerminationCause::Abort, MS, vec![Signal::SIGTERM], MS),
        (TerminationCause::Host, long, vec![Signal::SIGTERM], GRACE_WITHOUT_HOST),
        (TerminationCause::Host, MS, vec![Signal::SIGTERM], MS),
        (TerminationCause::Supervisor, long, vec![Signal::SIGTERM], GRACE_WITHOUT_HOST),
        (TerminationCause::Supervisor, MS, vec![Signal::SIGTERM], MS),
        (exceeded(LimitKind::Cpu), GRACE, vec![Signal::SIGTERM], GRACE),
        (exceeded(LimitKind::Cpu), 200 * MS, vec![Signal::SIGTERM], 200 * MS),
        (exceeded(LimitKind::Memory), long, vec![], Duration::ZERO),
        (exceeded(LimitKind::Processes), long, vec![], Duration::ZERO),
    ] {
        let (mock, mut running) = running();
        running.grace = given;
        running.end(cause);
        assert_eq!((mock.sent(), running.wake_at()), (signals, Some(mock.now() + grace)), "{cause:?} {given:?}");
        if let Some(before) = grace.checked_sub(MS) {
            assert_eq!(running.due_action(mock.pass(before)), DueAction::Nothing, "{cause:?} {given:?}");
            mock.pass(MS);
        }
        assert_eq!(running.due_action(mock.now()), DueAction::Kill, "{cause:?} {given:?}");
    }
}

#[test]
fn a_tree_without_a_grace_gets_sigkill_at_once_and_no_other_signal() {
    for (cause, code) in [(TerminationCause::Limit, 124), (TerminationCause::Abort, 137), (TerminationCause::Host, 137)]
    {
        let (mock, mut running) = running();
        running.grace = Duration::ZERO;
        running.end(cause);
        assert_eq!(running.due_action(mock.now()), DueAction::Kill);
        mock.0.borrow_mut().killed = vec![exited(SHELL, ChildExit::Signal(9)), exited(CHILD, ChildExit::Signal(9))];
        running.kill(mock.now());
        assert_eq!((mock.sent(), running.settle(false)), (vec![Signal::SIGKILL], Some(false)), "{cause:?}");
        assert_eq!(running.end_as_task(), task::TaskEnd::Signal("SIGKILL".into(), code));
    }
}

#[test]
fn an_exit_in_the_last_moment_before_the_limit_is_the_commands_own() {
    let (mock, mut running) = running();
    let before = Duration::from_secs(30) - MS;
    mock.pass(before);
    mock.exit(&[exited(SHELL, ChildExit::Code(3))], false);
    assert_eq!((running.settle(false), running.ending.is_none()), (Some(false), true));
    assert_eq!(running.shell_end, Some((ChildExit::Code(3), before)));
}

#[test]
fn a_cause_stays_though_the_shell_exits_by_itself_during_the_grace() {
    for (cause, code) in
        [(TerminationCause::Limit, 124), (TerminationCause::Abort, 143), (exceeded(LimitKind::Cpu), 143)]
    {
        let (mock, mut running) = running();
        mock.pass(Duration::from_secs(30));
        running.end(cause);
        mock.pass(500 * MS);
        mock.exit(&[exited(SHELL, ChildExit::Code(0))], false);
        assert_eq!((running.settle(false), mock.sent()), (Some(false), vec![Signal::SIGTERM]), "{cause:?}");
        assert_eq!(running.shell_end, Some((ChildExit::Code(0), Duration::from_millis(30_500))));
        assert_eq!(running.ending.as_ref().map(|ending| ending.cause), Some(cause));
        assert_eq!(running.end_as_task(), task::TaskEnd::Signal("SIGTERM".into(), code));
    }
}

#[test]
fn a_grace_ends_early_with_the_last_process_and_not_with_the_shell() {
    let (mock, mut running) = running();
    running.grace = Duration::from_secs(15);
    running.end(TerminationCause::Limit);
    mock.pass(100 * MS);
    mock.exit(&[exited(SHELL, ChildExit::Signal(15))], true);
    assert_eq!(running.settle(false), None);
    mock.pass(100 * MS);
    mock.exit(&[exited(CHILD, ChildExit::Signal(15))], false);
    assert_eq!((running.settle(false), mock.sent()), (Some(false), vec![Signal::SIGTERM]));
}

#[test]
fn a_terminal_whose_host_is_gone_has_half_a_second_between_sighup_and_sigkill() {
    let (mock, mut running) = running();
    (running.terminal, running.grace) = (true, Duration::from_secs(15));
    running.end(TerminationCause::Host);
    assert_eq!(running.due_action(mock.pass(499 * MS)), DueAction::Nothing);
    assert_eq!(running.due_action(mock.pass(MS)), DueAction::Kill);
    running.kill(mock.now());
    assert_eq!(mock.sent(), [Signal::SIGHUP, Signal::SIGKILL]);
}

#[test]
fn a_blocked_process_postpones_the_limit_until_the_addon_acknowledges_or_300_ms_are_over() {
    for acknowledged in [true, false] {
        let (mock, mut running) = running();
        assert_eq!(running.due_action(mock.pass(Duration::from_secs(30))), DueAction::Limit);
        running.await_acknowledgement();
        assert_eq!(running.due_action(mock.pass(299 * MS)), DueAction::Nothing);
        if acknowledged {
            running.on_acknowledged();
            assert_eq!((mock.sent(), running.wake_at()), (vec![Signal::SIGTERM], Some(mock.now() + GRACE)));
        } else {
            assert_eq!((running.due_action(mock.pass(MS)), mock.sent()), (DueAction::Limit, vec![]));
        }
    }
}

#[test]
fn a_tree_that_is_being_terminated_has_no_time_limit_any_more() {
    let (mock, mut running) = running();
    mock.pass(Duration::from_secs(29));
    running.end(TerminationCause::Abort);
    assert_eq!(running.due_action(mock.pass(Duration::from_secs(1))), DueAction::Nothing, "its limit");
    assert_eq!(running.due_action(mock.pass(Duration::from_secs(1))), DueAction::Kill, "the end of its grace");
    assert_eq!(running.ending.map(|ending| ending.cause), Some(TerminationCause::Abort));
}

#[test]
fn at_its_limit_a_tree_gets_sigterm_and_after_the_grace_sigkill() {
    let (mock, mut running) = running();
    assert_eq!(running.due_action(mock.pass(Duration::from_secs(30) - MS)), DueAction::Nothing);
    assert_eq!(running.due_action(mock.pass(MS)), DueAction::Limit);
    running.end(TerminationCause::Limit);
    assert_eq!(mock.sent(), [Signal::SIGTERM]);
    assert_eq!(running.due_action(mock.pass(GRACE - MS)), DueAction::Nothing);
    let now = mock.pass(MS);
    assert_eq!((running.due_action(now), running.wake_at()), (DueAction::Kill, Some(now)));
    mock.0.borrow_mut().killed = vec![exited(SHELL, ChildExit::Signal(9)), exited(CHILD, ChildExit::Signal(9))];
    running.kill(now);
    assert_eq!(mock.sent(), [Signal::SIGKILL]);
    assert_eq!(running.settle(false), Some(false));
    assert_eq!(running.shell_end.map(|(exit, _)| exit), Some(ChildExit::Signal(9)));
}

#[test]
fn a_tree_that_obeys_sigterm_is_over_without_sigkill() {
    let (mock, mut running) = running();
    running.end(TerminationCause::Abort);
    mock.pass(MS);
    mock.exit(&[exited(SHELL, ChildExit::Signal(15))], false);
    assert_eq!(running.settle(false), Some(false));
    assert_eq!(mock.sent(), [Signal::SIGTERM]);
    assert_eq!(running.end_as_task(), task::TaskEnd::Signal("SIGTERM".into(), 143));
}

#[test]
fn sigkill_is_repeated_until_the_tree_is_given_up() {
    let (mock, mut running) = running();
    running.end(TerminationCause::Abort);
    let mut now = mock.pass(GRACE);
    running.kill(now);
    let first = now;
    // The shell exits. A process that has changed its user does not.
    mock.exit(&[exited(SHELL, ChildExit::Signal(9))], true);
    assert_eq!(running.settle(false), None);
    while !running.is_given_up(now) {
        assert_eq!(running.due_action(mock.pass(KILL_INTERVAL - MS)), DueAction::Nothing);
        now = mock.pass(MS);
        assert_eq!(running.due_action(now), DueAction::Kill);
        running.kill(now);
    }
    assert_eq!(now.duration_since(first), GIVEN_UP);
    assert!(mock.sent().len() > 100);
}

#[test]
fn a_tree_whose_shell_is_alive_is_not_given_up() {
    let (mock, mut running) = running();
    running.end(TerminationCause::Abort);
    running.kill(mock.pass(GRACE));
    let later = mock.pass(Duration::from_secs(60));
    assert!(running.is_killed_long_ago(later) && !running.is_given_up(later));
}

#[test]
fn a_more_urgent_reason_shortens_the_grace_and_leaves_the_cause() {
    let (mock, mut running) = running();
    running.end(TerminationCause::Abort);
    running.end(TerminationCause::Host);
    assert_eq!(running.wake_at(), Some(mock.now() + GRACE_WITHOUT_HOST));
    assert_eq!(running.ending.as_ref().map(|ending| ending.cause), Some(TerminationCause::Abort));
    assert_eq!(mock.sent(), [Signal::SIGTERM], "once");
    mock.pass(MS);
    running.end(TerminationCause::Abort);
    assert_eq!(running.wake_at(), Some(mock.now() - MS + GRACE_WITHOUT_HOST), "never longer");
}

#[test]
fn hundreds_of_processes_have_longer_to_exit_before_they_are_given_up() {
    let (mock, mut running) = running();
    running.end(TerminationCause::LimitExceeded(ExceededLimit { limit: LimitKind::Processes, used: 2, allowed: 1 }));
    running.kill(mock.now());
    assert!(!running.is_killed_long_ago(mock.pass(GIVEN_UP)));
    assert!(running.is_killed_long_ago(mock.pass(GIVEN_UP_BROKEN - GIVEN_UP)));
}

#[test]
fn a_terminal_hangs_up_first() {
    for (cause, signals) in [
        (TerminationCause::Abort, vec![Signal::SIGHUP, Signal::SIGTERM]),
        (TerminationCause::Limit, vec![Signal::SIGHUP, Signal::SIGTERM]),
        (TerminationCause::Host, vec![Signal::SIGHUP]),
        (TerminationCause::Supervisor, vec![Signal::SIGHUP]),
    ] {
        let (mock, mut running) = running();
        running.terminal = true;
        running.end(cause);
        assert_eq!(mock.sent(), signals, "{cause:?}");
    }
}
