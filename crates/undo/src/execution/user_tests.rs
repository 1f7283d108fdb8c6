//! Changes that a user makes after the run stay, and are named.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;
use crate::manifest::CoverageExtent;
use crate::testing::UndoScene;

fn conflicts(scene: &UndoScene, undone: &UndoOutcome) -> Vec<(String, bool)> {
    let name = |path: &Path| path.strip_prefix(&scene.root).expect("below").to_str().expect("text").to_owned();
    undone.conflicts.iter().map(|stayed| (name(&stayed.path), stayed.kept_at.is_some())).collect()
}

fn conflict(name: &str, kept: bool) -> (String, bool) {
    (name.to_owned(), kept)
}

#[test]
fn a_file_that_the_user_edited_stays_and_the_old_one_is_kept_beside_the_store() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    scene.write("b", "two");
    scene.run("r", |run| {
        run.write("a", "by the run").expect("done");
        run.remove("b").expect("done");
    });
    scene.write("a", "by the user");
    let undone = scene.undo("r");
    assert_eq!(conflicts(&scene, &undone), [conflict("a", true)]);
    assert_eq!((scene.read("a").as_deref(), scene.read("b").as_deref()), (Some("by the user"), Some("two")));
    let kept = undone.conflicts[0].kept_at.clone().expect("kept");
    assert_eq!(fs::read_to_string(kept).expect("read"), "one");
}

#[test]
fn a_made_file_that_the_user_edited_stays_with_its_directory() {
    let scene = UndoScene::new();
    scene.run("r", |run| {
        run.make_directory("n").expect("done");
        run.write("n/a", "one").expect("done");
        run.write("n/b", "two").expect("done");
    });
    scene.write("n/a", "by the user");
    let undone = scene.undo("r");
    assert_eq!(conflicts(&scene, &undone), [conflict("n/a", false)]);
    assert_eq!((scene.read("n/a").as_deref(), scene.read("n/b")), (Some("by the user"), None));
}

#[test]
fn a_made_directory_in_which_the_user_put_something_stays() {
    let scene = UndoScene::new();
    scene.run("r", |run| {
        run.make_directory("n").expect("done");
        run.write("n/a", "one").expect("done");
    });
    scene.write("n/mine", "by the user");
    let undone = scene.undo("r");
    assert_eq!(conflicts(&scene, &undone), [conflict("n", false)]);
    assert_eq!((scene.read("n/mine").as_deref(), scene.read("n/a")), (Some("by the user"), None));
}

#[test]
fn a_moved_directory_comes_back_with_what_the_user_did_in_it() {
    let scene = UndoScene::new();
    scene.write("d/f", "one");
    scene.write("d/g", "two");
    scene.run("r", |run| {
        run.rename("d", "e").expect("done");
        run.write("e/f", "by the run").expect("done");
    });
    scene.write("e/g", "by the user");
    scene.write("e/mine", "by the user");
    let undone = scene.undo("r");
    assert_eq!(conflicts(&scene, &undone), []);
    assert_eq!(scene.read("d/f").as_deref(), Some("one"));
    assert_eq!(
        [scene.read("d/g"), scene.read("d/mine")],
        [Some("by the user".to_owned()), Some("by the user".to_owned())]
    );
    assert!(!scene.path("e").exists());
}

#[test]
fn a_conflict_in_a_moved_directory_has_the_path_to_which_that_came_back() {
    let scene = UndoScene::new();
    scene.write("d/f", "one");
    fs::create_dir(scene.path("n")).expect("made");
    scene.run("r", |run| {
        run.rename("d", "n").expect("done");
        run.write("n/a", "new").expect("done");
    });
    scene.write("n/a", "by the user");
    let undone = scene.undo("r");
    assert_eq!(conflicts(&scene, &undone), [conflict("d/a", false)]);
    assert_eq!(scene.read("d/a").as_deref(), Some("by the user"));
}

#[test]
fn a_moved_directory_stays_if_the_user_needs_its_place() {
    let scene = UndoScene::new();
    scene.write("d/f", "one");
    scene.run("r", |run| {
        run.rename("d", "e").expect("done");
        run.write("e/f", "by the run").expect("done");
    });
    scene.write("d/mine", "by the user");
    let undone = scene.undo("r");
    assert_eq!(conflicts(&scene, &undone), [conflict("d", true)]);
    assert_eq!(undone.conflicts[0].kept_at, Some(scene.path("e")));
    assert_eq!((scene.read("e/f").as_deref(), scene.read("d/mine").as_deref()), (Some("one"), Some("by the user")));
}

