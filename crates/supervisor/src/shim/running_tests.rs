//! The life of a command with the system replaced by queues of outcomes.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::*;
use crate::shim::pipeline::PipelineProcess;
use crate::tree::TreeMember;
use protocol::LimitKind;

#[path = "deferral_tests.rs"]
mod deferral;
#[path = "grace_tests.rs"]
mod grace;

const SHELL: Pid = Pid::from_raw(100);
const CHILD: Pid = Pid::from_raw(101);
const GRACE: Duration = Duration::from_secs(2);
const MS: Duration = Duration::from_millis(1);

/// Processes and a clock that a test controls.
#[derive(Clone)]
struct ScriptedProcesses(Rc<RefCell<ScriptedState>>);

struct ScriptedState {
    now: Instant,
    /// Outcomes of `reap`. Once they are used up the answer depends on `alive`.
    reaped: VecDeque<ReapOutcome>,
    alive: bool,
    /// Outcomes of `reap` after SIGKILL.
    killed: Vec<ReapOutcome>,
    /// Every signal sent to the tree.
    sent: Vec<Signal>,
    /// The children that were left alone each time.
    spared: Vec<Vec<Pid>>,
    /// The processes with their pipes, if they are known.
    stages: Option<Vec<PipelineProcess>>,
    /// Processes that are alive, though `stages` lacks them.
    unlisted: Vec<i32>,
    /// Every process that was signalled by itself.
    asked: Vec<(i32, Option<Signal>)>,
}

impl ProcessControl for ScriptedProcesses {
    fn reap(&self) -> ReapOutcome {
        let mut state = self.0.borrow_mut();
        let otherwise = if state.alive { ReapOutcome::Nothing } else { ReapOutcome::NoChildren };
        state.reaped.pop_front().unwrap_or(otherwise)
    }

    fn wait(&self, killed: &[Pid]) {
        assert_eq!(killed, [CHILD]);
        self.0.borrow_mut().alive = false;
    }

    fn is_alive(&self, _: TreeScope<'_>) -> bool {
        self.0.borrow().alive
    }

    fn terminate(&self, scope: TreeScope<'_>, signals: &[Signal]) {
        let mut state = self.0.borrow_mut();
        state.sent.extend(signals);
        state.spared.push(scope.spared.to_vec());
    }

    fn signal(&self, member: &TreeMember, signals: &[Signal]) {
        self.0.borrow_mut().asked.push((member.pid.as_raw(), signals.first().copied()));
    }

    fn is_member_alive(&self, member: &TreeMember) -> bool {
        self.0.borrow().unlisted.contains(&member.pid.as_raw())
    }

    fn pipeline_processes(&self, _: TreeScope<'_>) -> Option<Vec<PipelineProcess>> {
        self.0.borrow().stages.clone()
    }

    fn kill(&self, scope: TreeScope<'_>, reap: &mut dyn FnMut()) {
        let mut state = self.0.borrow_mut();
        state.sent.push(Signal::SIGKILL);
        state.spared.push(scope.spared.to_vec());
        let killed = std::mem::take(&mut state.killed);
        if !killed.is_empty() {
            state.alive = false;
            state.reaped.extend(killed);
        }
        drop(state);
        reap();
    }

    fn now(&self) -> Instant {
        self.0.borrow().now
    }
}

impl ScriptedProcesses {
    fn pass(&self, time: Duration) -> Instant {
        self.0.borrow_mut().now += time;
        self.now()
    }

    fn sent(&self) -> Vec<Signal> {
        std::mem::take(&mut self.0.borrow_mut().sent)
    }

    /// These children exit. `alive`: others are left.
    fn exit(&self, reaped: &[ReapOutcome], alive: bool) {
        let mut state = self.0.borrow_mut();
        state.reaped.extend(reaped);
        state.alive = alive;
    }
}

