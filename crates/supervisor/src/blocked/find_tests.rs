//! Hand-drawn trees of processes, and the process that must be named, if any.

use super::find::find_blocked;
use protocol::BlockedOn;
use sys::{OpenFile, OpenFileKind, ProcessActivity, ThreadActivity};

const TTY: &str = "/dev/pts/5";

/// Returns a process with this pid, parent and activity.
fn process(pid: i32, parent: i32, calls: &[ThreadActivity]) -> ProcessActivity {
    ProcessActivity {
        pid,
        parent,
        group: 1,
        calls: Some(calls.to_vec()),
        name: "it".into(),
        ..ProcessActivity::default()
    }
}

fn with(mut one: ProcessActivity, fd: i32, file: OpenFileKind, name: &str, mode: &str) -> ProcessActivity {
    let (reads, writes) = (mode.contains('r'), mode.contains('w'));
    one.files.push(OpenFile { fd, name: name.into(), file, reads, writes });
    one
}

fn on_terminal(one: ProcessActivity) -> ProcessActivity {
    with(one, 0, OpenFileKind::Terminal, TTY, "rw")
}

fn reader(pid: i32, parent: i32, pipe: &str) -> ProcessActivity {
    with(process(pid, parent, &[ThreadActivity::Read(0)]), 0, OpenFileKind::Pipe, pipe, "r")
}

fn poll(reads: &[i32], timed: bool) -> ThreadActivity {
    ThreadActivity::Poll { reads: reads.to_vec(), writes: Vec::new(), timed }
}

const CHILDREN: ThreadActivity = ThreadActivity::Child(None);
const TERMINAL: BlockedOn = BlockedOn::Terminal(0);

fn found(seen: &[ProcessActivity]) -> Option<(i32, BlockedOn)> {
    find_blocked(1, seen).filter(|found| found.3).map(|(pid, on, ..)| (pid, on))
}

#[test]
fn the_deepest_reader_of_a_terminal() {
    let shell = on_terminal(process(1, 0, &[CHILDREN]));
    let inner = on_terminal(process(2, 1, &[CHILDREN]));
    let cat = on_terminal(process(3, 2, &[ThreadActivity::Read(0)]));
    assert_eq!(found(&[shell, inner, cat]), Some((3, TERMINAL)));
}

#[test]
fn a_shell_that_reads_itself_needs_none_of_its_children() {
    let shell = on_terminal(process(1, 0, &[ThreadActivity::Read(0)]));
    assert_eq!(found(&[shell, process(2, 1, &[ThreadActivity::Busy])]), Some((1, TERMINAL)));
}

#[test]
fn whoever_needs_somebody_slow_is_slow() {
    let shell = process(1, 0, &[CHILDREN]);
    let sleep = with(process(2, 1, &[ThreadActivity::Busy]), 1, OpenFileKind::Pipe, "pipe:[1]", "w");
    assert_eq!(found(&[shell.clone(), sleep.clone()]), None, "a child");
    assert_eq!(found(&[shell.clone(), sleep.clone(), reader(3, 1, "pipe:[1]")]), None, "a pipeline");
    let substitution = with(process(1, 0, &[ThreadActivity::Read(3)]), 3, OpenFileKind::Pipe, "pipe:[1]", "r");
    assert_eq!(found(&[substitution, sleep]), None, "a command substitution");
    assert_eq!(found(&[shell, reader(3, 1, "pipe:[9]")]), None, "who writes to that pipe is not of the command");
}

#[test]
fn a_pipeline_hangs_with_its_first_reader() {
    let shell = on_terminal(process(1, 0, &[CHILDREN]));
    let first = with(on_terminal(process(2, 1, &[ThreadActivity::Read(0)])), 1, OpenFileKind::Pipe, "pipe:[1]", "w");
    let second = with(reader(3, 1, "pipe:[1]"), 1, OpenFileKind::Pipe, "pipe:[2]", "w");
    let found = find_blocked(1, &[shell, first, second, reader(4, 1, "pipe:[2]")]);
    assert_eq!(found, Some((2, TERMINAL, 0, true)));
}