#[test]
fn nothing_is_restored_into_a_directory_that_the_user_removed_or_replaced_by_a_link() {
    let scene = UndoScene::new();
    for name in ["gone/f", "link/f", "elsewhere/x"] {
        scene.write(name, "one");
    }
    scene.run("r", |run| {
        run.remove("gone/f").expect("done");
        run.remove("link/f").expect("done");
    });
    fs::remove_dir(scene.path("gone")).expect("removed");
    fs::remove_dir(scene.path("link")).expect("removed");
    std::os::unix::fs::symlink("elsewhere", scene.path("link")).expect("linked");
    let undone = scene.undo("r");
    assert_eq!(conflicts(&scene, &undone), [conflict("gone/f", true), conflict("link/f", true)]);
    assert!(!scene.path("elsewhere/f").exists());
}

#[test]
fn a_mode_that_the_user_changed_is_a_conflict_and_a_change_back_is_none() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    scene.write("b", "two");
    scene.run("r", |run| {
        run.write("a", "by the run").expect("done");
        run.write("b", "by the run").expect("done");
    });
    fs::set_permissions(scene.path("a"), fs::Permissions::from_mode(0o600)).expect("set");
    scene.write("b", "two");
    let undone = scene.undo("r");
    assert_eq!(conflicts(&scene, &undone), [conflict("a", true)]);
    assert_eq!(undone.restored, [] as [PathBuf; 0]);
}

#[test]
fn points_are_undone_newest_first_without_conflict() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    scene.write("d/f", "two");
    let mut states = vec![scene.snapshot()];
    let programs: [&dyn Fn(&mut crate::testing::RecordedProgram); 5] = [
        &|run| run.write("a", "1").expect("done"),
        &|run| run.replace("a", "2").expect("done"),
        &|run| {
            run.write("n", "3").expect("done");
            run.remove_all("d").expect("done");
        },
        &|run| {
            run.remove("n").expect("done");
            run.set_mode("a", 0o600).expect("done");
        },
        &|run| run.rename("a", "b").expect("done"),
    ];
    for (at, program) in programs.iter().enumerate() {
        scene.run(&format!("r{at}"), program);
        states.push(scene.snapshot());
    }
    for at in (0..programs.len()).rev() {
        let undone = scene.undo(&format!("r{at}"));
        assert_eq!(undone.conflicts, [], "r{at}");
        assert_eq!(scene.snapshot(), states[at], "r{at}");
    }
}

#[test]
fn an_older_point_alone_restores_what_later_ones_left_alone() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    scene.write("b", "two");
    scene.run("old", |run| {
        run.write("a", "old").expect("done");
        run.write("b", "old").expect("done");
    });
    scene.run("new", |run| run.write("a", "new").expect("done"));
    let undone = scene.undo("old");
    assert_eq!(conflicts(&scene, &undone), [conflict("a", true)]);
    assert_eq!((scene.read("a").as_deref(), scene.read("b").as_deref()), (Some("new"), Some("two")));
}

#[test]
fn only_the_wanted_paths_are_undone_and_a_dry_run_changes_nothing() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    scene.write("d/f", "two");
    scene.run("r", |run| {
        run.remove("a").expect("done");
        run.remove_all("d").expect("done");
        run.make_directory("n").expect("done");
        run.write("n/x", "new").expect("done");
    });
    let after = scene.snapshot();
    let paths = [scene.path("d"), scene.path("n")];
    let options = UndoRequest { dry_run: true, paths: &paths };
    let dry = undo(&scene.store, "r", options).expect("undone");
    assert_eq!(scene.snapshot(), after);
    assert_eq!(scene.store.list_runs().expect("listed"), ["r"]);
    let undone = undo(&scene.store, "r", UndoRequest { dry_run: false, ..options }).expect("undone");
    assert_eq!((&undone.restored, &undone.removed), (&dry.restored, &dry.removed));
    assert_eq!(undone.restored, [scene.path("d"), scene.path("d/f")]);
    assert_eq!(undone.removed, [scene.path("n/x"), scene.path("n")]);
    assert!(!scene.path("a").exists());
    let rest = scene.undo("r");
    assert_eq!((rest.restored, rest.removed), (vec![scene.path("a")], vec![]));
    let relative = [PathBuf::from("a")];
    let refused = undo(&scene.store, "r", UndoRequest { dry_run: false, paths: &relative });
    assert!(matches!(refused, Err(UndoError::Relative(_))));
}

