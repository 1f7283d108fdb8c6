use std::fs::{self, File};
use std::time::SystemTime;

use super::*;
use crate::testing::{RecordedProgram, UndoScene};

type ScriptedProgram = fn(&mut RecordedProgram);

fn begun() -> UndoScene {
    let scene = UndoScene::new();
    for (name, text) in
        [("a", "one"), ("b", "two"), ("d/f", "three"), ("d/g", "four"), ("d/e/h", "five"), ("k/l", "six")]
    {
        scene.write(name, text);
    }
    fs::create_dir(scene.path("empty")).expect("made");
    fs::hard_link(scene.path("a"), scene.path("a2")).expect("linked");
    std::os::unix::fs::symlink("d/f", scene.path("s")).expect("linked");
    scene
}

const PROGRAMS: &[(&str, ScriptedProgram)] = &[
    ("writes in place", |run| run.write("b", "changed").expect("done")),
    ("replaces", |run| run.replace("b", "changed").expect("done")),
    ("writes a hard-linked file", |run| run.write("a", "changed").expect("done")),
    ("writes a hard-linked file and removes the other name", |run| {
        run.write("a", "changed").expect("done");
        run.remove("a2").expect("done");
    }),
    ("removes one name and writes the other", |run| {
        run.remove("a2").expect("done");
        run.write("a", "changed").expect("done");
    }),
    ("removes both names", |run| {
        run.remove("a").expect("done");
        run.remove("a2").expect("done");
    }),
    ("breaks a hard link", |run| run.replace("a", "one").expect("done")),
    ("removes a tree", |run| run.remove_all("d").expect("done")),
    ("removes a tree and makes another", |run| {
        run.remove_all("d").expect("done");
        run.make_directory("d").expect("done");
        run.write("d/f", "new").expect("done");
        run.write("d/n", "new").expect("done");
    }),
    ("removes an empty directory", |run| run.remove("empty").expect("done")),
    ("changes modes", |run| {
        run.set_mode("b", 0o600).expect("done");
        run.set_mode("d", 0o700).expect("done");
        run.set_mode("b", 0o755).expect("done");
    }),
    ("changes a mode and removes", |run| {
        run.set_mode("b", 0o600).expect("done");
        run.remove("b").expect("done");
    }),
    ("changes mode and attribute", |run| {
        run.set_mode("b", 0o600).expect("done");
        run.set_attribute("b", "x").expect("done");
    }),
    ("renames a file", |run| run.rename("b", "c").expect("done")),
    ("renames a file and writes it", |run| {
        run.rename("b", "c").expect("done");
        run.write("c", "changed").expect("done");
    }),
    ("renames over a file", |run| run.rename("b", "d/f").expect("done")),
    ("renames a directory", |run| run.rename("d", "moved").expect("done")),
    ("renames a directory and changes it", |run| {
        run.rename("d", "moved").expect("done");
        run.write("moved/f", "changed").expect("done");
        run.remove("moved/g").expect("done");
        run.write("moved/n", "new").expect("done");
        run.set_mode("moved", 0o700).expect("done");
    }),
    ("renames a directory and makes another in its place", |run| {
        run.rename("d", "old").expect("done");
        run.make_directory("d").expect("done");
        run.write("d/f", "new").expect("done");
        run.remove("old/g").expect("done");
    }),
    ("moves a directory into a new one of its name", |run| {
        run.rename("d", "t").expect("done");
        run.make_directory("d").expect("done");
        run.rename("t", "d/inner").expect("done");
        run.write("d/inner/f", "changed").expect("done");
    }),
    ("moves a directory into a new one", |run| {
        run.make_directory("n").expect("done");
        run.make_directory("n/m").expect("done");
        run.rename("d", "n/m/d").expect("done");
    }),
    ("renames directories in a circle", |run| {
        run.rename("d", "t").expect("done");
        run.rename("k", "d").expect("done");
        run.rename("t", "k").expect("done");
        run.write("k/f", "changed").expect("done");
    }),
    ("moves the inner one out and the outer one into it", |run| {
        run.rename("d/e", "x").expect("done");
        run.rename("d", "x/d").expect("done");
    }),
    ("renames a directory over an empty one", |run| run.rename("d", "empty").expect("done")),
    ("moves and removes a directory", |run| {
        run.rename("d", "t").expect("done");
        run.remove_all("t").expect("done");
    }),
    ("moves, removes and makes another of the name", |run| {
        run.rename("d", "t").expect("done");
        run.remove_all("t").expect("done");
        run.make_directory("t").expect("done");
        run.write("t/f", "new").expect("done");
    }),
    ("puts a directory in the place of a file", |run| {
        run.remove("b").expect("done");
        run.make_directory("b").expect("done");
        run.write("b/x", "new").expect("done");
    }),
    ("puts a file in the place of a directory", |run| {
        run.remove_all("d").expect("done");
        run.write("d", "new").expect("done");
    }),
    ("puts a link in the place of a directory", |run| {
        run.rename("d", "t").expect("done");
        run.symlink("t", "d").expect("done");
    }),
    ("changes links", |run| {
        run.remove("s").expect("done");
        run.symlink("b", "s").expect("done");
        run.symlink("a", "s2").expect("done");
        run.link("b", "b2").expect("done");
    }),
    ("makes and removes again", |run| {
        run.write("t", "x").expect("done");
        run.remove("t").expect("done");
        run.make_directory("t").expect("done");
        run.remove("t").expect("done");
    }),
    ("makes a tree", |run| {
        run.make_directory("n").expect("done");
        run.make_directory("n/m").expect("done");
        run.write("n/m/x", "new").expect("done");
        run.symlink("x", "n/m/y").expect("done");
    }),
    ("fails", |run| {
        run.remove("d").expect_err("not empty");
        run.make_directory("d").expect_err("there");
        run.rename("none", "x").expect_err("not there");
        run.rename("d", "k").expect_err("not empty");
        run.write("d/f", "changed").expect("done");
    }),
];