#[test]
fn a_pager_that_is_not_read_on_holds_up_its_writer() {
    let shell = on_terminal(process(1, 0, &[CHILDREN]));
    let writer = with(process(2, 1, &[ThreadActivity::Write(1)]), 1, OpenFileKind::Pipe, "pipe:[1]", "w");
    let pager = with(process(3, 1, &[ThreadActivity::Read(3)]), 0, OpenFileKind::Pipe, "pipe:[1]", "r");
    let pager = with(pager, 3, OpenFileKind::Terminal, "/dev/tty", "r");
    assert_eq!(found(&[shell.clone(), writer, pager]), Some((3, BlockedOn::Terminal(3))));
    let to_the_host = with(process(2, 1, &[ThreadActivity::Write(1)]), 1, OpenFileKind::Pipe, "pipe:[7]", "w");
    assert_eq!(found(&[shell, to_the_host]), None);
}

#[test]
fn a_fifo_that_only_a_sleep_holds() {
    let shell = process(1, 0, &[CHILDREN]);
    let holder = |name: &str| {
        let one = ProcessActivity { name: name.into(), ..process(2, 1, &[ThreadActivity::Busy]) };
        with(one, 1, OpenFileKind::Other, "/tmp/p", "w")
    };
    let cat = with(process(3, 1, &[ThreadActivity::Read(3)]), 3, OpenFileKind::Fifo, "/tmp/p", "r");
    let on = BlockedOn::Fifo(3, "/tmp/p".into());
    assert_eq!(found(&[shell.clone(), holder("sleep"), cat.clone()]), Some((3, on)));
    assert_eq!(found(&[shell, holder("bash"), cat]), None);
}

#[test]
fn a_pipe_that_only_a_long_sleep_holds() {
    let shell = process(1, 0, &[CHILDREN]);
    let holder = |name: &str, parent: i32, call: ThreadActivity| {
        let one = ProcessActivity { name: name.into(), ..process(2, parent, &[call]) };
        with(one, 1, OpenFileKind::Pipe, "pipe:[1]", "w")
    };
    let cat = reader(3, 1, "pipe:[1]");
    let on = |fd| Some((3, BlockedOn::Pipe(fd)));
    let long = || holder("sleep", 1, ThreadActivity::Asleep);
    assert_eq!(found(&[shell.clone(), long(), cat.clone()]), on(0));
    assert_eq!(found(&[shell.clone(), holder("sleep", 1, ThreadActivity::Signal), cat.clone()]), on(0), "infinity");
    assert_eq!(found(&[shell.clone(), holder("sleep", 1, ThreadActivity::Busy), cat.clone()]), None, "a short one");
    assert_eq!(found(&[shell.clone(), holder("bash", 1, ThreadActivity::Asleep), cat.clone()]), None, "another one");
    let polls = with(process(3, 1, &[poll(&[0], false)]), 0, OpenFileKind::Pipe, "pipe:[1]", "r");
    assert_eq!(found(&[shell.clone(), long(), polls]), on(0));
    // `(sleep 300; echo) | cat`
    let group = with(process(4, 1, &[CHILDREN]), 1, OpenFileKind::Pipe, "pipe:[1]", "w");
    assert_eq!(found(&[shell.clone(), group, holder("sleep", 4, ThreadActivity::Asleep), cat.clone()]), None);
    // `x=$(sleep 300)`
    let substitution = with(process(1, 0, &[ThreadActivity::Read(3)]), 3, OpenFileKind::Pipe, "pipe:[1]", "r");
    assert_eq!(found(&[substitution, long()]), None);
    let other = process(5, 1, &[ThreadActivity::Busy]);
    assert_eq!(found(&[shell, long(), cat, other]), None, "another one works");
}

#[test]
fn a_fifo_that_its_reader_and_the_shell_hold() {
    let shell = with(process(1, 0, &[CHILDREN]), 3, OpenFileKind::Other, "/tmp/p", "rw");
    let cat = with(process(2, 1, &[ThreadActivity::Read(0)]), 0, OpenFileKind::Fifo, "/tmp/p", "rw");
    assert_eq!(found(&[shell, cat]), Some((2, BlockedOn::Fifo(0, "/tmp/p".into()))));
}

