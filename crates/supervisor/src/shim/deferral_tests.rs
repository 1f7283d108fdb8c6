//! How a command that is a pipeline is terminated.

use super::*;
use crate::shim::pipeline::tests::{ProcessRow, stages};

const LATEST: Duration = Duration::from_millis(200);
/// `(seq 5; sleep 60) | tail -2` after `seq`: the shell, the subshell, `sleep` and `tail`.
const TAIL: [ProcessRow<'_>; 4] = [(100, 1, "", "o"), (101, 100, "", "a"), (102, 101, "", "a"), (103, 100, "a", "o")];

fn pipeline(rows: &[ProcessRow<'_>]) -> (ScriptedProcesses, SupervisedCommand<ScriptedProcesses>) {
    let (mock, running) = running();
    mock.shows(rows);
    (mock, running)
}

impl ScriptedProcesses {
    fn shows(&self, rows: &[ProcessRow<'_>]) {
        self.0.borrow_mut().stages = Some(stages(rows));
    }

    /// Returns the processes that were sent SIGTERM one by one.
    fn asked(&self) -> Vec<i32> {
        self.received(Signal::SIGTERM)
    }

    /// Returns the processes that were sent this signal one by one since the last call.
    fn received(&self, wanted: Signal) -> Vec<i32> {
        let asked = std::mem::take(&mut self.0.borrow_mut().asked);
        asked.into_iter().filter(|(_, signal)| *signal == Some(wanted)).map(|(pid, _)| pid).collect()
    }

    /// Runs the checks that are due in this time.
    fn check(&self, running: &mut SupervisedCommand<ScriptedProcesses>, time: Duration) {
        let until = self.now() + time;
        while self.pass(MS) < until {
            if running.due_action(self.now()) == DueAction::Readers {
                running.signal_readers();
            }
        }
    }
}

#[test]
fn the_reader_of_a_pipeline_is_signalled_only_if_it_stays() {
    let (mock, mut running) = pipeline(&TAIL);
    running.end(TerminationCause::Limit);
    assert_eq!((mock.sent(), mock.asked()), (vec![], vec![100, 101, 102]));
    mock.shows(&TAIL[3..]);
    mock.check(&mut running, LATEST - 20 * MS);
    assert!(mock.asked().is_empty());
    mock.check(&mut running, 40 * MS);
    assert_eq!(mock.asked(), [103]);
    assert!(running.ending.as_ref().is_some_and(|ending| ending.deferral.is_none()), "once");
    assert_eq!(running.wake_at(), running.ending.as_ref().map(|ending| ending.kill_at));
}

#[test]
fn a_reader_that_a_list_lacks_is_signalled_all_the_same() {
    let (mock, mut running) = pipeline(&TAIL);
    running.end(TerminationCause::Limit);
    assert_eq!(mock.asked(), [100, 101, 102]);
    mock.0.borrow_mut().unlisted = vec![103];
    mock.shows(&TAIL[..1]);
    mock.check(&mut running, LATEST + 20 * MS);
    assert_eq!(mock.asked(), [103]);
}

#[test]
fn the_time_in_which_a_stalled_machine_ran_nothing_is_not_taken_from_the_reader() {
    let (mock, mut running) = pipeline(&TAIL);
    running.end(TerminationCause::Limit);
    mock.asked();
    mock.shows(&TAIL[3..]);
    assert_eq!(running.due_action(mock.pass(LATEST * 5)), DueAction::Readers);
    running.signal_readers();
    mock.check(&mut running, LATEST - 20 * MS);
    assert!(mock.asked().is_empty());
    mock.check(&mut running, 40 * MS);
    assert_eq!(mock.asked(), [103]);
}

#[test]
fn checks_that_are_a_little_late_give_the_reader_no_more_time() {
    let (mock, mut running) = pipeline(&TAIL);
    running.end(TerminationCause::Limit);
    let begun = mock.now();
    mock.asked();
    mock.shows(&TAIL[3..]);
    while mock.asked().is_empty() {
        mock.pass(19 * MS);
        if running.due_action(mock.now()) == DueAction::Readers {
            running.signal_readers();
        }
        assert!(mock.now() - begun <= LATEST + 40 * MS);
    }
}

#[test]
fn a_stall_does_not_move_the_signal_of_a_handler_behind_sigkill() {
    let (mock, mut running) = pipeline(&TAIL);
    mock.0.borrow_mut().stages.as_mut().expect("stages")[3].handles_terminate = true;
    running.grace = LATEST;
    running.end(TerminationCause::Abort);
    mock.asked();
    mock.pass(LATEST * 3 / 4);
    running.signal_readers();
    assert_eq!((mock.asked(), running.due_action(mock.now())), (vec![103], DueAction::Nothing));
}

#[test]
fn a_reader_that_ends_by_itself_is_not_signalled() {
    let (mock, mut running) = pipeline(&TAIL);
    running.end(TerminationCause::Abort);
    mock.asked();
    mock.shows(&[]);
    mock.check(&mut running, LATEST * 2);
    assert!(mock.asked().is_empty());
    assert!(running.ending.is_some_and(|ending| ending.deferral.is_none()));
}

#[test]
fn a_reader_waits_for_the_sigkill_of_its_writer_and_has_the_same_time_from_then_on() {
    let (mock, mut running) = pipeline(&TAIL);
    running.end(TerminationCause::Abort);
    mock.asked();
    mock.check(&mut running, GRACE - 5 * MS);
    assert!(mock.asked().is_empty());
    assert_eq!(running.due_action(mock.pass(5 * MS)), DueAction::Kill);
    running.kill(mock.now());
    assert_eq!((mock.sent(), mock.received(Signal::SIGKILL)), (vec![], vec![100, 101, 102]));
    mock.shows(&TAIL[3..]);
    mock.check(&mut running, LATEST - 2 * MS);
    assert_eq!((mock.asked(), running.due_action(mock.now())), (vec![], DueAction::Nothing));
    assert_eq!(running.due_action(mock.pass(2 * MS)), DueAction::Kill);
    running.kill(mock.now());
    assert_eq!(mock.sent(), [Signal::SIGKILL]);
}

#[test]
fn the_rest_of_the_tree_is_killed_once_no_reader_is_left() {
    let (mock, mut running) = pipeline(&TAIL);
    running.end(TerminationCause::Abort);
    running.kill(mock.pass(GRACE));
    mock.shows(&[]);
    mock.check(&mut running, 20 * MS);
    assert_eq!(running.due_action(mock.now()), DueAction::Kill);
    running.kill(mock.now());
    assert_eq!(mock.sent(), [Signal::SIGKILL]);
}

#[test]
fn a_reader_that_stays_after_the_sigkill_of_its_writer_is_killed_before_the_reader_behind_it() {
    let rows = [(101, 100, "", "a"), (102, 100, "a", "b"), (103, 100, "b", "o")];
    let (mock, mut running) = pipeline(&rows);
    running.end(TerminationCause::Limit);
    running.kill(mock.pass(GRACE));
    assert_eq!(mock.received(Signal::SIGKILL), [101]);
    mock.shows(&rows[1..]);
    mock.check(&mut running, LATEST / 2 + 20 * MS);
    assert_eq!(mock.received(Signal::SIGKILL), [102]);
    mock.shows(&rows[2..]);
    mock.check(&mut running, LATEST / 2 - 30 * MS);
    assert!(mock.received(Signal::SIGKILL).is_empty());
}

#[test]
fn a_process_that_a_killed_one_has_started_is_killed_with_it() {
    let (mock, mut running) = pipeline(&TAIL);
    running.end(TerminationCause::Limit);
    running.kill(mock.pass(GRACE));
    mock.asked();
    mock.shows(&[(101, 1, "", "a"), (104, 101, "", "a"), (103, 1, "a", "o")]);
    mock.check(&mut running, 15 * MS);
    assert_eq!(mock.received(Signal::SIGKILL), [101, 104]);
}

#[test]
fn a_reader_with_a_handler_of_sigterm_does_not_wait_for_a_writer_that_cleans_up() {
    let (mock, mut running) = pipeline(&TAIL);
    mock.0.borrow_mut().stages.as_mut().expect("stages")[3].handles_terminate = true;
    running.end(TerminationCause::Abort);
    mock.asked();
    mock.check(&mut running, LATEST - 20 * MS);
    assert!(mock.asked().is_empty());
    mock.check(&mut running, 40 * MS);
    assert_eq!(mock.asked(), [103]);
}

#[test]
fn a_short_grace_leaves_half_of_it_to_a_handler_of_sigterm() {
    let (mock, mut running) = pipeline(&TAIL);
    mock.0.borrow_mut().stages.as_mut().expect("stages")[3].handles_terminate = true;
    running.grace = 40 * MS;
    running.end(TerminationCause::Abort);
    mock.asked();
    mock.check(&mut running, 21 * MS);
    assert_eq!((mock.asked(), running.due_action(mock.now())), (vec![103], DueAction::Nothing));
}

#[test]
fn the_stages_of_a_pipeline_that_stay_are_signalled_one_after_the_other() {
    // `yes | install | tail`: the second reads nothing.
    let rows = [(100, 1, "", "o"), (101, 100, "", "a"), (102, 100, "a", "b"), (103, 100, "b", "o")];
    let (mock, mut running) = pipeline(&rows);
    running.end(TerminationCause::Limit);
    assert_eq!(mock.asked(), [100, 101]);
    mock.shows(&rows[2..]);
    mock.check(&mut running, LATEST / 2 - 15 * MS);
    assert!(mock.asked().is_empty());
    mock.check(&mut running, 30 * MS);
    assert_eq!(mock.asked(), [102]);
    mock.shows(&rows[3..]);
    mock.check(&mut running, LATEST / 2 + 10 * MS);
    assert_eq!(mock.asked(), [103]);
}

#[test]
fn a_long_pipeline_whose_stages_all_stay_is_signalled_as_fast_as_a_short_one() {
    let rows = [
        (101, 100, "", "a"),
        (102, 100, "a", "b"),
        (103, 100, "b", "c"),
        (104, 100, "c", "d"),
        (105, 100, "d", "e"),
        (106, 100, "e", "f"),
    ];
    let (mock, mut running) = pipeline(&rows);
    running.end(TerminationCause::Limit);
    let mut living = rows.to_vec();
    let mut checked = Duration::ZERO;
    while running.ending.as_ref().is_some_and(|ending| ending.deferral.is_some()) {
        // Those that were signalled exit at once.
        let asked = mock.asked();
        living.retain(|row| !asked.contains(&row.0));
        mock.shows(&living);
        mock.pass(MS);
        checked += MS;
        if running.due_action(mock.now()) == DueAction::Readers {
            running.signal_readers();
        }
    }
    assert_eq!((mock.asked(), checked <= LATEST + 2 * MS), (vec![106], true), "{checked:?}");
}

#[test]
fn processes_that_start_meanwhile_are_signalled_with_the_reader_that_started_them() {
    let (mock, mut running) = pipeline(&TAIL);
    running.end(TerminationCause::Limit);
    mock.asked();
    // The subshell cleans up with 104, the reader starts 105, and an orphan is left.
    mock.shows(&[(101, 1, "", ""), (104, 101, "", ""), (103, 1, "a", "o"), (105, 103, "", "o"), (106, 1, "", "o")]);
    mock.check(&mut running, LATEST + 20 * MS);
    assert_eq!(mock.asked(), [103, 105, 106]);
}

#[test]
fn a_stopped_reader_is_continued_before_the_others_are_signalled() {
    let (mock, mut running) = pipeline(&TAIL);
    running.end(TerminationCause::Abort);
    assert_eq!(mock.0.borrow().asked.first(), Some(&(103, None)));
}

#[test]
fn pipelines_are_not_deferred_in_a_terminal_without_a_host_or_without_a_grace() {
    let no_grace = TerminationCause::LimitExceeded(ExceededLimit { limit: LimitKind::Memory, used: 2, allowed: 1 });
    for (cause, terminal, sent) in [
        (TerminationCause::Host, false, vec![Signal::SIGTERM]),
        (TerminationCause::Supervisor, false, vec![Signal::SIGTERM]),
        (TerminationCause::Abort, true, vec![Signal::SIGHUP, Signal::SIGTERM]),
        (no_grace, false, vec![]),
    ] {
        let (mock, mut running) = pipeline(&TAIL);
        running.terminal = terminal;
        running.end(cause);
        assert_eq!((mock.sent(), mock.asked()), (sent, vec![]), "{cause:?}");
        assert!(running.ending.is_some_and(|ending| ending.deferral.is_none()));
    }
}

#[test]
fn the_end_of_the_host_is_that_of_the_readers() {
    for (cause, asked) in [
        (TerminationCause::Host, vec![103]),
        (TerminationCause::Supervisor, vec![103]),
        (TerminationCause::Abort, vec![]),
    ] {
        let (mock, mut running) = pipeline(&TAIL);
        running.end(TerminationCause::Limit);
        mock.asked();
        running.end(cause);
        assert_eq!(mock.asked(), asked, "{cause:?}");
    }
}

#[test]
fn a_tree_whose_pipes_are_unknown_is_signalled_whole() {
    for rows in [None, Some(stages(&[(100, 1, "", "o"), (101, 100, "", "o")]))] {
        let (mock, mut running) = running();
        mock.0.borrow_mut().stages = rows;
        running.end(TerminationCause::Limit);
        assert_eq!((mock.sent(), mock.asked()), (vec![Signal::SIGTERM], vec![]));
    }
}

#[test]
fn sigkill_ends_the_deferral_of_readers_that_are_gone_or_unknown() {
    for rows in [Some(Vec::new()), None] {
        let (mock, mut running) = pipeline(&TAIL);
        running.end(TerminationCause::Limit);
        mock.asked();
        mock.0.borrow_mut().stages = rows;
        running.kill(mock.pass(GRACE));
        assert_eq!(mock.sent(), [Signal::SIGKILL]);
        mock.check(&mut running, LATEST);
        assert!(mock.asked().is_empty());
    }
}