fn running() -> (ScriptedProcesses, SupervisedCommand<ScriptedProcesses>) {
    let now = Instant::now();
    let mock = ScriptedProcesses(Rc::new(RefCell::new(ScriptedState {
        now,
        reaped: VecDeque::new(),
        alive: true,
        killed: Vec::new(),
        sent: Vec::new(),
        spared: Vec::new(),
        stages: None,
        unlisted: Vec::new(),
        asked: Vec::new(),
    })));
    let running = SupervisedCommand {
        shell: SHELL,
        orphaned: false,
        mark: None,
        started: now,
        limit: Some(now + Duration::from_secs(30)),
        reported_blocked: false,
        grace: GRACE,
        terminal: false,
        usage: ResourceUsage::default(),
        shell_end: None,
        ending: None,
        pipes: Vec::new(),
        spared: Vec::new(),
        dismissed: Vec::new(),
        tap: None,
        watch: None,
        group: None,
        processes: mock.clone(),
    };
    (mock, running)
}

fn exited(pid: Pid, exit: ChildExit) -> ReapOutcome {
    ReapOutcome::Ended(pid, exit, ResourceUsage { user_us: 10, system_us: 1, max_rss: 7 })
}

/// Checks which states of a command are over, and what the addon learns about survivors then.
#[test]
fn a_command_is_over_when_its_shell_exited_and_nothing_is_left_to_terminate() {
    let shell = exited(SHELL, ChildExit::Code(0));
    let child = exited(CHILD, ChildExit::Code(0));
    // Each row: whether the tree was terminated before, the exits, whether other processes are left, the answer of
    // `settle`.
    for (terminated, exits, left, over) in [
        (false, vec![], true, None),
        (false, vec![child], true, None),
        (false, vec![shell], true, Some(true)),
        (false, vec![shell], false, Some(false)),
        (false, vec![child, shell], false, Some(false)),
        (true, vec![], true, None),
        (true, vec![child], true, None),
        (true, vec![shell], true, None),
        (true, vec![shell], false, Some(false)),
        (true, vec![shell, child], false, Some(false)),
        (false, vec![ReapOutcome::Stopped(SHELL)], true, None),
    ] {
        let (mock, mut running) = running();
        if terminated {
            running.end(TerminationCause::Abort);
        }
        mock.exit(&exits, left);
        assert_eq!(running.settle(false), over, "{terminated} {exits:?} {left}");
    }
}

#[test]
fn the_exit_of_the_shell_has_its_code_and_the_time_since_its_start() {
    let (mock, mut running) = running();
    mock.pass(Duration::from_millis(1234));
    mock.exit(&[exited(CHILD, ChildExit::Signal(9)), exited(SHELL, ChildExit::Code(7))], false);
    running.reap();
    assert_eq!(running.shell_end, Some((ChildExit::Code(7), Duration::from_millis(1234))));
    assert_eq!(running.usage, ResourceUsage { user_us: 20, system_us: 2, max_rss: 7 });
}

#[test]
fn children_that_keep_exiting_hold_nothing_up_that_is_due() {
    let (mock, mut running) = running();
    let limit = running.limit.expect("a limit");
    let many = [exited(CHILD, ChildExit::Code(0)); 3 * BATCH];
    mock.exit(&many, false);
    mock.pass(limit - mock.now());
    assert!(running.reap(), "others are left");
    assert_eq!(mock.0.borrow().reaped.len(), 2 * BATCH);
    running.limit = None;
    assert!(!running.reap(), "nothing is due");
    assert_eq!(running.usage.user_us, 10 * many.len() as u64);
}

#[test]
fn a_dismissed_warm_shell_is_none_of_the_command() {
    let (mock, mut running) = running();
    running.dismissed = vec![CHILD];
    mock.exit(&[exited(CHILD, ChildExit::Signal(9)), exited(CHILD, ChildExit::Code(0))], true);
    running.reap();
    // From then on a process of the command may have this pid.
    assert_eq!((running.dismissed, running.usage.user_us), (Vec::new(), 10));
}

