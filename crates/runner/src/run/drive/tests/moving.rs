//! The move to the background, and the early exit code in a session.

use super::*;
use crate::registry::{RegistryError, TASK_LIMIT};
use protocol::task::TaskStore;

/// Returns a command that moves to the background after 5 s, and the directory of its registry.
fn moving(max_tasks: usize) -> (RawOptions, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let options = RegistryOptions {
        dir: Some(directory.path().to_owned()),
        temp: directory.path().to_owned(),
        max_tasks,
        max_log_bytes: 1 << 20,
        retention: Duration::from_secs(60),
    };
    let registry = Some(TaskRegistry::open(options).expect("opened"));
    (RawOptions { registry, timeout_ms: Some(5_000.0), ..raw() }, directory)
}

/// Returns the logs in a directory.
fn logs(store: &TaskStore) -> Vec<std::path::PathBuf> {
    let paths = std::fs::read_dir(store.path()).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|kind| kind == "log")).collect()
}

fn task(id: &str) -> Task {
    Task::begin(&TaskSpec::sample(id), 7, 7, "mark", 0)
}

#[tokio::test(start_paused = true)]
async fn a_command_moves_to_its_shim_at_its_limit_with_the_beginning_of_its_log() {
    let (raw, _directory) = moving(1);
    let store = raw.registry.as_ref().expect("there").store().clone();
    let (driven, ends) = drive(raw, async |ends| {
        ends.start();
        ends.write("first\n");
        sleep(Duration::from_millis(5_001)).await;
        assert_eq!(ends.asked(), ["hand over x"]);
        ends.reply(CallerReply::Abort);
        sleep(Duration::from_millis(1)).await;
        assert_eq!(ends.asked(), ["hand over x"], "a command that is becoming a task is none of the caller's any more");
        ends.send(ShimEvent::Task(Box::new(task("t1"))));
    })
    .await;
    assert_eq!(driven.task.map(|task| task.id).as_deref(), Some("t1"));
    assert_eq!(driven.exit, None);
    drop(ends);
    assert_eq!(std::fs::read_to_string(&logs(&store)[0]).expect("read"), "first\n");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_refused_stays_and_is_terminated() {
    let (raw, _directory) = moving(1);
    let store = raw.registry.as_ref().expect("there").store().clone();
    let (driven, ends) = drive(raw, async |ends| {
        ends.start();
        sleep(Duration::from_millis(5_001)).await;
        ends.send(ShimEvent::Refused(libc::ENOSPC));
        sleep(Duration::from_millis(1)).await;
        ends.stdout = None;
        ends.exit(TerminationCause::Limit, false);
    })
    .await;
    assert_eq!(ends.asked(), ["hand over x", "terminate at limit"]);
    let note = "the command could not be moved to the background, and was ended at its limit: No space left";
    assert!(driven.notes[0].starts_with(note), "{:?}", driven.notes);
    assert!(logs(&store).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_full_registry_keeps_the_command_in_the_foreground() {
    let (raw, _directory) = moving(0);
    let (driven, ends) = drive(raw, async |ends| {
        ends.start();
        sleep(Duration::from_millis(5_001)).await;
        ends.stdout = None;
        ends.exit(TerminationCause::Limit, false);
    })
    .await;
    assert_eq!(ends.asked(), ["terminate at limit"]);
    assert!(driven.notes[0].contains("0 tasks run already"), "{:?}", driven.notes);
}

#[tokio::test(start_paused = true)]
async fn a_shim_that_does_not_take_a_command_over_is_given_up() {
    let (raw, _directory) = moving(1);
    let (driven, _) = drive(raw, async |ends| ends.start()).await;
    assert_eq!(driven.exit, Some(Err(ExitUnknown::AliveAfterLimit)));
    assert_took(driven.elapsed, 5_000 + 10_000);
}

#[tokio::test(start_paused = true)]
async fn an_exit_before_the_answer_of_the_shim_is_the_end() {
    let (raw, _directory) = moving(1);
    let (driven, _) = drive(raw, async |ends| {
        ends.start();
        sleep(Duration::from_millis(5_001)).await;
        ends.write("last\n");
        ends.stdout = None;
        ends.exit(TerminationCause::Itself, false);
    })
    .await;
    assert!(matches!(driven.exit, Some(Ok(_))) && driven.task.is_none());
    assert_eq!(driven.stdout, "last\n", "read after the move was called off");
    assert!(millis(&driven) < 6_000, "read at once: {}", millis(&driven));
}

#[tokio::test(start_paused = true)]
async fn a_silent_command_moves_before_its_limit() {
    let (raw, _directory) = moving(1);
    let (driven, ends) = drive(RawOptions { idle_timeout_ms: Some(2_000.0), ..raw }, async |ends| {
        ends.start();
        sleep(Duration::from_millis(2_001)).await;
        ends.send(ShimEvent::Task(Box::new(task("t1"))));
    })
    .await;
    assert_eq!(ends.asked(), ["hand over x"]);
    assert_eq!(driven.task.map(|task| task.id).as_deref(), Some("t1"));
    assert!(driven.notes[0].starts_with("silence: "), "{:?}", driven.notes);
}

#[tokio::test(start_paused = true)]
async fn an_exit_or_an_abort_before_the_limit_moves_nothing() {
    for (cause, asked) in [(TerminationCause::Itself, vec![]), (TerminationCause::Abort, vec!["terminate"])] {
        let (raw, _directory) = moving(1);
        let store = raw.registry.as_ref().expect("there").store().clone();
        let (driven, ends) = drive(raw, async |ends| {
            ends.start();
            ends.write("so far\n");
            sleep(Duration::from_millis(4_999)).await;
            if cause == TerminationCause::Abort {
                ends.reply(CallerReply::Abort);
                sleep(Duration::from_millis(1_000)).await;
            }
            ends.close();
            ends.exit(cause, false);
        })
        .await;
        assert_eq!((ends.asked(), driven.stdout.as_str()), (asked.into_iter().map(String::from).collect(), "so far\n"));
        assert!(driven.task.is_none() && logs(&store).is_empty(), "{cause:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_killed_at_its_limit_is_not_moved_though_it_has_a_registry() {
    let (raw, _directory) = moving(1);
    let (driven, ends) =
        drive(RawOptions { on_timeout: crate::request::OnTimeout::Kill, ..raw }, async |ends| ends.start()).await;
    assert!(ends.asked().is_empty(), "the shim keeps the limit itself");
    assert_took(driven.elapsed, 5_000 + 2_000 + 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_busy_listener_does_not_delay_the_move_and_gets_all_that_was_read() {
    let (raw, _directory) = moving(1);
    let store = raw.registry.as_ref().expect("there").store().clone();
    let (driven, ends) = drive(RawOptions { live: true, ..raw }, async |ends| {
        ends.start();
        ends.flood().await;
        sleep(Duration::from_millis(5_001 - 4)).await;
        assert_eq!(ends.asked(), ["hand over x"]);
        ends.send(ShimEvent::Task(Box::new(task("t1"))));
        for _ in 0..5 {
            sleep(Duration::from_secs(60)).await;
            ends.reply(CallerReply::OutputTaken(None));
        }
    })
    .await;
    assert_took(driven.elapsed, 5_001);
    let heard: usize = ends.heard().iter().map(|line| line[8..].parse::<usize>().expect("a length")).sum();
    let log = std::fs::read_to_string(&logs(&store)[0]).expect("read");
    assert_eq!(heard, log.len(), "the shim reads the rest");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_becoming_a_task_takes_a_place() {
    let (raw, _directory) = moving(1);
    let registry = std::sync::Arc::clone(raw.registry.as_ref().expect("there"));
    drive(raw, async |ends| {
        ends.start();
        sleep(Duration::from_millis(4_999)).await;
        drop(registry.reserve("t000000000001").expect("free until the limit"));
        sleep(Duration::from_millis(2)).await;
        assert!(matches!(registry.reserve("t000000000001"), Err(RegistryError::TooManyTasks(1))));
        ends.close();
        ends.exit(TerminationCause::Itself, false);
    })
    .await;
    registry.reserve("t000000000001").expect("free again");
}

#[test]
fn a_moved_command_has_the_time_limit_of_tasks_and_may_be_silent() {
    let (raw, _directory) = moving(1);
    let request = PlannedRun::check(RawOptions { idle_timeout_ms: Some(500.0), ..raw }).expect("valid");
    assert_eq!(request.shim_limit(), Some(TASK_LIMIT), "the addon hands it over at its own limit");
    let later = request.later_task().expect("a registry");
    assert_eq!((u128::from(later.limit_ms), later.idle_ms), (TASK_LIMIT.as_millis(), None));
    let own = request.own_task().expect("a registry");
    assert_eq!((own.limit_ms, own.idle_ms), (5_000, Some(500)), "as a task from its start");
}

#[tokio::test(start_paused = true)]
async fn a_shell_that_starts_after_its_limit_moves_at_once() {
    let (raw, _directory) = moving(1);
    let (driven, _) = drive(raw, async |ends| {
        sleep(Duration::from_secs(6)).await;
        assert!(ends.asked().is_empty(), "no process is there to be moved");
        ends.start();
        sleep(Duration::from_millis(1)).await;
        assert_eq!(ends.asked(), ["hand over x"]);
        ends.send(ShimEvent::Task(Box::new(task("t1"))));
    })
    .await;
    assert_took(driven.elapsed, 6_001);
}

/// Returns a process that stands for a shell, and the report of its command.
async fn report(play: impl AsyncFnOnce(&mut DriverTestPeers, &mut File)) -> DrivenCommand {
    let (read, write) = sys::pipe().expect("a pipe");
    sys::set_nonblocking(&read).expect("set");
    let mut shell = std::process::Command::new("sleep").arg("60").spawn().expect("started");
    let pid = i32::try_from(shell.id()).expect("a pid");
    let (driven, _) = drive_reporting(raw(), Some(read), async |ends| {
        ends.send(ShimEvent::Started(pid));
        play(ends, &mut write.into()).await;
    })
    .await;
    shell.kill().expect("killed");
    shell.wait().expect("gone");
    driven
}

#[tokio::test(start_paused = true)]
async fn a_shell_that_saves_its_state_does_not_delay_the_result() {
    let driven = report(async |ends, pipe| {
        sleep(Duration::from_millis(1)).await;
        ends.write("all\n");
        pipe.write_all(b"3\0/tmp\0").expect("written");
    })
    .await;
    assert!(
        matches!(
            driven.exit,
            Some(Ok(ShellExitReport { end: ChildExit::Code(3), cause: TerminationCause::Itself, .. }))
        ),
        "{:?}",
        driven.exit
    );
    assert_eq!(driven.stdout, "all\n", "with all output that was there");
}

#[tokio::test(start_paused = true)]
async fn the_report_of_a_shell_that_is_terminated_is_not_believed() {
    let driven = report(async |ends, pipe| {
        ends.reply(CallerReply::Abort);
        sleep(Duration::from_millis(1)).await;
        pipe.write_all(b"0\0/tmp\0").expect("written");
        sleep(Duration::from_millis(1)).await;
        ends.stdout = None;
        ends.exit(TerminationCause::Abort, false);
    })
    .await;
    assert!(
        matches!(driven.exit, Some(Ok(ShellExitReport { cause: TerminationCause::Abort, .. }))),
        "{:?}",
        driven.exit
    );
}
