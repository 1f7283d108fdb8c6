//! The move to the background, and the early exit code in a session.

use super::*;

/// A command that moves to the background after 5 s, and the directory of its registry.
fn moving(max_tasks: usize) -> (RawOptions, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let options = RegistryOptions {
        dir: Some(directory.path().to_owned()),
        temp: directory.path().to_owned(),
        max_tasks,
        max_log_bytes: 1 << 20,
        retention: Duration::from_secs(60),
    };
    let registry = Some(Registry::open(options).expect("opened"));
    (RawOptions { registry, to_background: true, timeout_ms: Some(5_000.0), ..raw() }, directory)
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
        ends.reply(Reply::Abort);
        sleep(Duration::from_millis(1)).await;
        assert_eq!(ends.asked(), ["hand over x"], "a command that is becoming a task is none of the caller's any more");
        ends.send(ShimEvent::Task(Box::new(task("t1"))));
    })
    .await;
    assert_eq!(driven.task.map(|task| task.id).as_deref(), Some("t1"));
    assert_eq!(driven.exit, None);
    drop(ends);
    let logs: Vec<_> = std::fs::read_dir(store.path()).expect("read").flatten().map(|entry| entry.path()).collect();
    let log = logs.iter().find(|path| path.extension().is_some_and(|kind| kind == "log")).expect("a log");
    assert_eq!(std::fs::read_to_string(log).expect("read"), "first\n");
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
        ends.exit(Cause::Limit, false);
    })
    .await;
    assert_eq!(ends.asked(), ["hand over x", "terminate at limit"]);
    let note = "the command could not be moved to the background, and was ended at its limit: No space left";
    assert!(driven.notes[0].starts_with(note), "{:?}", driven.notes);
    let left = std::fs::read_dir(store.path()).expect("read").flatten();
    assert_eq!(left.filter(|entry| entry.path().extension().is_some_and(|kind| kind == "log")).count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_full_registry_keeps_the_command_in_the_foreground() {
    let (raw, _directory) = moving(0);
    let (driven, ends) = drive(raw, async |ends| {
        ends.start();
        sleep(Duration::from_millis(5_001)).await;
        ends.stdout = None;
        ends.exit(Cause::Limit, false);
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
    assert!((15_000..=15_003).contains(&millis(&driven)), "{}", millis(&driven));
}

#[tokio::test(start_paused = true)]
async fn an_exit_before_the_answer_of_the_shim_is_the_end() {
    let (raw, _directory) = moving(1);
    let (driven, _) = drive(raw, async |ends| {
        ends.start();
        sleep(Duration::from_millis(5_001)).await;
        ends.write("last\n");
        ends.stdout = None;
        ends.exit(Cause::Itself, false);
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

/// A process that stands for a shell, and the report of its command.
async fn report(play: impl AsyncFnOnce(&mut Ends, &mut File)) -> Driven {
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
        matches!(driven.exit, Some(Ok(Ended { end: Exit::Code(3), cause: Cause::Itself, .. }))),
        "{:?}",
        driven.exit
    );
    assert_eq!(driven.stdout, "all\n", "with all output that was there");
}

#[tokio::test(start_paused = true)]
async fn the_report_of_a_shell_that_is_terminated_is_not_believed() {
    let driven = report(async |ends, pipe| {
        ends.reply(Reply::Abort);
        sleep(Duration::from_millis(1)).await;
        pipe.write_all(b"0\0/tmp\0").expect("written");
        sleep(Duration::from_millis(1)).await;
        ends.stdout = None;
        ends.exit(Cause::Abort, false);
    })
    .await;
    assert!(matches!(driven.exit, Some(Ok(Ended { cause: Cause::Abort, .. }))), "{:?}", driven.exit);
}