#[test]
fn a_dismissed_warm_shell_that_is_slow_to_exit_is_not_left_by_the_command() {
    let (mock, mut running) = running();
    running.dismissed = vec![CHILD];
    mock.exit(&[exited(running.shell, ChildExit::Code(0))], true);
    assert_eq!(running.settle(false), Some(false));
    assert_eq!(running.dismissed, []);
}

#[test]
fn the_end_of_the_supervisor_is_that_of_what_it_started() {
    for (orphaned, detached, ends) in
        [(false, false, true), (true, false, false), (false, true, false), (true, true, false)]
    {
        let (_, mut running) = running();
        running.orphaned = orphaned;
        running.on_supervisor_gone(detached);
        assert_eq!(running.ending.is_some(), ends, "{orphaned} {detached}");
    }
}

#[test]
fn a_blocked_process_is_signalled_once_the_addon_has_read_its_prompt() {
    let (mock, mut running) = running();
    running.on_acknowledged();
    assert!(mock.sent().is_empty(), "an acknowledgement of another command");
    running.reported_blocked = true;
    running.on_acknowledged();
    assert_eq!(mock.sent(), [Signal::SIGTERM]);
    running.on_acknowledged();
    assert!(mock.sent().is_empty(), "once");
}

#[test]
fn a_task_whose_shell_was_killed_is_terminated_whole() {
    for (is_task, exit, killed) in [
        (true, ChildExit::Signal(libc::SIGKILL), true),
        (true, ChildExit::Signal(libc::SIGTERM), false),
        (true, ChildExit::Code(137), false),
        (false, ChildExit::Signal(libc::SIGKILL), false),
    ] {
        let (mock, mut running) = running();
        mock.exit(&[exited(SHELL, exit)], true);
        assert_eq!(running.settle(is_task), (!killed).then_some(true), "{is_task} {exit:?}");
        assert_eq!(mock.sent().contains(&Signal::SIGKILL), killed);
    }
}

#[test]
fn spared_children_are_in_no_signal() {
    let (mock, mut running) = running();
    running.spared = vec![CHILD];
    running.end(TerminationCause::Abort);
    running.kill(mock.pass(GRACE));
    assert_eq!(mock.0.borrow().spared, [[CHILD], [CHILD]]);
}

#[test]
fn the_end_of_a_task_names_the_strongest_signal_sent() {
    let end = |cause: Option<(TerminationCause, bool)>, exit: Option<ChildExit>| {
        let (mock, mut running) = running();
        running.shell_end = exit.map(|exit| (exit, MS));
        if let Some((cause, killed)) = cause {
            let killed = killed.then(|| mock.now());
            running.ending = Some(TreeTermination { cause, kill_at: mock.now(), killed, deferral: None });
        }
        running.end_as_task()
    };
    let signal = |name: &str, code| task::TaskEnd::Signal(name.into(), code);
    let exit = Some(ChildExit::Code(3));
    assert_eq!(end(None, exit), task::TaskEnd::Code(3));
    assert_eq!(end(None, Some(ChildExit::Signal(11))), signal("SIGSEGV", 139));
    assert_eq!(end(None, None), task::TaskEnd::Lost(task::TaskLoss::Unseen));
    assert_eq!(end(Some((TerminationCause::Itself, true)), exit), task::TaskEnd::Code(3));
    assert_eq!(end(Some((TerminationCause::Abort, false)), exit), signal("SIGTERM", 143));
    assert_eq!(end(Some((TerminationCause::Abort, true)), exit), signal("SIGKILL", 137));
    assert_eq!(end(Some((TerminationCause::Limit, false)), exit), signal("SIGTERM", 124));
    assert_eq!(end(Some((TerminationCause::Limit, true)), None), signal("SIGKILL", 124));
}