#[test]
fn an_open_that_nobody_answers() {
    let open = |writes| ThreadActivity::Open { path: "/tmp/p".into(), writes };
    assert_eq!(found(&[process(1, 0, &[open(false)])]), Some((1, BlockedOn::Writer("/tmp/p".into()))));
    assert_eq!(found(&[process(1, 0, &[open(true)])]), Some((1, BlockedOn::Reader("/tmp/p".into()))));
    // The shell may open the other end.
    let shell = process(1, 0, &[CHILDREN]);
    assert_eq!(found(&[shell, process(2, 1, &[open(false)]), process(3, 1, &[ThreadActivity::Busy])]), None);
}

#[test]
fn a_loop_of_events_on_a_terminal_alone() {
    let own = |one| with(one, 7, OpenFileKind::Own, "anon_inode:[eventfd]", "rw");
    let threads = [
        poll(&[0, 7], false),
        ThreadActivity::Idle { timed: false },
        poll(&[7], false),
        ThreadActivity::Idle { timed: true },
    ];
    let repl = own(on_terminal(process(1, 0, &threads)));
    assert_eq!(found(&[repl]), Some((1, TERMINAL)));
    let serves =
        with(own(on_terminal(process(1, 0, &[poll(&[0, 7, 9], false)]))), 9, OpenFileKind::Other, "socket:[3]", "rw");
    assert_eq!(found(&[serves]), None);
    let works = own(on_terminal(process(1, 0, &[poll(&[0, 7], false), ThreadActivity::Busy])));
    assert_eq!(found(&[works]), None);
    assert_eq!(found(&[own(process(1, 0, &[poll(&[7], false)]))]), None, "only itself could wake it");
}

#[test]
fn who_soon_goes_on_by_itself_is_not_sure() {
    let top = on_terminal(process(1, 0, &[poll(&[0], true)]));
    assert_eq!(find_blocked(1, &[top]), Some((1, TERMINAL, 0, false)));
    assert_eq!(find_blocked(1, &[process(1, 0, &[ThreadActivity::Idle { timed: true }])]), None);
}

#[test]
fn who_may_not_be_looked_at_is_not_sure() {
    let shell = process(1, 0, &[CHILDREN]);
    let sudo = ProcessActivity { calls: None, ..process(2, 1, &[]) };
    assert_eq!(find_blocked(1, &[shell.clone(), sudo.clone()]), Some((2, BlockedOn::Unknown, 0, false)));
    assert_eq!(find_blocked(1, &[shell, sudo, process(3, 1, &[ThreadActivity::Busy])]), None);
}

#[test]
fn a_stopped_process() {
    let shell = on_terminal(process(1, 0, &[CHILDREN]));
    let stopped = |group| ProcessActivity { stopped: true, group, foreground: Some(1), ..process(2, 1, &[]) };
    assert_eq!(found(&[shell.clone(), stopped(2)]), Some((2, BlockedOn::Continue(true))));
    assert_eq!(found(&[shell.clone(), stopped(1)]), Some((2, BlockedOn::Continue(false))));
    assert_eq!(found(&[shell, stopped(1), process(3, 1, &[ThreadActivity::Busy])]), None, "another one works");
}

#[test]
fn a_stopped_job_beside_a_slow_process() {
    let slow = process(3, 1, &[ThreadActivity::Busy]);
    let stopped = |pid, group, foreground| ProcessActivity { stopped: true, group, foreground, ..process(pid, 1, &[]) };
    let shell = process(1, 0, &[CHILDREN]);
    let found = |job: ProcessActivity| find_blocked(1, &[shell.clone(), job, slow.clone()]);
    assert_eq!(found(stopped(2, 2, Some(3))), Some((2, BlockedOn::Continue(true), 0, true)), "it wanted the terminal");
    assert_eq!(found(stopped(2, 2, None)), Some((2, BlockedOn::Continue(false), 0, true)), "without a terminal");
    assert_eq!(found(stopped(2, 1, None)), None, "no job of its own");
    let two = find_blocked(1, &[shell.clone(), stopped(2, 2, None), stopped(4, 4, None), slow.clone()]);
    assert_eq!(two, Some((2, BlockedOn::Continue(false), 1, true)));
}

