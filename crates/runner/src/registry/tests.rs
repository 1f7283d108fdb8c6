//! The cursor, waits and settling, with a task whose shim is the test: it holds the lock of the log.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;
use crate::live::{TaskSource, describe_task, runs};
use crate::pattern::JsPattern;
use protocol::task::{Task, TaskEnd, TaskLog, TaskSpec, TaskState, TaskStore, work};

/// A task that the test keeps.
struct TestServedTask {
    log: TaskLog,
    task: Task,
    store: TaskStore,
}

impl TestServedTask {
    fn new(registry: &TaskRegistry, pid: i32) -> Self {
        let spec = registry.task_spec("x", "/", None, None);
        let store = registry.store().clone();
        let log = TaskLog::lock_and_continue(store.create_log(&spec.id).expect("made"), u64::MAX).expect("locked");
        let task = Task::begin(&spec, pid, pid, "mark", 1);
        store.write(&task).expect("written");
        Self { log, task, store }
    }

    fn id(&self) -> String {
        self.task.id.clone()
    }

    fn write(&mut self, text: &str) {
        self.log.write(text);
    }

    fn exit(mut self) {
        self.task.end(TaskEnd::Code(0), self.log.written());
        self.store.write(&self.task).expect("written");
        self.log.close(&self.task);
    }
}

pub(super) fn registry(max_tasks: usize) -> (Arc<TaskRegistry>, TempDir) {
    registry_for(max_tasks, Duration::from_secs(3_600))
}

fn registry_for(max_tasks: usize, retention: Duration) -> (Arc<TaskRegistry>, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    (registry_in(&directory, max_tasks, retention), directory)
}

fn registry_in(directory: &TempDir, max_tasks: usize, retention: Duration) -> Arc<TaskRegistry> {
    let options = RegistryOptions {
        dir: Some(directory.path().to_owned()),
        temp: directory.path().to_owned(),
        max_tasks,
        max_log_bytes: 1 << 20,
        retention,
    };
    TaskRegistry::open(options).expect("opened")
}

fn wait_for(pattern: &str) -> TaskWaitOptions {
    TaskWaitOptions { pattern: Some(JsPattern::new(pattern, "").expect("valid")), ..TaskWaitOptions::default() }
}

#[tokio::test]
async fn a_check_gives_each_output_once() {
    let (registry, _directory) = registry(8);
    let mut kept = TestServedTask::new(&registry, 700_001);
    kept.write("one\n");
    let first = registry.check(&kept.id(), None).await.expect("checked");
    assert_eq!((first.output.as_str(), first.new_lines, first.cursor), ("one\n", 1, 4));
    let again = registry.check("700001", None).await.expect("by its pid");
    assert_eq!((again.output.as_str(), again.cursor), ("", 4));
    kept.write("two\n");
    assert_eq!(registry.check(&kept.id(), None).await.expect("checked").output, "two\n");
}

#[tokio::test]
async fn a_cursor_of_the_caller_leaves_the_shared_one_alone() {
    let (registry, _directory) = registry(8);
    let mut kept = TestServedTask::new(&registry, 700_002);
    kept.write("one\ntwo\n");
    let own = registry.check(&kept.id(), Some(4)).await.expect("checked");
    assert_eq!((own.output.as_str(), own.cursor), ("two\n", 8));
    let beyond = registry.check(&kept.id(), Some(1_000)).await.expect("checked");
    assert_eq!((beyond.output.as_str(), beyond.cursor), ("", 8));
    assert_eq!(registry.check(&kept.id(), None).await.expect("checked").output, "one\ntwo\n");
}

#[tokio::test]
async fn the_closing_line_is_no_output() {
    let (registry, _directory) = registry(8);
    let mut kept = TestServedTask::new(&registry, 700_003);
    let id = kept.id();
    kept.write("last\n");
    kept.exit();
    let check = registry.check(&id, None).await.expect("checked");
    assert_eq!((check.output.as_str(), check.task.state), ("last\n", TaskState::Exited));
    assert_eq!(check.task.exit_code, Some(0));
}

