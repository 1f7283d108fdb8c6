use super::*;
use crate::manifest::{self, CoverageExtent};
use crate::testing::{RecordedProgram, UndoScene};

fn read(scene: &UndoScene) -> RunManifest {
    manifest::read(&scene.store.manifest_path("r").expect("an id")).expect("read")
}

fn names(scene: &UndoScene, nodes: &PathMap<PathState>) -> Vec<String> {
    let name = |path: &Path| path.strip_prefix(&scene.root).expect("below").to_str().expect("text").to_owned();
    nodes.keys().map(name).collect()
}

#[test]
fn each_thing_is_recorded_once_and_as_it_was_first() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    scene.run("r", |run| {
        run.set_mode("a", 0o600).expect("done");
        run.write("a", "two").expect("done");
        run.remove("a").expect("done");
        run.write("a", "three").expect("done");
    });
    let point = read(&scene);
    let PathState::File(before) = &point.states_before[&scene.path("a")] else { panic!("no file") };
    assert!(matches!(before.contents, KnownContents::Image(_)));
    assert_eq!((before.size, before.meta.mode), (3, 0o644));
    assert_eq!(
        (names(&scene, &point.states_before), names(&scene, &point.states_after_run)),
        (vec!["a".into()], vec!["a".into()])
    );
}

#[test]
fn a_new_directory_is_recorded_with_all_that_is_in_it_at_the_end() {
    let scene = UndoScene::new();
    scene.run("r", |run| {
        run.make_directory("n").expect("done");
        run.make_directory("n/m").expect("done");
        run.write("n/m/x", "new").expect("done");
        run.write("n/gone", "new").expect("done");
        run.remove("n/gone").expect("done");
    });
    let point = read(&scene);
    assert_eq!(names(&scene, &point.states_before), ["n"]);
    assert_eq!(names(&scene, &point.states_after_run), ["n", "n/m", "n/m/x"]);
}

#[test]
fn a_moved_directory_is_one_entry_and_what_changes_in_it_has_its_path_of_before() {
    let scene = UndoScene::new();
    for name in ["d/a", "d/b", "d/c/x"] {
        scene.write(name, "one");
    }
    scene.run("r", |run| {
        run.rename("d", "e").expect("done");
        run.write("e/a", "two").expect("done");
    });
    let point = read(&scene);
    assert_eq!(names(&scene, &point.states_before), ["d", "d/a", "e"]);
    assert_eq!(names(&scene, &point.states_after_run), ["e", "e/a"]);
    assert_eq!(point.moved.len(), 1);
}

#[test]
fn changes_that_fail_leave_no_trace() {
    let scene = UndoScene::new();
    scene.write("d/f", "one");
    scene.write("k/l", "two");
    scene.run("r", |run| {
        run.rename("d", "k").expect_err("not empty");
        run.remove("k").expect_err("not empty");
        run.make_directory("d").expect_err("there");
    });
    let point = read(&scene);
    assert_eq!((point.moved.len(), point.names.moved_directories().count()), (0, 0));
    let unchanged = point
        .states_before
        .iter()
        .all(|(path, state)| point.states_after_run.get(path).is_some_and(|left| left.is_alike(state)));
    assert!(unchanged);
}

#[test]
fn a_file_with_the_contents_of_before_is_recorded_as_such() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    scene.write("b", "one");
    scene.run("r", |run| {
        run.write("a", "one").expect("done");
        run.write("b", "two").expect("done");
    });
    let point = read(&scene);
    let contents = |nodes: &PathMap<PathState>, name: &str| match &nodes[&scene.path(name)] {
        PathState::File(file) => file.contents.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(contents(&point.states_before, "a"), contents(&point.states_after_run, "a"));
    assert!(matches!(contents(&point.states_after_run, "b"), KnownContents::Hash(_)));
}

#[test]
fn a_receipt_alone_keeps_no_contents() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    scene.write("b", "two");
    let header = ManifestHeader { purpose: ManifestPurpose::Receipt, ..scene.header("r") };
    let mut journal = ChangeJournal::begin(&scene.store, header, UndoLimits::default()).expect("begun");
    journal.record_before_change(&scene.path("a"), ComingChange::Rewrite).expect("recorded");
    journal.record_before_change(&scene.path("b"), ComingChange::Remove).expect("recorded");
    std::fs::remove_file(scene.path("b")).expect("removed");
    let end = journal.finish(Vec::new()).expect("finished");
    assert_eq!((end.bytes, end.not_covered), (0, Vec::new()));
    let point = read(&scene);
    let PathState::File(rewritten) = &point.states_before[&scene.path("a")] else { panic!("no file") };
    assert!(matches!(rewritten.contents, KnownContents::Hash(_)));
    assert!(!scene.store.image_directory("r").expect("an id").exists());
}