#[test]
fn the_one_in_front_of_the_terminal_is_named_and_the_others_counted() {
    let shell = on_terminal(process(1, 0, &[CHILDREN]));
    let behind = ProcessActivity { stopped: true, group: 2, foreground: Some(3), ..process(2, 1, &[]) };
    let front =
        ProcessActivity { group: 3, foreground: Some(3), ..on_terminal(process(3, 1, &[ThreadActivity::Read(0)])) };
    assert_eq!(find_blocked(1, &[shell, behind, front]), Some((3, TERMINAL, 1, true)));
}

#[test]
fn what_a_shell_runs_in_its_background_is_not_waited_for() {
    let shell = on_terminal(process(1, 0, &[CHILDREN]));
    let server = with(process(2, 1, &[ThreadActivity::Busy]), 0, OpenFileKind::Null, "/dev/null", "r");
    let cat = on_terminal(process(3, 1, &[ThreadActivity::Read(0)]));
    assert_eq!(found(&[shell.clone(), server.clone(), cat]), Some((3, TERMINAL)));
    assert_eq!(found(&[shell, server]), None, "but there has to be somebody who is");
}

#[test]
fn a_command_without_input_asks_through_its_terminal() {
    let without_input = |pid, parent, call| {
        let one = with(process(pid, parent, &[call]), 0, OpenFileKind::Null, "/dev/null", "r");
        with(one, 3, OpenFileKind::Terminal, "/dev/tty", "r")
    };
    let shell = on_terminal(process(1, 0, &[CHILDREN]));
    let asking = without_input(2, 1, ThreadActivity::Read(3));
    let tty = BlockedOn::Terminal(3);
    assert_eq!(found(&[shell.clone(), asking.clone()]), Some((2, tty.clone())));
    let below = [shell.clone(), without_input(2, 1, CHILDREN), without_input(3, 2, poll(&[3], false))];
    assert_eq!(found(&below), Some((3, tty)));
    assert_eq!(found(&[shell.clone(), asking, process(4, 1, &[ThreadActivity::Busy])]), None, "another one works");
    assert_eq!(found(&[shell, without_input(2, 1, ThreadActivity::Busy)]), None);
}

#[test]
fn the_other_side_of_a_terminal_hangs_with_those_who_use_it() {
    let script = |user: &ProcessActivity| {
        let master = with(process(1, 0, &[ThreadActivity::Read(4)]), 4, OpenFileKind::Master(5), "/dev/ptmx", "rw");
        found(&[master, user.clone()])
    };
    assert_eq!(script(&on_terminal(process(2, 1, &[ThreadActivity::Read(0)]))), Some((2, TERMINAL)));
    assert_eq!(script(&on_terminal(process(2, 1, &[ThreadActivity::Busy]))), None);
}

#[test]
fn a_circle_names_one_of_those_who_read() {
    let shell = with(process(1, 0, &[ThreadActivity::Read(3)]), 3, OpenFileKind::Pipe, "pipe:[1]", "r");
    let shell = with(shell, 4, OpenFileKind::Pipe, "pipe:[2]", "w");
    let child = with(reader(2, 1, "pipe:[2]"), 1, OpenFileKind::Pipe, "pipe:[1]", "w");
    assert_eq!(found(&[shell, child]), Some((2, BlockedOn::Pipe(0))));
}

#[test]
fn a_pipe_that_only_its_reader_holds() {
    let both = |calls: &[ThreadActivity]| {
        let one = with(process(1, 0, calls), 3, OpenFileKind::Pipe, "pipe:[1]", "r");
        with(one, 4, OpenFileKind::Pipe, "pipe:[1]", "w")
    };
    assert_eq!(found(&[both(&[ThreadActivity::Read(3)])]), Some((1, BlockedOn::Pipe(3))));
    assert_eq!(
        found(&[both(&[ThreadActivity::Read(3), ThreadActivity::Idle { timed: false }])]),
        None,
        "another thread may write"
    );
    assert_eq!(found(&[both(&[poll(&[3], false)])]), None, "it wakes itself from signals");
}
