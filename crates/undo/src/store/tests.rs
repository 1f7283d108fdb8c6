use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::SystemTime;

use super::*;
use crate::execution::{UndoError, UndoRequest, undo};
use crate::list_points;
use crate::manifest::RETENTION;
use crate::testing::UndoScene;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

fn point(scene: &UndoScene, run: &str, at: u64, bytes: usize) {
    scene.write(run, &"x".repeat(bytes));
    let header = ManifestHeader { at, ..scene.header(run) };
    let mut journal = crate::ChangeJournal::begin(&scene.store, header, UndoLimits::default()).expect("begun");
    journal.record_before_change(&scene.path(run), crate::ComingChange::Remove).expect("recorded");
    fs::remove_file(scene.path(run)).expect("removed");
    journal.finish(Vec::new()).expect("finished");
}

fn now() -> (SystemTime, u64) {
    let now = SystemTime::now();
    let ms = now.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_millis();
    (now, u64::try_from(ms).expect("a time"))
}

/// Evicts points, and removes their files.
pub(super) fn evicted(store: &UndoStore, limits: UndoLimits, now: SystemTime) -> Vec<String> {
    let evicted = store.make_room(limits, now).expect("evicted");
    let runs = evicted.runs.clone();
    evicted.remove().expect("removed");
    runs
}

#[test]
fn the_store_is_private_and_not_opened_through_a_link() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("state/undo");
    let store = UndoStore::open(&path).expect("opened");
    assert_eq!([mode(&path), mode(&path.join(POINTS)), mode(&path.join(KEPT))], [0o700; 3]);
    fs::set_permissions(store.path(), fs::Permissions::from_mode(0o755)).expect("set");
    UndoStore::open(&path).expect("opened");
    assert_eq!(mode(&path), 0o700);
    symlink(&path, dir.path().join("link")).expect("linked");
    assert!(matches!(UndoStore::open(&dir.path().join("link")), Err(UndoStoreError::System { .. })));
}

#[test]
fn a_directory_with_other_files_is_no_store_and_stays_as_it_is() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("set");
    fs::write(dir.path().join("notes"), "").expect("written");
    assert!(matches!(UndoStore::open(dir.path()), Err(UndoStoreError::NoStore(_))));
    assert!(matches!(UndoStore::open_existing(dir.path()), Err(UndoStoreError::NoStore(_))));
    assert_eq!((mode(dir.path()), fs::read_dir(dir.path()).expect("read").count()), (0o755, 1));
}

#[test]
fn a_store_that_another_process_is_about_to_create_is_opened() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join(KEPT)).expect("made");
    UndoStore::open(dir.path()).expect("opened");
}

#[test]
fn looking_for_a_store_creates_none() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("state/undo");
    assert_eq!(UndoStore::open_existing(&path).expect("looked"), None);
    assert_eq!(UndoStore::open_existing(dir.path()).expect("looked"), None);
    assert_eq!(fs::read_dir(dir.path()).expect("read").count(), 0);
    let store = UndoStore::open(&path).expect("opened");
    assert_eq!(UndoStore::open_existing(&path).expect("looked"), Some(store));
}

#[test]
fn no_point_is_made_for_the_root_or_for_home() {
    let dir = tempfile::tempdir().expect("a folder");
    let home = dir.path().canonicalize().expect("real");
    assert!(no_point_for(Path::new("/"), None).is_some());
    assert!(no_point_for(&home, Some(&home)).is_some());
    assert!(no_point_for(&home, Some(dir.path())).is_some());
    assert!(no_point_for(&home.join("project"), Some(&home)).is_none());
}

#[test]
fn old_points_and_the_oldest_of_too_many_are_evicted_and_told() {
    let scene = UndoScene::new();
    let (time, ms) = now();
    let week = u64::try_from(RETENTION.as_millis()).expect("a time");
    for (run, at, bytes) in
        [("old", ms - week - 1000, 1), ("a", ms - 3000, 6), ("b", ms - 2000, 6), ("c", ms - 1000, 6)]
    {
        point(&scene, run, at, bytes);
    }
    let cost = scene.store.read_summary("b").expect("listed").cost;
    let limits = UndoLimits { store_bytes: 3 * cost - 1, ..UndoLimits::default() };
    assert_eq!(evicted(&scene.store, limits, time), ["old", "a"]);
    let listed: Vec<_> = list_points(&scene.store, None)
        .expect("listed")
        .into_iter()
        .map(|point| (point.run, point.bytes, point.evicted))
        .collect();
    let limit = Some(format!("the store holds at most {} bytes", limits.store_bytes));
    assert_eq!(
        listed,
        [
            ("c".to_owned(), 6, None),
            ("b".to_owned(), 6, None),
            ("a".to_owned(), 6, limit),
            ("old".to_owned(), 1, Some("older than 7 days".to_owned())),
        ]
    );
    let refused = undo(&scene.store, "old", UndoRequest::default());
    assert!(matches!(refused, Err(UndoError::Store(UndoStoreError::Evicted { .. }))));
    assert!(scene.undo("b").conflicts.is_empty());
}

#[test]
fn a_running_command_keeps_its_point_and_an_undo_at_work_all() {
    let scene = UndoScene::new();
    let (time, ms) = now();
    point(&scene, "done", ms, 6);
    scene.write("f", "123456");
    let mut run = scene.begin("running");
    run.remove("f").expect("done");
    let limits = UndoLimits { store_bytes: 0, ..UndoLimits::default() };
    let lock = scene.store.lock().expect("locked");
    assert_eq!(evicted(&scene.store, limits, time), [] as [&str; 0]);
    drop(lock);
    assert_eq!(evicted(&scene.store, limits, time), ["done"]);
    assert!(scene.store.is_running("running") && scene.store.has("running"));
}

#[test]
fn points_are_listed_newest_first_by_directory_and_with_their_undos() {
    let scene = UndoScene::new();
    let (_, ms) = now();
    point(&scene, "one", ms - 2000, 1);
    point(&scene, "two", ms - 1000, 1);
    let undone = scene.undo("one");
    let runs = |cwd: Option<&Path>| -> Vec<String> {
        list_points(&scene.store, cwd).expect("listed").into_iter().map(|point| point.run).collect()
    };
    assert_eq!(runs(None), [undone.undo.clone(), "two".into(), "one".into()]);
    assert_eq!(runs(scene.root.parent()).len(), 3);
    assert_eq!(runs(Some(&scene.root.join("below"))), [] as [&str; 0]);
    let listed = list_points(&scene.store, None).expect("listed");
    assert_eq!((listed[0].command.as_str(), listed[0].all), ("undo one", true));
    assert_eq!(listed[2].command, "test");
}

#[test]
fn what_a_run_did_not_cover_is_told() {
    let scene = UndoScene::new();
    let run = scene.begin("r");
    run.journal.finish(vec!["git push: what was pushed stays pushed".into()]).expect("finished");
    let listed = list_points(&scene.store, None).expect("listed");
    assert!(listed[0].all, "of files");
    assert_eq!(scene.undo("r").not_covered, ["git push: what was pushed stays pushed"]);
}
