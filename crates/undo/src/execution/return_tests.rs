//! What an undo brings back is as if it had never been away: the same file, with no other name, at its place alone.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use super::*;
use crate::run_images::set_mtime;
use crate::testing::UndoScene;

fn undo_paths(scene: &UndoScene, run: &str, names: &[&str]) -> UndoOutcome {
    let paths: Vec<PathBuf> = names.iter().map(|name| scene.path(name)).collect();
    undo(&scene.store, run, UndoRequest { paths: &paths, ..UndoRequest::default() }).expect("undone")
}

fn names_of(scene: &UndoScene, name: &str) -> u64 {
    fs::metadata(scene.path(name)).expect("there").nlink()
}

fn relative(scene: &UndoScene, paths: &[PathBuf]) -> Vec<String> {
    let name = |path: &PathBuf| path.strip_prefix(&scene.root).map_or_else(|_| path.clone(), Path::to_owned);
    paths.iter().map(|path| name(path).display().to_string()).collect()
}

#[test]
fn one_file_of_a_removed_directory_comes_back_in_its_directory() {
    let scene = UndoScene::new();
    for name in ["d/x", "d/y", "d/e/z"] {
        scene.write(name, name);
    }
    fs::set_permissions(scene.path("d"), fs::Permissions::from_mode(0o750)).expect("set");
    scene.run("r", |run| run.remove_all("d").expect("done"));
    let undone = undo_paths(&scene, "r", &["d/e/z"]);
    assert_eq!(undone.conflicts, []);
    assert_eq!(relative(&scene, &undone.restored), ["d", "d/e", "d/e/z"]);
    assert_eq!((scene.read("d/e/z").as_deref(), scene.read("d/x")), (Some("d/e/z"), None));
    assert_eq!(fs::metadata(scene.path("d")).expect("there").mode() & 0o777, 0o750);
    let undone = scene.undo("r");
    assert_eq!((undone.conflicts, scene.read("d/x").as_deref()), (Vec::new(), Some("d/x")));
}

#[test]
fn a_file_of_a_moved_directory_is_named_when_it_alone_is_wanted() {
    let scene = UndoScene::new();
    scene.write("d/x", "text");
    scene.run("r", |run| run.rename("d", "e").expect("done"));
    let undone = undo_paths(&scene, "r", &["d/x"]);
    assert_eq!(relative(&scene, &[undone.conflicts[0].path.clone()]), ["d/x"]);
    assert!(undone.conflicts[0].why.contains("/e"), "{:?}", undone.conflicts);
    assert_eq!(scene.read("e/x").as_deref(), Some("text"));
}

#[test]
fn a_directory_that_was_made_again_with_another_mode_is_no_conflict() {
    for has_entries in [false, true] {
        let scene = UndoScene::new();
        fs::create_dir_all(scene.path("d/e")).expect("made");
        if has_entries {
            scene.write("d/e/f", "text");
        }
        for name in ["d", "d/e"] {
            fs::set_permissions(scene.path(name), fs::Permissions::from_mode(0o775)).expect("set");
        }
        let before = scene.snapshot();
        scene.run("r", |run| {
            run.remove_all("d").expect("done");
            run.make_directory("d").expect("done");
            run.make_directory("d/e").expect("done");
            run.write("d/e/f", "new").expect("done");
            run.write("d/e/n", "new").expect("done");
        });
        let undone = scene.undo("r");
        assert_eq!((undone.conflicts, scene.snapshot()), (Vec::new(), before));
    }
}

#[test]
fn what_is_removed_has_the_path_that_the_run_gave_to_it() {
    let scene = UndoScene::new();
    scene.write("src/a", "text");
    scene.run("r", |run| {
        run.write("src/n", "new").expect("done");
        run.make_directory("all").expect("done");
        run.rename("src", "all/src").expect("done");
    });
    for dry_run in [true, false] {
        let undone = undo(&scene.store, "r", UndoRequest { dry_run, ..UndoRequest::default() }).expect("undone");
        let mut removed = relative(&scene, &undone.removed);
        removed.sort();
        assert_eq!(removed, ["all", "all/src/n"]);
    }
}

#[test]
fn a_git_index_comes_back_with_its_time() {
    let scene = UndoScene::new();
    scene.write(".git/index", "old");
    scene.write(".git/worktrees/w/index", "old");
    scene.write("VERSION", "old");
    let names = [".git/index", ".git/worktrees/w/index", "VERSION"];
    let old = crate::path_state::FileTime { seconds: 1_000_000_000, nanoseconds: 0 };
    names.iter().for_each(|name| set_mtime(&scene.path(name), old).expect("set"));
    for way in ["replace", "write"] {
        scene.run(way, |run| {
            for name in names {
                if way == "replace" { run.replace(name, "new") } else { run.write(name, "new") }.expect("done");
            }
        });
        assert_eq!(scene.undo(way).conflicts, []);
        let times = names.map(|name| fs::metadata(scene.path(name)).expect("there").mtime());
        assert_eq!((times[0], times[1]), (old.seconds, old.seconds), "{way}");
        assert!(times[2] > old.seconds, "{way}");
    }
}

