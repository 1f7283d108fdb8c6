//! Drives registries, undo and warm shells of a target as the addon does, over a transport of this machine.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::support::tasks::*;
use protocol::task::{Task, TaskState};
use remote::client::{DistantRegistry, DistantRunEnd, RemoteTarget, UnansweredRequest, user_registry_directory};
use remote::{
    TargetCommand, TargetRegistryRequest, TargetRequest, TargetResponse, TargetUndoRequest, TaskWaitConditions,
    UndoPointsRequest,
};
use runner::registry::TaskCheck;
use runner::run::outcome::CommandStatus;
use tokio::sync::oneshot;

/// A task that outlives a test which fails does not stay for long.
const BOUNDED: &str = r#"{"timeoutMs":60000}"#;

fn code<T>(answer: Result<T, UnansweredRequest>) -> &'static str {
    match answer.err().expect("an error") {
        UnansweredRequest::Failed(error) => error.code(),
        UnansweredRequest::Unreachable(error) => panic!("{error}"),
        UnansweredRequest::Lost(why) => why,
    }
}

async fn check(registry: &Arc<DistantRegistry>, task: &str, cursor: Option<u64>) -> TaskCheck {
    within("the check", registry.check(task.into(), cursor)).await.expect("a check").0
}

async fn wait(
    registry: &Arc<DistantRegistry>,
    task: &Task,
    until: TaskWaitConditions,
) -> Result<TaskCheck, UnansweredRequest> {
    let waited = registry.wait(task.id.clone(), until, std::future::pending());
    within("the wait", waited).await.map(|(check, _)| check)
}

async fn end(registry: &Arc<DistantRegistry>, task: &Task) -> TaskCheck {
    wait(registry, task, TaskWaitConditions::default()).await.expect("a check")
}