#[tokio::test]
async fn a_wait_finds_unread_output_and_moves_the_shared_cursor() {
    let (registry, _directory) = registry(8);
    let mut kept = TestServedTask::new(&registry, 700_004);
    kept.write("read\n");
    registry.check(&kept.id(), None).await.expect("checked");
    kept.write("ready on port 3000\n");
    let (_open, given_up) = oneshot::channel();
    let found = registry.wait(&kept.id(), wait_for("port \\d+"), given_up).await.expect("waited");
    assert!(found.matched);
    assert_eq!(found.output, "ready on port 3000\n", "only what was not read before");
    let (_open, given_up) = oneshot::channel();
    let options = TaskWaitOptions { timeout: Some(Duration::ZERO), ..wait_for("port") };
    let read = registry.wait(&kept.id(), options, given_up).await.expect("waited");
    assert!(!read.matched && read.output.is_empty(), "read by the wait before");
}

#[tokio::test]
async fn a_wait_without_time_still_finds_what_is_there() {
    let (registry, _directory) = registry(8);
    let mut kept = TestServedTask::new(&registry, 700_005);
    kept.write("there\n");
    let (_open, given_up) = oneshot::channel();
    let options = TaskWaitOptions { timeout: Some(Duration::ZERO), ..wait_for("there") };
    assert!(registry.wait(&kept.id(), options, given_up).await.expect("waited").matched);
}

#[tokio::test]
async fn a_wait_ends_with_the_task() {
    let (registry, _directory) = registry(8);
    let kept = TestServedTask::new(&registry, 700_006);
    let id = kept.id();
    let ends = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        kept.exit();
    };
    let (_open, given_up) = oneshot::channel();
    let (waited, ()) = tokio::join!(registry.wait(&id, wait_for("never"), given_up), ends);
    let waited = waited.expect("waited");
    assert_eq!((waited.matched, waited.task.state), (false, TaskState::Exited));
}

#[tokio::test]
async fn a_wait_ends_with_its_time_and_when_the_caller_gives_it_up() {
    let (registry, _directory) = registry(8);
    let kept = TestServedTask::new(&registry, 700_007);
    let began = Instant::now();
    let (open, given_up) = oneshot::channel();
    let options = TaskWaitOptions { timeout: Some(Duration::from_millis(50)), ..TaskWaitOptions::default() };
    let timed_out = registry.wait(&kept.id(), options, given_up).await.expect("waited");
    assert!(!timed_out.matched && began.elapsed() >= Duration::from_millis(50));
    drop(open);
    let (open, given_up) = oneshot::channel();
    drop(open);
    assert!(!registry.wait(&kept.id(), wait_for("never"), given_up).await.expect("given up").matched);
}

#[tokio::test]
async fn a_wait_ends_when_its_port_accepts() {
    let (registry, _directory) = registry(8);
    let kept = TestServedTask::new(&registry, 700_008);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("bound");
    let port = Some(listener.local_addr().expect("an address").port());
    let (_open, given_up) = oneshot::channel();
    let options = TaskWaitOptions { port, ..TaskWaitOptions::default() };
    assert!(registry.wait(&kept.id(), options, given_up).await.expect("waited").matched);
}

#[tokio::test]
async fn a_task_whose_shim_is_gone_is_lost() {
    let (registry, _directory) = registry(8);
    let kept = TestServedTask::new(&registry, 700_009);
    let id = kept.id();
    let state = |registry: &TaskRegistry| registry.find(&id).map(|(task, _)| task.state).expect("found");
    assert_eq!(state(&registry), TaskState::Running);
    drop(kept);
    let listed = registry.list().expect("open");
    assert_eq!(listed.iter().map(|task| task.state).collect::<Vec<_>>(), [TaskState::Lost]);
    assert_eq!(state(&registry), TaskState::Lost);
}

#[tokio::test]
async fn a_task_that_is_being_read_is_swept_after_that() {
    let (registry, _directory) = registry_for(8, Duration::ZERO);
    let mut kept = TestServedTask::new(&registry, 1);
    kept.write("last words\n");
    let id = kept.id();
    let (_, reading) = registry.find(&id).expect("found");
    kept.exit();
    tokio::time::sleep(Duration::from_millis(2)).await;
    registry.sweep();
    let check = registry.check(&id, None).await.expect("still there");
    assert_eq!(check.output, "last words\n");
    drop(reading);
    let until = Instant::now() + Duration::from_secs(10);
    while registry.check(&id, None).await.is_ok() {
        assert!(Instant::now() < until, "never swept");
    }
}