#[test]
fn an_undo_restores_everything_and_is_itself_undone() {
    for (name, program) in PROGRAMS {
        let scene = begun();
        let before = scene.snapshot();
        scene.run("r", program);
        let after = scene.snapshot();
        let undone = scene.undo("r");
        assert_eq!((&undone.conflicts[..], &undone.not_covered[..]), (&[][..], &[][..]), "{name}");
        assert_eq!(scene.snapshot(), before, "{name}");
        let again = scene.undo("r");
        assert_eq!(again, UndoOutcome::default(), "{name}");
        if before == after {
            assert_eq!(undone.undo, "", "{name}");
            continue;
        }
        let redone = scene.undo(&undone.undo);
        assert_eq!(redone.conflicts, [], "{name}");
        assert_eq!(scene.snapshot(), after, "{name}");
        let undone = scene.undo(&redone.undo);
        assert_eq!((undone.conflicts, scene.snapshot()), (Vec::new(), before), "{name}");
    }
}

#[test]
#[ignore = "stress: it takes several seconds"]
fn an_undo_that_is_killed_at_any_step_completes_when_it_is_run_again() {
    for (name, program) in PROGRAMS {
        for step in 0.. {
            let scene = begun();
            let before = scene.snapshot();
            scene.run("r", program);
            let after = scene.snapshot();
            if !scene.undo_until("r", step) {
                break;
            }
            let undone = scene.undo("r");
            assert_eq!((&undone.conflicts[..], &undone.not_covered[..]), (&[][..], &[][..]), "{name}, step {step}");
            assert_eq!(scene.snapshot(), before, "{name}, step {step}");
            let redone = scene.undo(&undone.undo);
            assert_eq!(redone.conflicts, [], "{name}, step {step}");
            assert_eq!(scene.snapshot(), after, "{name}, step {step}");
        }
    }
}

#[test]
fn a_run_whose_recorder_was_killed_is_undone() {
    for (name, program) in PROGRAMS {
        let scene = begun();
        let before = scene.snapshot();
        let mut run = scene.begin("r");
        program(&mut run);
        drop(run);
        let undone = scene.undo("r");
        assert_eq!(undone.conflicts, [], "{name}");
        assert_eq!(scene.snapshot(), before, "{name}");
    }
}

#[test]
fn a_tree_that_was_made_removed_and_restored_is_taken_back() {
    let scene = UndoScene::new();
    let empty = scene.snapshot();
    scene.run("make", |run| {
        run.make_directory("t").expect("done");
        run.make_directory("t/sub").expect("done");
        run.write("t/sub/f", "text").expect("done");
    });
    let full = scene.snapshot();
    scene.run("remove", |run| run.remove_all("t").expect("done"));
    assert_eq!(scene.undo("remove").conflicts, []);
    assert_eq!(scene.snapshot(), full);
    assert_eq!(scene.undo("make").conflicts, []);
    assert_eq!(scene.snapshot(), empty);
}

#[test]
fn a_damaged_manifest_undoes_what_it_tells_and_touches_nothing_else() {
    let furnished = || {
        let scene = UndoScene::new();
        ["a", "b", "c", "d/e"].iter().for_each(|name| scene.write(name, &format!("{name} before")));
        scene.run("r", |begun| {
            begun.write("a", "a after").expect("written");
            begun.remove("b").expect("removed");
            begun.rename("d", "g").expect("renamed");
            begun.write("new", "new after").expect("written");
        });
        scene
    };
    let length = fs::metadata(furnished().store.manifest_path("r").expect("an id")).expect("there").len();
    for at in (0..length).step_by(23) {
        for is_cut in [false, true] {
            let scene = furnished();
            let path = scene.store.manifest_path("r").expect("an id");
            let mut bytes = fs::read(&path).expect("read");
            let at = usize::try_from(at).expect("small").min(bytes.len() - 1);
            if is_cut {
                bytes.truncate(at)
            } else {
                bytes[at] ^= 0x55
            }
            fs::write(&path, bytes).expect("written");
            let done = undo_with(&scene.store, "r", UndoRequest::default(), &mut |_| false);
            let all = scene.snapshot();
            let of = |what: &str| all.values().any(|seen| seen.what == format!("file {what}"));
            assert!(of("a before") || of("a after"), "{at} {is_cut} {done:?}");
            assert!(of("c before") && of("d/e before"), "{at} {is_cut} {done:?}");
            assert!(scene.read("b").is_none_or(|text| text == "b before"), "{at} {is_cut} {done:?}");
            // The kept content is still in the store, or back in its place.
            let files = scene.store.image_directory("r").expect("an id");
            let is_kept = fs::read_dir(files)
                .into_iter()
                .flatten()
                .flatten()
                .any(|file| fs::read_to_string(file.path()).is_ok_and(|text| text == "b before"));
            assert!(is_kept || of("b before"), "{at} {is_cut} {done:?}");
        }
    }
}

