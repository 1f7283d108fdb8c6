//! Processes that a command leaves running.

use std::time::{Duration, Instant};

use confine_world::{testing::WorldTestScene, testing::isolated};
use protocol::ReleasedSurvivors;
use protocol::plan::ChangeJournalOutcome;
use protocol::task::{TaskChangeJournal, TaskSpec, TaskStore, new_id};
use undo::testing::snapshot;
use undo::{UndoRequest, undo};

use super::TREE;
use super::stage::{FinishedCommand, JournalTestShim};

/// Bound against a hang.
const HANG: Duration = Duration::from_secs(30);

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < HANG, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Leaves a process that waits for `go`, and then changes files.
const LATE: &str = "(exec </dev/null >/dev/null 2>&1; until [ -e go ]; do read -rt 0.02 < <(:); done; \
    echo late > late && rm g && mkdir made && echo ok > made/ok) & echo x > f";

#[test]
fn a_process_that_is_left_goes_on_after_the_record_and_after_the_host() {
    let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), None);
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, false);
        stage.prepare(TREE);
        let before = snapshot(stage.root());
        let FinishedCommand { run, ended, output } = stage.run(LATE, true);
        assert_eq!((&ended.record, ended.alive), (&ChangeJournalOutcome::Off, true), "{output}");
        let ReleasedSurvivors { survivors, record } = stage.released();
        assert_eq!((survivors.is_empty(), record), (false, ChangeJournalOutcome::Done));
        stage.lose_host();
        stage.prepare("touch go");
        until("the survivor changes files", || scene.root.join("made/ok").exists());
        stage.shim_exits();
        let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
        assert_eq!(undone.conflicts, []);
        stage.prepare("rm -r late made go; echo two > g; chmod 640 g");
        let after = snapshot(stage.root());
        assert_eq!(after, before);
    });
}

#[test]
fn a_process_that_is_left_in_a_world_goes_on_after_the_record() {
    let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), None);
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, true);
        stage.prepare(TREE);
        let FinishedCommand { run, ended, output } = stage.run(LATE, true);
        assert_eq!((&ended.record, ended.alive), (&ChangeJournalOutcome::Off, true), "{output}");
        let ReleasedSurvivors { survivors, record } = stage.released();
        assert_eq!((survivors.is_empty(), record), (false, ChangeJournalOutcome::Done));
        stage.prepare("touch go");
        until("the survivor changes files", || scene.root.join("made/ok").exists());
        let point = stage.point(&run);
        assert!(point.end.is_some() && !point.states_before.contains_key(&scene.root.join("late")));
    });
}

#[test]
fn what_runs_until_it_is_listed_is_recorded() {
    const DETACHED: &str =
        "exec </dev/null >/dev/null 2>&1; until [ -e go ]; do read -rt 0.01 < <(:); done; rm -r d go";
    for (confined, end) in [(false, ":"), (false, "kill -9 $$"), (true, ":"), (true, "kill -9 $$")] {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), None);
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.prepare(TREE);
            let before = snapshot(stage.root());
            let FinishedCommand { run, ended, output } = stage.run(&format!("({DETACHED}) & {end}"), true);
            assert_eq!((&ended.record, ended.alive), (&ChangeJournalOutcome::Off, true), "{output}");
            // The addon reads the output.
            stage.prepare("touch go");
            until("the process changes files", || !scene.root.join("d").exists() && !scene.root.join("go").exists());
            assert_eq!(
                stage.released(),
                ReleasedSurvivors { survivors: Vec::new(), record: ChangeJournalOutcome::Done }
            );
            let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
            assert_eq!((undone.conflicts, undone.not_covered), (Vec::new(), Vec::new()));
            stage.prepare("rm go");
            assert_eq!(snapshot(stage.root()), before);
        });
    }
}

#[test]
fn a_task_records_what_it_leaves_for_a_moment_and_names_what_goes_on() {
    const DETACHED: &str = "exec </dev/null >/dev/null 2>&1; until [ -e go ]; do read -rt 0.01 < <(:); done";
    for (command, is_left) in [
        ("(exec </dev/null >/dev/null 2>&1; read -rt 0.02 < <(:); rm -r d) &".to_owned(), false),
        (format!("({DETACHED}) & rm -r d"), true),
    ] {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), None);
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, false);
            stage.prepare(TREE);
            let before = snapshot(stage.root());
            let folder = scene.state.join("tasks");
            std::fs::create_dir(&folder).expect("made");
            let sample = TaskSpec::sample(&new_id());
            let spec = TaskSpec { folder: folder.clone(), max_log_bytes: 1 << 20, limit_ms: 1_000_000, ..sample };
            let run = stage.start_as(&command, true, Some(spec.clone()));
            let task = || TaskStore::at(folder.clone()).read(&spec.id).expect("read");
            until("the task has ended", || task().is_some_and(|task| !task.is_running()));
            assert_eq!(!task().expect("a task").left.is_empty(), is_left, "{command}");
            let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
            assert_eq!(undone.conflicts, []);
            assert_eq!(snapshot(stage.root()), before, "{command}");
            stage.prepare("touch go");
        });
    }
}

#[test]
fn a_record_ends_with_a_command_that_ends_with_its_host() {
    for confined in [false, true] {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), None);
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.prepare(TREE);
            let before = snapshot(stage.root());
            let run = stage.start("rm -r d; echo x > f; : > ready; exec sleep 1000", true);
            until("the command has changed files", || scene.root.join("ready").exists());
            stage.shim_exits();
            let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
            assert_eq!(undone.conflicts, []);
            assert_eq!(snapshot(stage.root()), before);
        });
    }
}

#[test]
fn a_receipt_that_nobody_can_read_any_more_is_removed() {
    let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), None);
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, false);
        stage.record.purpose = protocol::plan::ChangeJournalPurpose::Receipt;
        let run = stage.start(": > ready; exec sleep 1000", true);
        until("the command runs", || scene.root.join("ready").exists());
        assert!(stage.store().has(&run));
        stage.shim_exits();
        assert!(!stage.store().has(&run));
    });
}

#[test]
fn the_state_of_a_task_says_what_became_of_its_record() {
    for confined in [false, true] {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), None);
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.prepare(TREE);
            let before = snapshot(stage.root());
            let folder = scene.state.join("tasks");
            std::fs::create_dir(&folder).expect("made");
            let sample = TaskSpec::sample(&new_id());
            let spec = TaskSpec { folder: folder.clone(), max_log_bytes: 1 << 20, limit_ms: 1_000_000, ..sample };
            let run =
                stage.start_as("rm -r d; echo x > f; until [ -e go ]; do sleep 0.01; done", true, Some(spec.clone()));
            let state = || TaskStore::at(folder.clone()).read(&spec.id).expect("read");
            let record = |end| TaskChangeJournal { store: stage.record.store.clone(), end };
            until("the task runs", || state().is_some_and(|task| task.record.is_some()));
            assert_eq!(state().expect("a task").record, Some(record(None)));
            stage.prepare(": > go");
            until("the task has ended", || state().is_some_and(|task| !task.is_running()));
            assert_eq!(state().expect("a task").record, Some(record(Some(ChangeJournalOutcome::Done))));
            let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
            assert_eq!(undone.conflicts, []);
            stage.prepare("rm go");
            assert_eq!(snapshot(stage.root()), before);
        });
    }
}