#[test]
fn a_path_concerns_the_other_names_of_its_file() {
    let scene = UndoScene::new();
    scene.write("d/a", "one");
    fs::hard_link(scene.path("d/a"), scene.path("b")).expect("linked");
    let before = scene.snapshot();
    scene.run("r", |run| {
        run.write("d/a", "two").expect("done");
        run.remove("d/a").expect("done");
        run.write("d/a", "three").expect("done");
    });
    let paths = [scene.path("d")];
    undo(&scene.store, "r", UndoRequest { paths: &paths, ..UndoRequest::default() }).expect("undone");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn a_run_without_a_usable_point_is_refused() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    let undo = |run: &str| undo(&scene.store, run, UndoRequest::default()).expect_err("refused").to_string();
    assert_eq!(undo("none"), "there is no undo point of run none");
    assert_eq!(undo("../x"), "\"../x\" is not the id of a run");
    let mut running = scene.begin("r");
    running.write("a", "two").expect("done");
    assert_eq!(undo("r"), "run r still goes on");
    assert_eq!(scene.read("a").as_deref(), Some("two"));
    drop(running);
    let header = ManifestHeader { purpose: ManifestPurpose::Receipt, ..scene.header("receipt") };
    ChangeJournal::begin(&scene.store, header, UndoLimits::NONE).expect("begun").finish(Vec::new()).expect("finished");
    assert_eq!(undo("receipt"), "run receipt ran without undo");
}

#[test]
fn what_is_too_large_to_keep_is_named_and_stays() {
    let scene = UndoScene::new();
    scene.write("large", "0123456789");
    scene.write("small", "x");
    let limits = UndoLimits { file_bytes: 5, ..UndoLimits::default() };
    let mut journal = ChangeJournal::begin(&scene.store, scene.header("r"), limits).expect("begun");
    for name in ["large", "small"] {
        let touched = journal.record_before_change(&scene.path(name), crate::ComingChange::Rewrite);
        assert_eq!(touched.is_ok(), name == "small");
        scene.write(name, "changed");
    }
    let end = journal.finish(vec!["git push: what was pushed stays pushed".into()]).expect("finished");
    assert_eq!((end.extent, end.not_covered.len()), (CoverageExtent::Part, 1));
    let undone = scene.undo("r");
    let large = format!("{}: the file has 10 bytes, and at most 5 are kept of one", scene.path("large").display());
    assert!(undone.not_covered.contains(&large), "{:?}", undone.not_covered);
    assert_eq!((scene.read("large").as_deref(), scene.read("small").as_deref()), (Some("changed"), Some("x")));
}

#[test]
fn two_undos_at_once_wait_for_each_other() {
    let scene = UndoScene::new();
    scene.write("a", "one");
    scene.run("r", |run| run.write("a", "two").expect("done"));
    let lock = scene.store.lock().expect("locked");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| scene.undo("r"));
        assert_eq!(scene.read("a").as_deref(), Some("two"));
        drop(lock);
        assert_eq!(waiting.join().expect("undone").restored, [scene.path("a")]);
    });
}

