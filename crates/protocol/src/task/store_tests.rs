use super::*;
use crate::task::{TaskSpec, TaskState, now_ms};

fn store() -> (tempfile::TempDir, TaskStore) {
    let dir = tempfile::tempdir().expect("a folder");
    let store = TaskStore::open(dir.path()).expect("it can be used");
    (dir, store)
}

fn task(store: &TaskStore) -> Task {
    let folder = store.path().to_owned();
    let order = TaskSpec { folder, command: "sleep 1".into(), max_log_bytes: 100, ..TaskSpec::sample(&new_id()) };
    Task::begin(&order, 7, 7, "mark", now_ms())
}

#[test]
fn a_state_is_read_as_it_was_written() {
    let (_dir, store) = store();
    let task = task(&store);
    store.write(&task).expect("written");
    assert_eq!(store.read(&task.id).expect("whole"), Some(task.clone()));
    assert_eq!(store.ids().expect("listed").len(), 1);
    assert_eq!(store.read("t000000000000").expect("none"), None);
    let mode = fs::metadata(store.file_path(&task.id, STATE)).expect("there").mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn damage_is_named_and_costs_one_task() {
    let (_dir, store) = store();
    let task = task(&store);
    for (text, said) in [("", "EOF"), ("{\"version\":9}", "version 9 is not known"), ("[1]", "invalid")] {
        fs::write(store.file_path(&task.id, STATE), text).expect("written");
        let error = store.read(&task.id).expect_err("damaged").to_string();
        assert!(error.contains(said) && error.contains(&task.id), "{error}");
    }
}

#[test]
fn a_task_that_nobody_keeps_is_lost_once() {
    let (_dir, store) = store();
    let task = task(&store);
    let log = TaskLog::lock_and_continue(store.create_log(&task.id).expect("new"), 100).expect("ours");
    store.write(&task).expect("written");
    assert!(store.has_shim(&task.id));
    assert_eq!(store.settle(&task.id).expect("read").map(|task| task.state), Some(TaskState::Running));
    drop(log);
    assert!(!store.has_shim(&task.id));
    for _ in 0..2 {
        let lost = store.settle(&task.id).expect("read").expect("there");
        assert_eq!(lost.state, TaskState::Lost);
    }
    let text = fs::read_to_string(store.log_path(&task.id)).expect("text");
    assert_eq!(text, "[background process lost: its helper process was killed]\n");
}

#[test]
fn an_end_without_its_closing_line_gets_it() {
    let (_dir, store) = store();
    let mut task = task(&store);
    let mut log = TaskLog::lock_and_continue(store.create_log(&task.id).expect("new"), 100).expect("ours");
    log.write("out\n");
    task.end(TaskEnd::Code(0), log.written());
    store.write(&task).expect("written");
    drop(log);
    for _ in 0..2 {
        store.settle(&task.id).expect("read");
    }
    let text = fs::read_to_string(store.log_path(&task.id)).expect("text");
    assert_eq!(text, "out\n[background process completed]\n");
}

#[test]
fn the_sweep_takes_old_tasks_and_what_a_start_left() {
    let (_dir, store) = store();
    let mut old = task(&store);
    old.end(TaskEnd::Code(0), 0);
    old.ended_at = Some(1);
    let running = task(&store);
    for task in [&old, &running] {
        store.create_log(&task.id).expect("new");
        store.write(task).expect("written");
    }
    let orphan = store.create_log(&new_id()).expect("new");
    orphan.set_modified(SystemTime::UNIX_EPOCH).expect("aged");
    let fresh = new_id();
    store.create_log(&fresh).expect("new");
    let second = Duration::from_secs(1);
    assert!(old.kept_until(second).is_some_and(|until| until < now_ms()) && running.kept_until(second).is_none());
    store.remove(&old.id);
    store.remove_unstarted();
    let mut left: Vec<_> = fs::read_dir(store.path())
        .expect("listed")
        .flatten()
        .map(|e| e.file_name().into_string().expect("text"))
        .collect();
    left.sort();
    let mut wanted = vec![format!("{}.json", running.id), format!("{}.log", running.id), format!("{fresh}.log")];
    wanted.extend([RUNNING, LOCK].map(str::to_owned));
    wanted.sort();
    assert_eq!(left, wanted);
}

#[test]
fn a_folder_that_was_taken_away_is_made_again() {
    let (dir, store) = store();
    fs::remove_dir_all(dir.path()).expect("removed");
    store.renew().expect("made");
    assert_eq!(fs::metadata(store.path()).expect("there").mode() & 0o777, 0o700);
    store.renew().expect("there already");
}

/// Returns the same task in another pid namespace.
fn elsewhere(mut task: Task) -> Task {
    task.machine.namespace = Some(sys::PidNamespace { id: 1, init_started: Some(1) });
    task.machine.boot.push('x');
    task.machine.host_name = Some("other".into());
    task
}

#[test]
fn a_task_elsewhere_is_not_settled_and_not_swept() {
    let (_dir, store) = store();
    let running = elsewhere(task(&store));
    let mut ended = elsewhere(task(&store));
    ended.end(TaskEnd::Code(0), 0);
    ended.ended_at = Some(1);
    for task in [&running, &ended] {
        store.create_log(&task.id).expect("new");
        store.write(task).expect("written");
        assert_eq!(store.settle(&task.id).expect("read").as_ref(), Some(task));
    }
    assert!([&running, &ended].iter().all(|task| task.kept_until(Duration::from_secs(1)).is_none()));
    store.remove_unstarted();
    for task in [&running, &ended] {
        assert_eq!(store.read(&task.id).expect("whole").as_ref(), Some(task));
        assert_eq!(fs::read_to_string(store.log_path(&task.id)).expect("there"), "", "no closing line of ours");
    }
}

#[test]
fn a_state_file_of_an_earlier_version_is_read() {
    let (_dir, store) = store();
    let task = task(&store);
    let mut file = serde_json::to_value(&task).expect("written");
    let fields = file.as_object_mut().expect("an object");
    assert!(fields.remove("hostName").is_some());
    assert_eq!(fields.remove("namespace").is_some(), cfg!(target_os = "linux"));
    fs::write(store.file_path(&task.id, STATE), file.to_string()).expect("written");
    let read = store.read(&task.id).expect("whole").expect("there");
    assert_eq!(read.loss(), Some(crate::task::TaskLoss::Helper));
    fs::write(store.file_path(&task.id, STATE), file.to_string().replace(&task.machine.boot, "other"))
        .expect("written");
    let read = store.read(&task.id).expect("whole").expect("there");
    assert_eq!(read.loss(), Some(crate::task::TaskLoss::Restart));
}

/// Writes this number of tasks that have ended.
fn write_ended(store: &TaskStore, count: usize) {
    for _ in 0..count {
        let mut task = task(store);
        store.create_log(&task.id).expect("new");
        task.end(TaskEnd::Code(0), 0);
        store.write(&task).expect("written");
    }
}

#[test]
fn what_runs_is_found_without_a_look_at_what_has_ended() {
    let work = |ended: usize| {
        let (_dir, store) = store();
        write_ended(&store, ended);
        let mut running = task(&store);
        running.world = Some("/world".into());
        let _log = TaskLog::lock_and_continue(store.create_log(&running.id).expect("new"), 100).expect("ours");
        store.write(&running).expect("written");
        work::take();
        assert_eq!(store.running_ids().expect("listed"), std::slice::from_ref(&running.id));
        assert_eq!(store.joinable_worlds(), [PathBuf::from("/world")]);
        work::take()
    };
    assert_eq!(work(10), work(100));
}

#[test]
fn a_mark_lasts_as_long_as_its_task_runs() {
    let (_dir, store) = store();
    let mut running = task(&store);
    let marks = || store.running_ids().expect("listed");
    store.write(&running).expect("written");
    store.write(&running).expect("again");
    assert_eq!(marks(), std::slice::from_ref(&running.id));
    running.end(TaskEnd::Code(0), 0);
    store.write(&running).expect("written");
    assert_eq!(marks(), Vec::<String>::new());
    let other = task(&store);
    store.write(&other).expect("written");
    store.remove(&other.id);
    assert_eq!(marks(), Vec::<String>::new());
    store.remove(&running.id);
    store.remove_if_empty();
    assert!(!store.path().exists());
}

#[test]
fn the_tasks_of_an_earlier_version_that_run_get_their_marks() {
    let (_dir, store) = store();
    write_ended(&store, 3);
    let running = task(&store);
    store.write(&running).expect("written");
    fs::remove_dir_all(store.path().join(RUNNING)).expect("removed");
    let files = || fs::read_dir(store.path()).expect("listed").count();
    let before = files();
    assert_eq!((store.running_ids().expect("listed"), files()), (vec![running.id.clone()], before), "a reader");
    store.begin_marks().expect("begun");
    store.begin_marks().expect("another process was faster");
    assert_eq!((store.running_ids().expect("listed"), files()), (vec![running.id], before + 1));
}

#[test]
fn the_mark_of_a_start_that_never_completed_is_swept() {
    let (_dir, store) = store();
    let (left, fresh) = (new_id(), new_id());
    store.mark_running(&left).expect("marked");
    store.mark_running(&fresh).expect("marked");
    File::options()
        .write(true)
        .open(store.mark_path(&left))
        .expect("there")
        .set_modified(SystemTime::UNIX_EPOCH)
        .expect("aged");
    store.remove_unstarted();
    assert_eq!(store.running_ids().expect("listed"), [fresh]);
}

#[test]
fn tasks_that_begin_at_the_same_time_all_get_their_marks() {
    for _ in 0..100 {
        let (_dir, store) = store();
        let _ = fs::remove_dir(store.path().join(RUNNING));
        let ids: Vec<String> = (0..8).map(|_| new_id()).collect();
        let together = std::sync::Barrier::new(ids.len());
        std::thread::scope(|scope| {
            for id in &ids {
                scope.spawn(|| {
                    together.wait();
                    store.mark_running(id).expect("marked");
                });
            }
        });
        assert!(ids.iter().all(|id| store.mark_path(id).exists()));
    }
}