#[test]
fn a_file_that_came_back_has_no_other_name() {
    let scene = UndoScene::new();
    for name in ["a", "b", "c", "d"] {
        scene.write(name, name);
    }
    scene.run("r", |run| {
        run.remove("a").expect("done");
        run.replace("b", "new").expect("done");
        run.rename("c", "moved").expect("done");
        run.rename("d", "a").expect("done");
    });
    assert_eq!(["a", "moved"].map(|name| names_of(&scene, name)), [1, 1]);
    let bytes = || scene.store.read_summary("r").expect("a point").bytes;
    assert_eq!(bytes(), 2);
    let (mut last, before) = (scene.undo("r"), scene.snapshot());
    assert_eq!(bytes(), 0);
    for _ in 0..3 {
        assert_eq!(last.conflicts, []);
        assert_eq!(scene.snapshot(), before);
        assert_eq!(["a", "b", "c", "d"].map(|name| names_of(&scene, name)), [1, 1, 1, 1]);
        let redone = scene.undo(&last.undo);
        assert_eq!(redone.conflicts, []);
        assert_eq!(["a", "b", "moved"].map(|name| names_of(&scene, name)), [1, 1, 1]);
        last = scene.undo(&redone.undo);
    }
}

#[test]
fn an_edit_that_hides_its_time_never_comes_back_as_the_earlier_file() {
    let scene = UndoScene::new();
    scene.write("a", "RIGHT");
    scene.write("b", "other");
    scene.run("r", |run| {
        run.remove("a").expect("done");
        run.remove("b").expect("done");
    });
    // No longer the same tick of the clock, in which contents are read anyway.
    let mut stops = |step: &str| {
        if step == "finish" {
            std::thread::sleep(std::time::Duration::from_millis(30));
        }
        false
    };
    let options = UndoRequest { paths: &[scene.path("a")], ..UndoRequest::default() };
    assert_eq!(undo_with(&scene.store, "r", options, &mut stops).expect("undone").conflicts, []);
    let back = fs::metadata(scene.path("a")).expect("there");
    scene.write("a", "WRONG");
    let time = crate::path_state::FileTime { seconds: back.mtime(), nanoseconds: back.mtime_nsec() };
    set_mtime(&scene.path("a"), time).expect("set");
    for is_recorded in [true, false] {
        if is_recorded {
            scene.run("again", |run| run.remove("a").expect("done"));
        } else {
            fs::remove_file(scene.path("a")).expect("removed");
        }
        let undone = scene.undo("r");
        assert_ne!(scene.read("a").as_deref(), Some("WRONG"), "{undone:?}");
        if is_recorded {
            scene.undo("again");
            assert_eq!(scene.read("a").as_deref(), Some("WRONG"));
        }
    }
}

#[test]
fn an_older_undo_never_brings_back_what_the_user_wrote_since() {
    let scene = UndoScene::new();
    scene.write("a", "RIGHT");
    scene.run("older", |run| run.rename("a", "c").expect("done"));
    scene.run("newer", |run| run.remove("c").expect("done"));
    assert_eq!(scene.undo("newer").conflicts, []);
    scene.write("c", "by the user");
    scene.undo("older");
    assert_eq!((scene.read("a"), scene.read("c").as_deref()), (None, Some("by the user")));
}

#[test]
fn a_file_moved_over_another_comes_back_with_it_when_either_is_wanted() {
    for wanted in ["a", "b"] {
        let scene = UndoScene::new();
        scene.write("a", "one");
        scene.write("b", "two");
        scene.write("c", "three");
        let before = scene.snapshot();
        scene.run("r", |run| {
            run.rename("a", "b").expect("done");
            run.rename("c", "d").expect("done");
        });
        assert_eq!(undo_paths(&scene, "r", &[wanted]).conflicts, []);
        assert_eq!([scene.read("a").as_deref(), scene.read("b").as_deref()], [Some("one"), Some("two")], "{wanted}");
        assert_eq!((scene.read("c"), scene.read("d").as_deref()), (None, Some("three")));
        assert_eq!((scene.undo("r").conflicts, scene.snapshot()), (Vec::new(), before));
    }
}

