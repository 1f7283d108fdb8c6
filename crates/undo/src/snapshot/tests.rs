//! Runs that are known from a snapshot.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::change_journal::ChangeJournal;
use crate::manifest::{CoverageExtent, ManifestHeader, RunManifest};
use crate::run_images::UndoLimits;
use crate::testing::UndoScene;
use crate::{TreeSnapshot, read_ended_run};

/// More than any test takes.
const LONG: Duration = Duration::from_secs(60);

fn begin(scene: &UndoScene, run: &str, limits: UndoLimits, time: Duration) -> (ChangeJournal, TreeSnapshot) {
    let header = ManifestHeader { tree: scene.root.clone(), ..scene.header(run) };
    let mut journal = ChangeJournal::begin(&scene.store, header, limits).expect("begun");
    let snapshot = TreeSnapshot::take(&mut journal, &scene.root, time).expect("taken");
    (journal, snapshot)
}

fn script(scene: &UndoScene, script: &str) {
    let output = Command::new("/bin/bash").args(["-ec", script]).current_dir(&scene.root).output().expect("bash");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a script between a snapshot and a comparison.
fn run_with(scene: &UndoScene, run: &str, limits: UndoLimits, text: &str) -> RunManifest {
    let (mut journal, snapshot) = begin(scene, run, limits, LONG);
    script(scene, text);
    snapshot.compare(&mut journal).expect("compared");
    journal.finish(Vec::new()).expect("finished");
    read_ended_run(&scene.store, run).expect("a record")
}

fn run(scene: &UndoScene, run: &str, text: &str) -> RunManifest {
    run_with(scene, run, UndoLimits::DEFAULT, text)
}

fn furnished() -> UndoScene {
    let scene = UndoScene::new();
    for name in ["a", "b", "d/x", "d/y", "d/e/z", ".git/HEAD", ".git/objects/aa/1", "node_modules/m/index.js"] {
        scene.write(name, &format!("{name}\n"));
    }
    fs::create_dir(scene.path("empty")).expect("made");
    symlink("a", scene.path("link")).expect("linked");
    fs::hard_link(scene.path("a"), scene.path("d/a")).expect("linked");
    scene
}

#[test]
fn what_a_run_changed_comes_back_and_nothing_else_is_recorded() {
    for (at, text) in [
        ":",
        "rm -r d",
        "rm -rf .git node_modules empty link",
        "echo more >> a; echo other > b",
        "sed -i s/b/c/ b; chmod 600 d/x; chmod 700 d",
        "mkdir -p n/m; echo x > n/m/f; echo y > d/new; ln -s x d/link; mkfifo n/pipe",
        "mv d g; echo x > g/e/new; rm g/y",
        "mv d/e f; mv d f/d",
        "mkdir n; mv d n/d; mv n m",
        "rm b; mkdir b; echo x > b/f; rm -r d; echo file > d",
        "mv d t; mv empty d; mv t empty",
        "rm link; ln -s b link; rm d/a; cp a d/a",
        "rm -r d; mkdir d; echo x > d/x",
        "touch -d @1 a; truncate -s 0 b; chmod 500 .",
        "name=$(printf 'new\\nline'); echo x > \"$name\"; mv d/x \"$name.x\"",
    ]
    .iter()
    .enumerate()
    {
        let scene = furnished();
        let before = scene.snapshot();
        let id = format!("r{at}");
        let point = run(&scene, &id, text);
        let is_quiet = *text == ":";
        assert_eq!(
            point.states_before.is_empty() && point.states_after_run.is_empty(),
            is_quiet,
            "{text}: {:?}",
            point.states_before
        );
        let end = point.end.as_ref().expect("an end");
        assert_eq!((end.extent, end.not_covered.len()), (CoverageExtent::Part, 1), "{text}");
        assert!(end.not_covered[0].contains(scene.root.to_str().expect("text")), "{text}");
        let undone = scene.undo(&id);
        assert_eq!(undone.conflicts, [], "{text}");
        let mut now = scene.snapshot();
        fs::set_permissions(&scene.root, fs::Permissions::from_mode(0o755)).expect("set");
        if now != before {
            now.retain(|path, seen| before.get(path) != Some(seen));
            panic!("{text}: {now:?}");
        }
        // Only what changed is kept.
        let directory = scene.store.image_directory(&id).expect("an id");
        assert!(!directory.join("pack").exists() && !directory.join("tree").exists());
    }
}

#[test]
fn a_run_without_changes_keeps_no_file() {
    let scene = furnished();
    let end = run(&scene, "r", "cat a b > /dev/null").end.expect("an end");
    assert_eq!(end.bytes, 0);
    let kept = fs::read_dir(scene.store.image_directory("r").expect("an id")).map_or(0, Iterator::count);
    assert_eq!(kept, 0);
}

#[test]
fn a_file_that_was_rewritten_in_the_same_tick_of_the_clock_is_found() {
    let scene = furnished();
    let before = scene.snapshot();
    let point = run(&scene, "r", "time=$(stat -c %.Y a); echo b > a; touch -d @$time a");
    assert!(point.states_before.contains_key(&scene.path("a")));
    scene.undo("r");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn a_moved_directory_is_one_move() {
    let scene = furnished();
    let point = run(&scene, "r", "mv d g");
    assert_eq!(point.moved.len(), 1);
    assert!(!point.states_before.contains_key(&scene.path("d/x")));
}

#[test]
fn a_large_file_is_kept_by_another_name() {
    let limits = UndoLimits { file_bytes: 10, ..UndoLimits::DEFAULT };
    let scene = furnished();
    scene.write("large", &"x".repeat(100));
    scene.write("written", &"x".repeat(100));
    let point = run_with(&scene, "r", limits, "rm large; echo y >> written; rm a");
    let undone = scene.undo("r");
    assert_eq!(scene.read("large").map(|text| text.len()), Some(100));
    assert_eq!(scene.read("written").map(|text| text.len()), Some(102));
    assert_eq!(scene.read("a").as_deref(), Some("a\n"));
    assert_eq!(point.end.map(|end| end.extent), Some(CoverageExtent::Part));
    assert!(undone.not_covered.iter().any(|what| what.contains("written")), "{:?}", undone.not_covered);
}

#[test]
fn a_file_that_is_not_kept_is_never_removed_where_it_was_moved() {
    let limits = UndoLimits { run_bytes: 10, ..UndoLimits::DEFAULT };
    for text in ["mv large there", "mkdir n; mv large n/", "mv d n"] {
        let scene = furnished();
        scene.write("large", &"x".repeat(100));
        scene.write("d/large", &"y".repeat(100));
        run_with(&scene, "r", limits, text);
        scene.undo("r");
        let all = scene.snapshot();
        for letter in ["x", "y"] {
            let is_there = all.values().any(|seen| seen.what == format!("file {}", letter.repeat(100)));
            assert!(is_there, "{text}");
        }
    }
}

#[test]
fn without_time_what_is_missing_is_named_and_nothing_is_taken_for_new() {
    let scene = furnished();
    let (mut journal, snapshot) = begin(&scene, "r", UndoLimits::DEFAULT, Duration::ZERO);
    script(&scene, "rm a; echo x > new");
    snapshot.compare(&mut journal).expect("compared");
    journal.finish(Vec::new()).expect("finished");
    let point = read_ended_run(&scene.store, "r").expect("a record");
    assert!(!point.uncovered.is_empty());
    scene.undo("r");
    assert_eq!(scene.read("new").as_deref(), Some("x\n"));
}

#[test]
fn a_run_whose_recorder_was_killed_loses_nothing() {
    let scene = furnished();
    let (journal, snapshot) = begin(&scene, "r", UndoLimits::DEFAULT, LONG);
    drop((journal, snapshot));
    std::thread::sleep(Duration::from_millis(60));
    script(&scene, "rm -r d; echo other > b; echo x > new");
    let undone = scene.undo("r");
    assert_eq!(scene.read("d/e/z").as_deref(), Some("d/e/z\n"));
    // The change may not be the run's.
    assert_eq!(scene.read("new").as_deref(), Some("x\n"));
    // Whether the new file is named depends on the time between its making and its text.
    let known = [scene.path("b"), scene.path("new")];
    assert!(undone.conflicts.iter().all(|conflict| known.contains(&conflict.path)), "{:?}", undone.conflicts);
    let conflict = undone.conflicts.iter().find(|conflict| conflict.path == scene.path("b")).expect("a conflict");
    let kept = conflict.kept_at.as_deref().map(fs::read_to_string);
    assert_eq!(kept.and_then(Result::ok).as_deref(), Some("b\n"));
}

#[test]
fn links_in_the_way_lead_nowhere() {
    let scene = furnished();
    let secret = scene.store.path().parent().expect("above").join("secret");
    fs::create_dir(&secret).expect("made");
    fs::write(secret.join("x"), "a long secret").expect("written");
    let secret = secret.display();
    let before = scene.snapshot();
    let point = run(&scene, "r", &format!("rm -r d; ln -s {secret} d"));
    assert!(!point.states_before.values().any(|state| state.size() == Some(13)));
    scene.undo("r");
    assert_eq!(scene.snapshot(), before);
    assert_eq!(fs::read_to_string(Path::new(&format!("{secret}/x"))).expect("read"), "a long secret");
}

#[test]
fn things_that_cannot_be_copied_stop_nothing() {
    let scene = furnished();
    script(&scene, "mkfifo pipe; truncate -s 1T sparse; head -c 255 /dev/zero | tr '\\0' n | xargs touch");
    let before = scene.names();
    run(&scene, "r", "rm -rf *");
    let undone = scene.undo("r");
    let left: Vec<_> = before.iter().filter(|path| !scene.names().contains(path)).collect();
    assert_eq!(left, [&scene.path("sparse")]);
    assert!(
        undone.not_covered.iter().any(|what| what.contains("sparse: 1073741824 bytes")),
        "{:?}",
        undone.not_covered
    );
}