#[tokio::test]
async fn running_and_reserved_tasks_count_and_ended_ones_do_not() {
    let (registry, _directory) = registry(2);
    let kept = TestServedTask::new(&registry, 700_010);
    registry.list().expect("scanned");
    let reservation = registry.reserve("t000000000001").expect("one more");
    assert!(matches!(registry.reserve("t000000000002"), Err(RegistryError::TooManyTasks(2))));
    drop(reservation);
    let _other = registry.reserve("t000000000003").expect("free again");
    kept.exit();
    registry.list().expect("scanned");
    registry.reserve("t000000000004").expect("the task has ended");
}

#[tokio::test]
async fn what_is_unknown_or_closed_is_an_error() {
    let (registry, _directory) = registry(8);
    for named in ["t000000000000", "4242424", "-1", ""] {
        let error = registry.check(named, None).await.expect_err("unknown");
        assert!(matches!(error, RegistryError::UnknownTask { .. }), "{named}: {error}");
    }
    registry.close_without_waiting();
    assert!(matches!(registry.list(), Err(RegistryError::Closed)));
    assert!(matches!(registry.reserve("t1"), Err(RegistryError::Closed)));
}

#[tokio::test]
async fn a_task_elsewhere_is_read_and_never_ended_from_here() {
    let (registry, _directory) = registry(1);
    let mut kept = TestServedTask::new(&registry, 700_011);
    kept.write("so far\n");
    kept.task.machine.boot.push('x');
    kept.task.machine.host_name = Some("other".into());
    kept.store.write(&kept.task).expect("written");
    let (id, log) = (kept.id(), kept.store.log_path(&kept.id()));
    drop(kept);
    let listed = registry.list().expect("open");
    assert_eq!(listed.iter().map(|task| task.state).collect::<Vec<_>>(), [TaskState::Running]);
    let notes = registry.notes();
    assert!(notes[0].starts_with(&format!("task {id}: it runs elsewhere")) && notes[0].contains("other"), "{notes:?}");
    assert_eq!(registry.check(&id, None).await.expect("read").output, "so far\n");
    let error = registry.kill(&id).await.expect_err("not ours");
    assert!(matches!(error, RegistryError::Elsewhere { .. }), "{error}");
    registry.reserve("t000000000001").expect("it takes no place of ours");
    assert_eq!(std::fs::read_to_string(log).expect("there"), "so far\n");
}

#[tokio::test]
async fn people_see_the_tasks_of_this_machine_that_run() {
    let (registry, _directory) = registry(8);
    first_sweep(&registry).await;
    let ids = |fresh| registry.running(fresh).into_iter().map(|task| task.id).collect::<Vec<_>>();
    let (mut kept, mut elsewhere) = (TestServedTask::new(&registry, 700_012), TestServedTask::new(&registry, 700_013));
    elsewhere.task.machine.boot.push('x');
    elsewhere.task.machine.host_name = Some("other".into());
    elsewhere.store.write(&elsewhere.task).expect("written");
    let id = kept.id();
    assert_eq!(ids(false), Vec::<String>::new(), "tasks of other processes are found by a look into the directory");
    assert_eq!(ids(true), std::slice::from_ref(&id));
    assert_eq!(ids(false), std::slice::from_ref(&id));
    kept.write("so far\n");
    let run = describe_task(&registry.task(&id).expect("known"), &*registry, None, None);
    assert_eq!((run.key.as_str(), run.last_line.as_str(), run.pid), (id.as_str(), "so far", Some(700_012)));
    kept.exit();
    assert_eq!(ids(true), Vec::<String>::new());
    assert_eq!(registry.task(&id).map(|task| task.state), Some(TaskState::Exited));
}

#[tokio::test]
async fn a_log_is_read_to_its_end_before_its_task_has_ended() {
    let (registry, _directory) = registry(8);
    let mut kept = TestServedTask::new(&registry, 700_014);
    kept.write("one\n");
    let id = kept.id();
    let read = || registry.readable(&id).map(|(task, _, end)| (task.state, end)).expect("there");
    assert_eq!(read(), (TaskState::Running, 4));
    kept.task.end(TaskEnd::Code(0), kept.log.written());
    kept.store.write(&kept.task).expect("written");
    assert_eq!(read(), (TaskState::Running, 4), "the closing line is still to come");
    kept.log.close(&kept.task);
    assert_eq!(read(), (TaskState::Exited, 4), "without the closing line");
    assert!(registry.readable("t000000000001").is_none());
}