fn pattern(source: &str, flags: &str) -> TaskWaitConditions {
    TaskWaitConditions { pattern: Some((source.into(), flags.into())), ..TaskWaitConditions::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_there_starts_lists_checks_waits_for_and_kills_tasks() {
    let home = tempfile::tempdir().expect("a directory");
    let target = connect(home.path()).await;
    let registry = open(&target, None);
    // The registry need not be open for a start.
    let task = start(&target, &registry, "echo one; read -t 1000 < <(sleep 1000); echo never", "{}").await;
    assert_eq!(registry.list().expect("open").len(), 1);
    let first = wait(&registry, &task, pattern("^ONE", "i")).await.expect("a check");
    assert_eq!((first.matched, first.output.as_str(), first.cursor), (true, "one\n", 4));
    assert_eq!(check(&registry, &task.id, None).await.output, "");
    assert_eq!(check(&registry, &task.pid.to_string(), Some(1)).await.output, "ne\n");
    let short = TaskWaitConditions { timeout: Some(Duration::from_millis(20)), ..TaskWaitConditions::default() };
    assert!(!wait(&registry, &task, short).await.expect("a check").matched);
    assert_eq!(code(wait(&registry, &task, pattern("(", "")).await), "ERR_BASH_INVALID_ARG");
    let (give_up, given_up) = oneshot::channel::<()>();
    drop(give_up);
    let waited = registry.wait(task.id.clone(), TaskWaitConditions::default(), async { drop(given_up.await) });
    let (waited, store) = within("the wait", waited).await.expect("a check");
    assert!(waited.task.is_running() && !waited.matched);
    assert_eq!(std::fs::read_to_string(store.log_path(&task.id)).expect("its log"), "one\n");
    let (killed, _) = within("the end", registry.kill(task.id.clone())).await.expect("a check");
    assert_eq!((killed.task.state, killed.task.exit_code), (TaskState::Killed, Some(143)));
    assert_eq!(registry.list().expect("open")[0].state, TaskState::Killed);
    assert_eq!(registry.refresh().await.expect("a list").len(), 1);
    assert_eq!(registry.notes(), Vec::<String>::new());
    assert_eq!(code(registry.check("none".into(), None).await), "ERR_BASH_UNKNOWN_TASK");
    within("the close", registry.close()).await;
    assert!(registry.list().is_none());
    assert!(!store.path().exists());
    assert_eq!(code(registry.refresh().await), "ERR_BASH_CLOSED");
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_another_process_is_named_by_a_wait_for_its_port() {
    let home = tempfile::tempdir().expect("a directory");
    let target = connect(home.path()).await;
    let registry = open(&target, None);
    let task = start(&target, &registry, "sleep 1000", "{}").await;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a server");
    let port = Some(listener.local_addr().expect("an address").port());
    let waited =
        wait(&registry, &task, TaskWaitConditions { port, ..TaskWaitConditions::default() }).await.expect("a check");
    assert!(waited.matched);
    assert_eq!(waited.stranger.map(|stranger| stranger.pid), Some(std::process::id().cast_signed()));
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_and_directories_that_are_none_are_refused() {
    let home = tempfile::tempdir().expect("a directory");
    let target = connect(home.path()).await;
    let ask = async |ask| within("the answer", target.request(TargetRequest::Registry(u64::MAX, ask))).await;
    assert_eq!(code(ask(TargetRegistryRequest::List).await), "ERR_BASH_CLOSED");
    assert_eq!(code(ask(TargetRegistryRequest::Watch { output: true }).await), "ERR_BASH_CLOSED");
    assert_eq!(code(ask(TargetRegistryRequest::Kill("1".into())).await), "ERR_BASH_CLOSED");
    ask(TargetRegistryRequest::Close).await.expect("nothing to do");
    for background in [false, true] {
        let refused = run(&target, order("echo", Some(u64::MAX), background, "{}")).await;
        assert!(matches!(refused, DistantRunEnd::Failed(error) if error.code() == "ERR_BASH_CLOSED"));
    }
    // The number in the options is that of another registry, which is here.
    assert_eq!(outcome(&target, order("echo", None, false, r#"{"registry":7}"#)).await.exit_code, Some(0));
    let file = home.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let registry = open(&target, Some(&file));
    let error = within("the refusal", registry.check("1".into(), None)).await.expect_err("no registry");
    let UnansweredRequest::Failed(error) = error else { panic!("{error:?}") };
    assert_eq!(error.code(), "ERR_BASH_INVALID_ARG");
    assert!(error.to_string().contains("file"), "{error}");
    assert_eq!(registry.wait_until_open().await.expect_err("no registry").to_string(), error.to_string());
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_with_a_directory_outlives_a_goodbye_and_one_without_ends() {
    let home = tempfile::tempdir().expect("a directory");
    let (dir, gate) = (home.path().join("tasks"), home.path().join("gate"));
    let target = connect(home.path()).await;
    assert_eq!(user_registry_directory(&target.facts().0), Some(home.path().join(".local/state/agent-bash")));
    let (kept, temporary) = (open(&target, Some(&dir)), open(&target, None));
    let waits = format!("echo begun; until [ -e {} ]; do sleep 0.02; done; exit 7", gate.display());
    let kept_task = start(&target, &kept, &waits, BOUNDED).await;
    let temporary_task = start(&target, &temporary, "sleep 1000", "{}").await;
    let ended_task = start(&target, &temporary, "echo", "{}").await;
    end(&temporary, &ended_task).await;
    let files = within("the opening", temporary.wait_until_open()).await.expect("a directory").path().to_owned();
    let program = target.facts().0.pid;
    target.close();
    until("the end of the program", || is_gone(program)).await;
    until("the end of the task", || is_gone(temporary_task.pid)).await;
    until("the end of its files", || !files.exists()).await;
    assert!(!is_gone(kept_task.pid));
    // Nothing of it is lost, and what was lost with the target is shown so.
    assert_eq!(kept.list().expect("open")[0].state, TaskState::Running);
    assert_eq!(temporary.list().expect("open")[0].state, TaskState::Lost);
    assert_eq!(code(kept.refresh().await), "ERR_BASH_CLOSED");

    let target = connect(home.path()).await;
    let found = open(&target, Some(&dir));
    within("the opening", found.wait_until_open()).await.expect("a directory");
    assert_eq!(found.list().expect("open"), *std::slice::from_ref(&kept_task));
    assert_eq!(within("the list", found.refresh()).await.expect("a list"), *std::slice::from_ref(&kept_task));
    std::fs::write(&gate, "").expect("a file");
    let ended = end(&found, &kept_task).await;
    assert_eq!((ended.task.state, ended.task.exit_code), (TaskState::Exited, Some(7)));
    assert_eq!(ended.output, "begun\n");
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_goes_on_through_a_cut_and_can_be_given_up_meanwhile() {
    let home = tempfile::tempdir().expect("a directory");
    let gate = home.path().join("gate");
    let target = connect(home.path()).await;
    let registry = open(&target, None);
    let waits = format!("until [ -e {} ]; do sleep 0.02; done; echo ready 42; sleep 1000", gate.display());
    let task = start(&target, &registry, &waits, "{}").await;
    let never = std::future::pending();
    let waiting = tokio::spawn(registry.wait(task.id.clone(), pattern(r"ready (\d+)", ""), never));
    let (give_up, given_up) = oneshot::channel::<()>();
    let given_up = async { drop(given_up.await) };
    let given_up = tokio::spawn(registry.wait(task.id.clone(), TaskWaitConditions::default(), given_up));
    // Both have begun there once a later question is answered.
    within("the list", registry.refresh()).await.expect("a list");
    cut(&target, home.path()).await;
    drop(give_up);
    let given_up = within("the end of the wait", given_up).await.expect("no panic");
    assert!(matches!(&given_up, Ok((check, _)) if !check.matched) || code(given_up) == "ABORT_ERR");
    std::fs::write(&gate, "").expect("a file");
    let (found, _) = within("the match", waiting).await.expect("no panic").expect("a check");
    assert!(found.matched && found.output == "ready 42\n", "{found:?}");
    within("the close", registry.close()).await;
    until("the end of the task", || is_gone(task.pid)).await;
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_is_told_once_and_in_order_through_cuts_and_waits_for_its_listener() {
    const LINES: usize = 60_000;
    let home = tempfile::tempdir().expect("a directory");
    let target = connect(home.path()).await;
    let registry = open(&target, None);
    let mut told = watch(&registry, true, true);
    let options = r#"{"receipt":"watch","evidence":"status"}"#;
    let task = start(&target, &registry, &format!("seq {LINES}; exit 3"), options).await;
    let mut text = String::new();
    let mut batches = 0;
    let (ended, record, evidence) = loop {
        match within("an event", told.recv()).await.expect("a registry") {
            ToldRegistryEvent::Output(id, more) => {
                assert_eq!(id, task.id);
                text.push_str(&more);
                batches += 1;
                // Nothing comes before this is taken, through a cut too.
                if batches % 2 == 1 {
                    cut(&target, home.path()).await;
                }
                within("the list", registry.refresh()).await.expect("a list");
                assert!(told.try_recv().is_err());
                registry.on_output_taken(&task.id);
            }
            ToldRegistryEvent::Exit(task, record, evidence) => break (task, record, evidence),
        }
    };
    assert!(batches > 3, "{batches}");
    let expected: String = (1..=LINES).map(|line| format!("{line}\n")).collect();
    assert!(text == expected, "{} bytes of {}", text.len(), expected.len());
    assert_eq!((ended.id.as_str(), ended.exit_code), (task.id.as_str(), Some(3)));
    assert!(record.expect("a record").receipt.is_some());
    assert_eq!(evidence.expect("evidence").verdict, evidence::EvidenceVerdict::Failed);
    let ended = end(&registry, &task).await;
    assert!(ended.recorded.is_some() && ended.evidence.is_some() && ended.truncation.is_some());
    // A watcher that wants no output gets none, and each end.
    let mut told = watch(&registry, true, false);
    let silent = start(&target, &registry, "echo", "{}").await;
    let event = within("the end", told.recv()).await.expect("a registry");
    assert!(matches!(event, ToldRegistryEvent::Exit(task, ..) if task.id == silent.id));
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_was_killed_loses_tasks_without_a_directory_and_registries_heal() {
    let home = tempfile::tempdir().expect("a directory");
    let dir = home.path().join("tasks");
    let target = connect(home.path()).await;
    let (kept, temporary) = (open(&target, Some(&dir)), open(&target, None));
    let mut told_of_kept = watch(&kept, true, false);
    let mut told = watch(&temporary, true, true);
    let kept_task = start(&target, &kept, "sleep 1000", BOUNDED).await;
    let gate = home.path().join("gate");
    let ends = format!("until [ -e {} ]; do sleep 0.02; done; exit 5", gate.display());
    let ending = start(&target, &kept, &ends, BOUNDED).await;
    let lost = start(&target, &temporary, "sleep 1000", "{}").await;
    let waiting = tokio::spawn(temporary.wait(lost.id.clone(), TaskWaitConditions::default(), std::future::pending()));
    temporary.refresh().await.expect("a list");
    kill_program(&target);
    let waited = within("the error", waiting).await.expect("no panic");
    assert!(code(waited).contains("is gone"));
    let event = within("the loss", told.recv()).await.expect("a registry");
    assert!(matches!(event, ToldRegistryEvent::Exit(task, ..) if task.id == lost.id && task.state == TaskState::Lost));
    assert_eq!(temporary.list().expect("open")[0].state, TaskState::Lost);
    assert_eq!(kept.list().expect("open"), [kept_task.clone(), ending.clone()]);
    std::fs::write(&gate, "").expect("a file");
    until("the end of a task", || is_gone(ending.pid)).await;
    // Both go on in the next program, with the events that were wanted.
    let next = start(&target, &temporary, "echo healed", "{}").await;
    let event = within("the output", told.recv()).await.expect("a registry");
    assert!(matches!(event, ToldRegistryEvent::Output(id, text) if id == next.id && text == "healed\n"));
    let ids: Vec<String> = temporary.list().expect("open").into_iter().map(|task| task.id).collect();
    assert_eq!(ids, [lost.id, next.id]);
    let event = within("the end", told_of_kept.recv()).await.expect("a registry");
    assert!(matches!(event, ToldRegistryEvent::Exit(task, ..) if task.id == ending.id && task.exit_code == Some(5)));
    assert_eq!(within("the list", kept.refresh()).await.expect("a list")[0], kept_task);
    let (killed, _) = within("the end", kept.kill(kept_task.id)).await.expect("a check");
    assert_eq!(killed.task.state, TaskState::Killed);
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_moves_to_a_registry_there_at_its_limit() {
    let home = tempfile::tempdir().expect("a directory");
    let target = connect(home.path()).await;
    let registry = open(&target, None);
    let number = Some(registry.number());
    let moved = outcome(&target, order("echo a; sleep 1000", number, false, r#"{"timeoutMs":300}"#)).await;
    assert_eq!((moved.status, moved.exit_code, moved.stdout.as_str()), (CommandStatus::Backgrounded, None, "a\n"));
    let (task, store) = moved.background.expect("a task");
    assert_eq!(store.path(), registry.wait_until_open().await.expect("a directory").path());
    assert_eq!(check(&registry, &task.id, Some(0)).await.output, "a\n");
    let begun = outcome(&target, order("exit 4", number, false, r#"{"mode":"background"}"#)).await;
    let (task, _) = begun.background.expect("a task");
    assert_eq!(end(&registry, &task).await.task.exit_code, Some(4));
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_a_file_there_is_undone() {
    let home = tempfile::tempdir().expect("a directory");
    let target = connect(home.path()).await;
    let work = home.path().join("work");
    let file = work.join("file");
    std::fs::create_dir(&work).expect("a directory");
    std::fs::write(&file, "before").expect("a file");
    let cwd = work.to_str().expect("text").to_owned();
    let order = order("echo after > file; echo > new", None, false, r#"{"undo":{"when":"always"}}"#);
    let changed = outcome(&target, TargetCommand { cwd, ..order }).await;
    assert!(changed.undo.is_some_and(|undo| undo.all), "{:?}", changed.notes);
    let points = ask(&target, TargetRequest::UndoPoints(UndoPointsRequest::default())).await.expect("a list");
    assert!(matches!(&points, TargetResponse::UndoPoints(points) if points.len() == 1 && points[0].run == changed.run));
    let none = UndoPointsRequest { cwd: Some("/none".into()), ..UndoPointsRequest::default() };
    assert_eq!(
        ask(&target, TargetRequest::UndoPoints(none)).await.expect("a list"),
        TargetResponse::UndoPoints(Vec::new())
    );
    let wanted = |dry_run, paths: &[&Path]| {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        TargetRequest::Undo(TargetUndoRequest { run: changed.run.clone(), dry_run, paths, dir: None })
    };
    for dry_run in [true, false] {
        let undone = ask(&target, wanted(dry_run, &[&file])).await.expect("undone");
        let TargetResponse::Undone(undone) = undone else { panic!("{undone:?}") };
        assert_eq!((undone.restored, undone.removed), (vec![file.clone()], Vec::new()));
        let expected = if dry_run { "after\n" } else { "before" };
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), expected);
    }
    assert_eq!(code(ask(&target, wanted(false, &[Path::new("file")])).await), "ERR_BASH_INVALID_ARG");
    let unknown = TargetRequest::Undo(TargetUndoRequest { run: "none".into(), ..TargetUndoRequest::default() });
    assert_eq!(code(ask(&target, unknown).await), "ERR_BASH_UNDO");
    target.close();
}

async fn ask(target: &Arc<RemoteTarget>, ask: TargetRequest) -> Result<TargetResponse, UnansweredRequest> {
    within("the answer", target.request(ask)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_is_warm_there() {
    let home = tempfile::tempdir().expect("a directory");
    let target = connect(home.path()).await;
    let warm = |options: &str| TargetRequest::WarmUp(Box::new(order(":", None, false, options)));
    assert_eq!(ask(&target, warm("{}")).await.expect("an answer"), TargetResponse::Warm(true));
    assert_eq!(ask(&target, warm(r#"{"warm":false}"#)).await.expect("an answer"), TargetResponse::Warm(false));
    assert_eq!(code(ask(&target, warm(r#"{"shell":"/none"}"#)).await), "ERR_BASH_SHELL_NOT_FOUND");
    target.close();
}