#[test]
fn what_is_not_covered_is_counted() {
    let scene = UndoScene::new();
    let mut run = scene.begin("r");
    run.journal.record_gap(&scene.path("fifo"), "it was in use").expect("written");
    let end = run.journal.finish(Vec::new()).expect("finished");
    assert_eq!((end.extent, end.not_covered), (CoverageExtent::Part, Vec::new()));
    assert_eq!(read(&scene).uncovered, [(scene.path("fifo"), "it was in use".to_owned())]);
}

#[test]
fn a_file_whose_time_changed_before_it_went_comes_back() {
    for moved in [false, true] {
        let scene = UndoScene::new();
        scene.write("a", "one");
        let before = scene.snapshot();
        scene.run("r", |run| {
            let name = if moved { "b" } else { "a" };
            if moved {
                run.rename("a", name).expect("done");
            }
            run.set_time(name, 1_000).expect("done");
            run.remove(name).expect("done");
        });
        assert_eq!(scene.undo("r").conflicts, []);
        assert_eq!(scene.snapshot(), before);
    }
}

#[test]
fn a_moved_directory_that_was_removed_comes_back_whatever_took_its_place() {
    for made in ["file", "directory"] {
        let scene = UndoScene::new();
        scene.write("d/f", "one");
        let before = scene.snapshot();
        scene.run("r", |run| {
            run.rename("d", "e").expect("done");
            run.remove_all("e").expect("done");
            match made {
                "file" => run.write("e", "two"),
                _ => run.make_directory("e").and_then(|()| run.write("e/f", "two")),
            }
            .expect("done");
        });
        assert_eq!(scene.undo("r").conflicts, [], "{made}");
        assert_eq!(scene.snapshot(), before, "{made}");
    }
}

#[test]
fn renames_that_failed_are_not_looked_for_for_ever() {
    let scene = UndoScene::new();
    for at in 0..100 {
        scene.write(&format!("f{at}"), "one");
    }
    scene.write("d/x", "one");
    scene.run("r", |run| {
        let touch = |run: &mut RecordedProgram, from: &str, to: &str| {
            let (from, to) = (scene.path(from), scene.path(to));
            run.touch(&from, ComingChange::Rename((&*to).into()));
        };
        touch(run, "d", "e");
        for at in 0..100 {
            touch(run, &format!("f{at}"), &format!("g{at}"));
        }
        assert_eq!(run.journal.pending.len(), 33, "the directory, and the last files");
        // The call of the directory was answered last.
        std::fs::rename(scene.path("d"), scene.path("e")).expect("moved");
        run.write("e/x", "two").expect("done");
        run.rename("f0", "g0").expect("done");
    });
    let before = names(&scene, &read(&scene).states_before);
    assert!(before.contains(&"d/x".to_owned()), "{before:?}");
    let undone = scene.undo("r");
    assert_eq!((undone.conflicts, scene.read("d/x").as_deref()), (Vec::new(), Some("one")));
    assert_eq!((scene.read("f0").as_deref(), scene.read("g0")), (Some("one"), None));
}

#[test]
fn the_names_of_a_new_file_are_those_that_are_recorded() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    let before = scene.snapshot();
    scene.run("r", |run| {
        run.remove("a").expect("done");
        run.write("b", "two").expect("done");
        run.link("b", "c").expect("done");
        run.write("c", "three").expect("done");
    });
    assert_eq!(names(&scene, &read(&scene).states_before), ["a", "b", "c"]);
    let undone = scene.undo("r");
    assert_eq!((undone.conflicts, undone.not_covered), (Vec::new(), Vec::new()));
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn a_moved_file_whose_time_changed_keeps_its_other_names() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    std::fs::hard_link(scene.path("a"), scene.path("other")).expect("linked");
    let before = scene.snapshot();
    scene.run("r", |run| {
        run.rename("a", "b").expect("done");
        run.set_time("b", 1_000).expect("done");
    });
    assert_eq!(scene.undo("r").conflicts, []);
    assert_eq!(scene.snapshot(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_rename_that_failed_is_not_taken_for_a_later_one() {
    for killed in [false, true] {
        let scene = UndoScene::new();
        for name in ["d/f", "k/l", "p/x/y", "q/x/z"] {
            scene.write(name, name);
        }
        let before = scene.snapshot();
        let mut run = scene.begin("r");
        run.rename("k", "d").expect_err("not empty");
        run.swap("d", "k").expect("done");
        run.rename("p/x", "q/x").expect_err("not empty");
        run.remove_all("q").expect("done");
        run.rename("p", "q").expect("done");
        if killed {
            drop(run);
        } else {
            run.journal.finish(Vec::new()).expect("finished");
        }
        assert_eq!(read(&scene).moved.len(), if killed { 1 } else { 2 });
        assert_eq!(scene.undo("r").conflicts, []);
        assert_eq!(scene.snapshot(), before);
    }
}