#[test]
fn files_that_changed_places_change_them_back() {
    let scene = UndoScene::new();
    for name in ["a", "b", "c"] {
        scene.write(name, name);
    }
    let before = scene.snapshot();
    scene.run("r", |run| {
        run.rename("a", "t").expect("done");
        run.rename("b", "a").expect("done");
        run.rename("c", "b").expect("done");
        run.rename("t", "c").expect("done");
    });
    let after = scene.snapshot();
    let undone = scene.undo("r");
    assert_eq!((undone.conflicts, scene.snapshot()), (Vec::new(), before));
    let redone = scene.undo(&undone.undo);
    assert_eq!((redone.conflicts, scene.snapshot()), (Vec::new(), after));
}

#[test]
fn a_run_is_undone_again_after_its_undo_was_undone() {
    let scene = UndoScene::new();
    for name in ["a", "b", "d/c"] {
        scene.write(name, name);
    }
    let before = scene.snapshot();
    scene.run("r", |run| {
        run.remove_all("d").expect("done");
        run.remove("a").expect("done");
        run.replace("b", "new").expect("done");
    });
    for _ in 0..3 {
        let undone = scene.undo("r");
        assert_eq!((undone.conflicts, scene.snapshot()), (Vec::new(), before.clone()));
        assert_eq!(scene.undo(&undone.undo).conflicts, []);
        assert_eq!((scene.read("a"), scene.read("b").as_deref()), (None, Some("new")));
    }
}

#[test]
fn a_file_that_was_dated_and_moved_comes_back() {
    for is_killed in [false, true] {
        let scene = UndoScene::new();
        scene.write("a", "one");
        scene.write("b", "of another size");
        let before = scene.snapshot();
        let mut run = scene.begin("r");
        run.set_time("a", 1_000).expect("done");
        run.rename("a", "b").expect("done");
        // No longer the same tick of the clock, in which contents are read anyway.
        std::thread::sleep(std::time::Duration::from_millis(30));
        if is_killed {
            drop(run);
        } else {
            run.journal.finish(Vec::new()).expect("finished");
        }
        let undone = scene.undo("r");
        assert_eq!((undone.conflicts, scene.snapshot()), (Vec::new(), before), "{is_killed}");
    }
}

#[test]
fn the_other_names_of_a_file_that_is_restored_in_place_are_listed() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    scene.write("d/x", "two");
    fs::hard_link(scene.path("a"), scene.path("d/b")).expect("linked");
    scene.run("r", |run| run.write("a", "new").expect("done"));
    for dry_run in [true, false] {
        let undone = undo(&scene.store, "r", UndoRequest { dry_run, ..UndoRequest::default() }).expect("undone");
        assert_eq!(relative(&scene, &undone.restored), ["a", "d/b"]);
    }
}

#[test]
fn a_file_moved_over_another_comes_back_after_a_killed_undo() {
    for step in 0.. {
        let scene = UndoScene::new();
        scene.write("a", "one");
        scene.write("b", "two");
        let before = scene.snapshot();
        scene.run("r", |run| run.rename("b", "a").expect("done"));
        let is_killed = scene.undo_until("r", step);
        let undone = scene.undo("r");
        assert_eq!((undone.conflicts, scene.snapshot()), (Vec::new(), before), "step {step}");
        if !is_killed {
            assert!(step > 5, "{step} steps");
            break;
        }
    }
}

#[test]
fn a_file_moved_over_another_in_a_moved_directory_comes_back_after_a_killed_undo() {
    for step in 0..16 {
        let scene = UndoScene::new();
        for name in ["d/f", "d/g"] {
            scene.write(name, name);
        }
        let before = scene.snapshot();
        scene.run("r", |run| {
            run.rename("d/f", "d/g").expect("done");
            run.rename("d", "n").expect("done");
        });
        scene.undo_until("r", step);
        assert_eq!(scene.undo("r").conflicts, [], "killed at step {step}");
        assert_eq!(scene.snapshot(), before, "killed at step {step}");
    }
}

#[test]
fn a_directory_that_moved_comes_back_in_place_of_a_new_one_with_equal_files() {
    for step in 0.. {
        let scene = UndoScene::new();
        scene.write("d/f", "old");
        let before = scene.snapshot();
        scene.run("r", |run| {
            run.write("d/f", "new").expect("done");
            run.rename("d", "n").expect("done");
            run.make_directory("d").expect("done");
            run.write("d/f", "old").expect("done");
        });
        let is_killed = scene.undo_until("r", step);
        assert_eq!(scene.undo("r").conflicts, [], "killed at step {step}");
        assert_eq!(scene.snapshot(), before, "killed at step {step}");
        if !is_killed {
            break;
        }
    }
}