#[test]
fn a_kept_file_whose_time_and_contents_a_later_run_changed_comes_back() {
    let scene = begun();
    let before = scene.snapshot();
    scene.run("older", |run| run.rename("b", "c").expect("done"));
    scene.run("newer", |run| {
        run.set_time("c", 1_000).expect("done");
        run.replace("c", "new").expect("done");
    });
    assert_eq!(scene.undo("newer").conflicts, []);
    assert_eq!(scene.undo("older").conflicts, []);
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn a_kept_file_that_a_user_wrote_before_a_later_run_is_a_conflict() {
    let scene = begun();
    scene.run("older", |run| run.rename("b", "c").expect("done"));
    scene.write("c", "USR");
    let used = scene.snapshot();
    scene.run("newer", |run| {
        run.set_time("c", 1_000).expect("done");
        run.replace("c", "new").expect("done");
    });
    assert_eq!(scene.undo("newer").conflicts, []);
    assert_eq!(scene.snapshot(), used);
    assert_eq!(scene.undo("older").conflicts.len(), 2);
    assert_eq!(scene.snapshot(), used);
}

#[test]
fn a_moved_directory_that_a_later_run_made_again_comes_back() {
    for made_in_between in [false, true] {
        let scene = begun();
        let before = scene.snapshot();
        scene.run("older", |run| run.rename("d", "c").expect("done"));
        scene.run("newer", |run| {
            run.remove_all("c").expect("done");
            if made_in_between {
                // The new directory takes the inode of the removed directory, if inodes are used again.
                run.make_directory("x").expect("done");
            }
            run.make_directory("c").expect("done");
            run.write("c/n", "new").expect("done");
        });
        assert_eq!(scene.undo("newer").conflicts, []);
        assert_eq!(scene.undo("older").conflicts, []);
        assert_eq!(scene.snapshot(), before);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn directories_that_were_in_each_other_come_back() {
    let scene = begun();
    let before = scene.snapshot();
    scene.run("r", |run| {
        run.swap("k", "d/e").expect("done");
        run.rename("d", "k/l").expect("done");
    });
    let after = scene.snapshot();
    let undone = scene.undo("r");
    assert_eq!((undone.conflicts, scene.snapshot()), (Vec::new(), before));
    let redone = scene.undo(&undone.undo);
    assert_eq!((redone.conflicts, scene.snapshot()), (Vec::new(), after));
}

#[test]
fn a_name_that_the_run_made_and_removed_is_kept_nowhere() {
    let scene = UndoScene::new();
    scene.write("a", "old");
    scene.run("r", |run| {
        run.link("a", "b").expect("done");
        run.remove("b").expect("done");
        run.make_directory("n").expect("done");
        run.link("a", "n/b").expect("done");
        run.remove_all("n").expect("done");
    });
    let links = || std::os::unix::fs::MetadataExt::nlink(&fs::metadata(scene.path("a")).expect("there"));
    assert_eq!(links(), 1);
    assert_eq!((scene.undo("r").conflicts, links()), (Vec::new(), 1));
    scene.run("s", |run| {
        run.link("a", "b").expect("done");
        run.remove("a").expect("done");
        run.remove("b").expect("done");
    });
    scene.undo("s");
    assert_eq!(scene.read("a").as_deref(), Some("old"));
}

#[test]
fn a_file_that_moved_and_then_changed_is_named_after_its_recorder_was_killed() {
    let scene = UndoScene::new();
    scene.write("d/f", "text");
    let mut run = scene.begin("r");
    run.make_directory("n").expect("done");
    run.rename("d/f", "n/f").expect("done");
    drop(run);
    let manifest = File::open(scene.store.manifest_path("r").expect("a path")).expect("opened");
    manifest.set_modified(SystemTime::UNIX_EPOCH).expect("set");
    let undone = scene.undo("r");
    let why = format!("the run moved it to {}, and it changed since", scene.path("n/f").display());
    let named = |conflict: &ReportedConflict| (&conflict.path, &conflict.why) == (&scene.path("d/f"), &why);
    assert!(undone.conflicts.iter().any(named), "{:?}", undone.conflicts);
}