#[tokio::test]
async fn people_find_the_registries_that_live() {
    let (registry, _directory) = registry(8);
    let kept = TestServedTask::new(&registry, 700_015);
    let id = kept.id();
    let is_found = || runs().task_sources().iter().any(|source| source.task(&id).is_some());
    assert!(is_found());
    drop(registry);
    // Its first sweep may go on.
    let until = Instant::now() + Duration::from_secs(10);
    while is_found() {
        assert!(Instant::now() < until, "it lives on");
    }
}

/// Waits for the end of the sweep that follows the opening of a directory.
async fn first_sweep(registry: &TaskRegistry) {
    let until = Instant::now() + Duration::from_secs(10);
    while registry.lock_state().swept.is_none() {
        assert!(Instant::now() < until, "never swept");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Returns the files that calls look at on the caller's thread, in a directory with this number of ended tasks.
async fn work_beside(ended: usize) -> [usize; 4] {
    let directory = tempfile::tempdir().expect("a directory");
    let store = TaskStore::open(directory.path()).expect("opened");
    let spec = |id: &str| TaskSpec { folder: store.path().to_owned(), ..TaskSpec::sample(id) };
    for at in 0..ended {
        let mut task = Task::begin(&spec(&format!("t{at:012}")), 700_100, 700_100, "mark", 1);
        drop(store.create_log(&task.id).expect("made"));
        store.write(&task).expect("written while it runs");
        task.end(TaskEnd::Code(0), 0);
        store.write(&task).expect("written");
    }
    assert_eq!(store.running_ids().expect("listed"), Vec::<String>::new());
    work::take();
    let registry = registry_in(&directory, 8, Duration::from_secs(3_600));
    let opened = work::take();
    first_sweep(&registry).await;
    let _place = registry.reserve("t0000000000ff").expect("free");
    let reserved = work::take();
    let mut kept = TestServedTask::new(&registry, 700_016);
    kept.write("out\n");
    work::take();
    assert_eq!(registry.check(&kept.id(), None).await.expect("checked").output, "out\n");
    assert_eq!(registry.check("700016", None).await.expect("by its pid").output, "");
    let checked = work::take();
    let id = kept.id();
    kept.exit();
    work::take();
    assert_eq!(registry.check(&id, None).await.expect("checked").task.state, TaskState::Exited);
    [opened, reserved, checked, work::take()]
}

#[tokio::test]
async fn the_work_of_a_call_does_not_grow_with_the_tasks_that_have_ended() {
    assert_eq!(work_beside(10).await, work_beside(200).await);
}

#[tokio::test]
async fn an_ended_task_of_another_process_is_found_by_its_id_and_by_its_pid() {
    let (registry, _directory) = registry(8);
    for (pid, by_pid) in [(700_017, false), (700_018, true)] {
        let kept = TestServedTask::new(&registry, pid);
        let id = kept.id();
        kept.exit();
        let named = if by_pid { pid.to_string() } else { id.clone() };
        assert_eq!(registry.check(&named, None).await.expect("found").task.id, id);
        registry.store().remove(&id);
        for named in [id, pid.to_string()] {
            let error = registry.check(&named, None).await.expect_err("removed");
            assert!(matches!(error, RegistryError::UnknownTask { .. }), "{error}");
        }
    }
}

#[tokio::test]
async fn a_start_sweeps_when_a_task_can_be_old() {
    let (registry, _directory) = registry_for(8, Duration::from_millis(200));
    registry.sweep();
    let kept = TestServedTask::new(&registry, 700_019);
    let id = kept.id();
    kept.exit();
    assert!(registry.check(&id, None).await.is_ok());
    let until = Instant::now() + Duration::from_secs(10);
    while registry.store().stamp_of(&id).is_some() {
        assert!(Instant::now() < until, "never swept");
        tokio::time::sleep(Duration::from_millis(20)).await;
        registry.sweep_when_due();
    }
}

#[tokio::test]
async fn the_mark_of_a_task_whose_shim_was_killed_goes_when_its_end_is_seen() {
    let (registry, directory) = registry(8);
    let kept = TestServedTask::new(&registry, 700_020);
    let (id, mark) = (kept.id(), directory.path().join("tasks/running").join(kept.id()));
    assert!(mark.exists());
    kept.exit();
    std::fs::write(&mark, "").expect("left behind");
    let _place = registry.reserve("t0000000000ff").expect("free");
    assert!(!mark.exists());
    assert_eq!(registry.check(&id, None).await.expect("found").task.state, TaskState::Exited);
}