#[test]
fn a_repository_comes_back_with_its_files() {
    let scene = UndoScene::new();
    for (name, text) in [(".git/HEAD", "ref: refs/heads/main"), (".git/refs/heads/main", "1"), (".git/index", "i1")] {
        scene.write(name, text);
    }
    let commit = |run: &mut crate::testing::RecordedProgram| {
        run.make_directory(".git/objects").expect("done");
        run.write(".git/objects/2", "object").expect("done");
        run.replace(".git/refs/heads/main", "2").expect("done");
        run.replace(".git/index", "i2").expect("done");
        run.write(".git/refs/heads/other", "2").expect("done");
    };
    scene.run("one", commit);
    let undone = scene.undo("one");
    assert_eq!(conflicts(&scene, &undone), []);
    let read = |name: &str| scene.read(name).unwrap_or_default();
    assert_eq!([read(".git/refs/heads/main"), read(".git/index"), read(".git/refs/heads/other")], ["1", "i1", ""]);
    assert_eq!(read(".git/objects/2"), "object");
    assert!(fs::read_dir(scene.path(".git/refs/heads")).expect("read").count() == 1);

    scene.run("two", |run| {
        run.replace(".git/refs/heads/main", "3").expect("done");
        run.replace(".git/index", "i3").expect("done");
    });
    scene.write(".git/refs/heads/main", "by the user");
    let undone = scene.undo("two");
    assert_eq!(conflicts(&scene, &undone), [conflict(".git/index", true), conflict(".git/refs/heads/main", true)]);
    assert_eq!([read(".git/refs/heads/main"), read(".git/index")], ["by the user", "i3"]);
}

#[test]
fn a_ref_is_left_alone_while_git_is_at_work_on_it() {
    let scene = UndoScene::new();
    scene.write(".git/refs/heads/main", "1");
    scene.run("r", |run| run.replace(".git/refs/heads/main", "2").expect("done"));
    scene.write(".git/refs/heads/main.lock", "3");
    let undone = scene.undo("r");
    assert_eq!(conflicts(&scene, &undone), [conflict(".git/refs/heads/main", true)]);
    assert_eq!(scene.read(".git/refs/heads/main.lock").as_deref(), Some("3"));
    fs::remove_file(scene.path(".git/refs/heads/main.lock")).expect("removed");
    assert_eq!(scene.undo("r").restored, [scene.path(".git/refs/heads/main")]);
}

#[test]
fn a_new_repository_that_was_used_since_stays_as_a_whole() {
    let scene = UndoScene::new();
    scene.run("r", |run| {
        run.make_directory("c").expect("done");
        run.write("c/a", "one").expect("done");
        for name in ["c/.git", "c/.git/objects", "c/.git/refs"] {
            run.make_directory(name).expect("done");
        }
        run.write("c/.git/objects/1", "object").expect("done");
        run.write("c/.git/refs/main", "1").expect("done");
    });
    scene.write("c/.git/objects/2", "object");
    scene.write("c/.git/refs/main", "2");
    let undone = scene.undo("r");
    assert_eq!(conflicts(&scene, &undone), [conflict("c/.git", false)]);
    assert_eq!(scene.read("c/.git/objects/1").as_deref(), Some("object"));
    assert_eq!(scene.read("c/a"), None);
}

#[test]
fn a_moved_file_that_cannot_go_back_stays_or_is_kept() {
    type ScriptedProgram = fn(&mut crate::testing::RecordedProgram);
    let rows: [(ScriptedProgram, &[(&str, &str)]); 4] = [
        (|run| run.rename("a", "h").expect("done"), &[("h", "a"), ("b", "b")]),
        (|run| run.rename("a", "b").expect("done"), &[("b", "b")]),
        (
            |run| {
                run.make_directory("n").expect("done");
                run.rename("a", "n/a").expect("done");
            },
            &[("n/a", "a"), ("b", "b")],
        ),
        (
            |run| {
                for (from, to) in [("c", "d"), ("b", "c"), ("a", "b")] {
                    run.rename(from, to).expect("done");
                }
            },
            &[("b", "b"), ("c", "c")],
        ),
    ];
    for (program, expected) in rows {
        let scene = UndoScene::new();
        for name in ["a", "b", "c"] {
            scene.write(name, name);
        }
        scene.run("r", program);
        scene.write("a", "by the user");
        let undone = scene.undo("r");
        assert_eq!(scene.read("a").as_deref(), Some("by the user"));
        for (name, text) in expected {
            assert_eq!(scene.read(name).as_deref(), Some(*text), "{name}");
        }
        let kept: Vec<_> = undone.conflicts.iter().filter_map(|stayed| stayed.kept_at.clone()).collect();
        assert_eq!(kept.iter().map(|path| fs::read_to_string(path).expect("kept")).collect::<Vec<_>>(), ["a"]);
    }
}
