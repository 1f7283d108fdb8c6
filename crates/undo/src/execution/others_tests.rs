//! Changes that other programs make while the run goes on stay, and are named.

use std::collections::HashSet;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use super::*;
use crate::testing::{RecordedProgram, UndoScene};

/// Longer than the clock that dates files may lag behind.
const WHILE: Duration = Duration::from_millis(40);

/// Returns what an undo leaves, and how many things others have changed.
fn left(scene: &UndoScene) -> (Vec<String>, usize) {
    let point = scene.store.read_undoable_run("r").expect("read");
    let undone = scene.undo("r");
    let name = |stayed: &ReportedConflict| {
        stayed.path.strip_prefix(&scene.root).expect("below").to_string_lossy().into_owned()
    };
    (undone.conflicts.iter().map(name).collect(), point.foreign_paths.len())
}

/// Runs `others` while no process of the run can change a file.
fn rested(run: &mut RecordedProgram, open: HashSet<u64>, others: impl FnOnce()) {
    sleep(WHILE);
    run.journal.begin_rest(open);
    sleep(WHILE);
    others();
    sleep(WHILE);
    run.journal.end_rest();
}

#[test]
fn a_file_that_another_program_changes_while_the_run_rests_stays() {
    let scene = UndoScene::new();
    for name in ["a", "b", "c", "d", "e"] {
        scene.write(name, "old");
    }
    scene.run("r", |run| {
        run.journal.expect_announced_changes();
        for name in ["a", "b", "d", "new"] {
            run.write(name, "by the run").expect("done");
        }
        run.rename("c", "moved").expect("done");
        rested(run, HashSet::new(), || {
            scene.write("a", "in place");
            scene.write("t", "in one step");
            fs::rename(scene.path("t"), scene.path("b")).expect("renamed");
            scene.write("new", "in place");
            scene.write("moved", "in place");
            fs::remove_file(scene.path("d")).expect("removed");
        });
        run.write("e", "by the run").expect("done");
    });
    assert_eq!(left(&scene), (["a", "b", "d", "new", "moved"].map(String::from).into(), 5));
    for (name, text) in [("a", "in place"), ("b", "in one step"), ("new", "in place"), ("moved", "in place")] {
        assert_eq!(scene.read(name).as_deref(), Some(text), "{name}");
    }
    assert_eq!((scene.read("d"), scene.read("e").as_deref()), (None, Some("old")));
}

#[test]
fn a_file_that_the_run_could_write_to_is_its_own() {
    let scene = UndoScene::new();
    scene.write("a", "old");
    scene.run("r", |run| {
        run.journal.expect_announced_changes();
        run.write("a", "one").expect("done");
        let inode = std::os::unix::fs::MetadataExt::ino(&fs::metadata(scene.path("a")).expect("there"));
        rested(run, HashSet::from([inode]), || scene.write("a", "through an open descriptor"));
    });
    assert_eq!(left(&scene), (Vec::new(), 0));
    assert_eq!(scene.read("a").as_deref(), Some("old"));
}

#[test]
fn what_another_program_makes_anew_stays() {
    for tells in [true, false] {
        let scene = UndoScene::new();
        for name in ["d/f", "g", "k/l"] {
            scene.write(name, "old");
        }
        scene.run("r", |run| {
            run.journal.expect_announced_changes();
            run.remove_all("d").expect("done");
            run.rename("g", "h").expect("done");
            // A removal that fails leaves what was there.
            run.remove("k").expect_err("not empty");
            scene.write("d/f", "anew");
            scene.write("g", "anew");
            if !tells {
                run.journal.stop_announcements();
            }
        });
        let (conflicts, count) = left(&scene);
        let expected: &[&str] = if tells { &["d/f", "g"] } else { &[] };
        assert_eq!((conflicts.iter().map(String::as_str).collect::<Vec<_>>(), count > 0), (expected.to_vec(), tells));
        let text = if tells { "anew" } else { "old" };
        assert_eq!(["d/f", "g"].map(|name| scene.read(name)), [Some(text.to_owned()), Some(text.to_owned())]);
        assert_eq!(scene.read("h").as_deref(), tells.then_some("old"), "a moved file that cannot go back stays");
    }
}

#[test]
fn what_fails_to_come_back_is_not_removed_by_others() {
    let scene = UndoScene::new();
    scene.write("a", "old");
    scene.run("r", |run| {
        run.journal.expect_announced_changes();
        run.remove("a").expect("done");
        run.link("nothing", "a").expect_err("nothing there");
    });
    assert_eq!(left(&scene), (Vec::new(), 0));
    assert_eq!(scene.read("a").as_deref(), Some("old"));
}

#[test]
fn what_another_program_makes_in_a_directory_of_the_run_stays() {
    let scene = UndoScene::new();
    scene.run("r", |run| {
        run.journal.expect_announced_changes();
        run.make_directory("out").expect("done");
        run.make_directory("out/in").expect("done");
        run.write("out/own", "new").expect("done");
        let key = |name: &str| {
            let path = scene.path(name);
            let directory = fs::metadata(path.parent().expect("above")).expect("there");
            let inode = std::os::unix::fs::MetadataExt::ino(&directory);
            confine_listener::name_key(inode, path.file_name().expect("a name").as_encoded_bytes())
        };
        run.journal.announce_names(["out/own", "out/in"].map(key));
        scene.write("out/in/report", "by another");
    });
    assert_eq!(left(&scene), (vec!["out/in".into()], 1));
    assert_eq!((scene.read("out/in/report").as_deref(), scene.read("out/own")), (Some("by another"), None));
}
