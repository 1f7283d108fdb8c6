//! Changes that are not kept, and records that do not begin.

use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use confine_listener::{FileChangeJournal, PendingChangeKind, PendingFileChange, spot_of};
use confine_world::{testing::WorldTestScene, testing::isolated};
use protocol::FromShim;
use protocol::plan::{ChangeJournalOutcome, ChangeJournalPurpose, InheritedDescriptor};
use sys::{ChildExit, LaunchStep};
use undo::path_state::{KnownContents, PathState};
use undo::testing::snapshot;
use undo::{ManifestPurpose, UndoRequest, undo};

use super::super::change_journal::{JournalSlot, PendingJournal, RunJournal, SharedJournal};
use super::TREE;
use super::stage::{FinishedCommand, JournalTestShim};

fn scene() -> WorldTestScene {
    WorldTestScene::below(std::path::Path::new("/var/tmp"), None)
}

/// The first record of a shim.
fn pending(scene: &WorldTestScene, purpose: ManifestPurpose) -> PendingJournal {
    let header = undo::ManifestHeader {
        version: undo::VERSION,
        run: "run".into(),
        command: "test".into(),
        cwd: scene.root.clone(),
        at: 0,
        machine: protocol::task::MachineIdentity::default(),
        purpose,
        tree: std::path::PathBuf::new(),
    };
    let (store, limits) = (scene.state.join("undo"), undo::UndoLimits::default());
    PendingJournal { run: 1, store, header, limits, beyond: Vec::new(), require: false }
}

#[test]
fn a_change_that_cannot_be_kept_is_noted_or_fails_where_everything_must_be_kept() {
    for confined in [false, true] {
        let scene = scene();
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.record.limits.file_bytes = 10;
            stage.prepare("echo 0123456789abcdef > large; echo small > small");
            let run = stage.recorded("echo x > small; echo y >> large");
            let point = stage.point(&run);
            let PathState::File(large) = &point.states_before[&scene.root.join("large")] else { panic!("a file") };
            assert!(matches!(large.contents, KnownContents::Nothing { .. }));
            stage.record.require = true;
            let FinishedCommand { ended, output, .. } = stage.run("echo x >> small && echo y >> large", true);
            assert_eq!((ended.end, &ended.record), (ChildExit::Code(1), &ChangeJournalOutcome::Done));
            assert!(output.contains("quota exceeded"), "{output}");
            assert_eq!(fs::read_to_string(scene.root.join("large")).expect("read"), "0123456789abcdef\ny\n");
            assert_eq!(fs::read_to_string(scene.root.join("small")).expect("read"), "x\nx\n");
        });
    }
}

#[test]
fn a_change_that_was_refused_once_is_refused_again() {
    for confined in [false, true] {
        let scene = scene();
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.record.limits.file_bytes = 10;
            stage.prepare("echo 0123456789abcdef | tee large > larger");
            stage.record.require = true;
            stage.run(
                "echo 1 >> large; echo 2 >> large; touch -d 2001-01-01 large; truncate -s 0 large; truncate -s 0 large",
                true,
            );
            stage.run("dd if=/dev/zero of=larger bs=1 seek=2 count=1 conv=notrunc; rm larger", true);
            for name in ["large", "larger"] {
                let text = fs::read_to_string(scene.root.join(name)).unwrap_or_default();
                assert_eq!(text, "0123456789abcdef\n", "{name}");
            }
        });
    }
}

#[test]
fn a_record_that_does_not_begin_is_reported_or_refuses_the_command() {
    for confined in [false, true] {
        let scene = scene();
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            let store = scene.state.join("file");
            fs::write(&store, "x").expect("written");
            stage.record.store = store.clone();
            let FinishedCommand { ended, .. } = stage.run("echo x > f", true);
            let ChangeJournalOutcome::Failed(why) = &ended.record else { panic!("{:?}", ended.record) };
            assert!(why.contains(store.to_str().expect("text")), "{why}");
            assert!(scene.root.join("f").exists());
            stage.record.require = true;
            stage.start("echo x > g", true);
            match stage.next(&mut String::new()) {
                FromShim::Failed(failure) => assert_eq!(failure.step, LaunchStep::Record),
                other => panic!("{other:?}"),
            }
            assert!(!scene.root.join("g").exists());
            stage.record.store = scene.state.join("undo");
            stage.recorded("echo x > g");
        });
    }
}

#[test]
fn a_command_that_is_not_started_leaves_no_record() {
    let scene = scene();
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, false);
        fs::rename(&scene.root, scene.root.with_extension("gone")).expect("renamed");
        let run = stage.start("true", true);
        match stage.next(&mut String::new()) {
            FromShim::Failed(failure) => assert_eq!(failure.step, LaunchStep::Chdir),
            other => panic!("{other:?}"),
        }
        assert!(!stage.store().has(&run));
        fs::rename(scene.root.with_extension("gone"), &scene.root).expect("renamed");
        stage.recorded("echo x > f");
    });
}

#[test]
fn a_file_that_is_inherited_open_for_writing_is_restored() {
    for confined in [false, true] {
        let scene = scene();
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.prepare(TREE);
            let before = snapshot(stage.root());
            let file = File::options().append(true).open(scene.root.join("f")).expect("opened");
            stage.files = vec![(InheritedDescriptor::State, Arc::new(OwnedFd::from(file)))];
            let run = stage.recorded("echo x >&500");
            assert_eq!(fs::read_to_string(scene.root.join("f")).expect("read"), "one\nx\n");
            let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
            assert_eq!(undone.conflicts, []);
            assert_eq!(snapshot(stage.root()), before);
        });
    }
}

#[test]
fn what_cannot_be_followed_is_named_and_goes_on() {
    let scene = scene();
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, false);
        stage.prepare(TREE);
        for (command, why) in [
            ("unshare -m sh -c 'echo x > f'", "other mounts"),
            (
                "chroot / sh -c 'true'; chroot d /bin/false; python3 -c 'import os
os.chroot(\"d\"); open(\"/a\", \"w\").write(\"x\")'",
                "another root",
            ),
        ] {
            let FinishedCommand { run, ended, output } = stage.run(command, true);
            assert_eq!((ended.end, &ended.record), (ChildExit::Code(0), &ChangeJournalOutcome::Done), "{output}");
            let point = stage.point(&run);
            assert!(point.uncovered.iter().any(|(_, reason)| reason.contains(why)), "{command}: {:?}", point.uncovered);
        }
        let undone = stage.recorded("chroot / sh -c 'cd /; true'; unshare -U true; echo x > f");
        assert!(stage.point(&undone).uncovered.is_empty());
    });
}

#[test]
fn a_receipt_keeps_no_contents() {
    for confined in [false, true] {
        let scene = scene();
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.record.purpose = ChangeJournalPurpose::Receipt;
            stage.prepare(TREE);
            let run = stage.recorded("echo x > f; echo x >> f; rm g; mv d m; echo y > m/a");
            let files = stage.store().image_directory(&run).expect("an id");
            let kept: Vec<_> =
                fs::read_dir(files).expect("listed").map(|entry| entry.expect("one").file_name()).collect();
            assert!(kept.iter().all(|name| name.to_string_lossy().ends_with("held")), "{kept:?}");
            let point = stage.point(&run);
            assert!(point.end.is_some() && point.uncovered.is_empty());
            assert_eq!(point.moved.len(), 1);
        });
    }
}

#[test]
fn a_link_in_the_way_leads_no_record_to_another_file() {
    let scene = scene();
    let root = &scene.root;
    for name in ["d", "secret"] {
        fs::create_dir(root.join(name)).expect("made");
        fs::write(root.join(name).join("f"), name).expect("written");
    }
    let file = File::options().append(true).open(root.join("d/f")).expect("opened");
    let spot = spot_of(file.as_fd()).expect("its name");
    fs::rename(root.join("d"), root.join("away")).expect("renamed");
    std::os::unix::fs::symlink("secret", root.join("d")).expect("linked");
    let shared = SharedJournal::default();
    let store = scene.state.join("undo");
    shared.set_pending(pending(&scene, ManifestPurpose::Undo));
    for act in [PendingChangeKind::Rewrite, PendingChangeKind::Remove] {
        let spot = confine_listener::DirectoryEntryLocation {
            directory: spot.directory.clone(),
            parent: spot.parent.clone(),
            name: spot.name.clone(),
            is_vacant: false,
        };
        RunJournal { shared: &shared, run: 1 }.record_before(&PendingFileChange { spot, act }).expect("noted");
    }
    let kept = undo::UndoStore::open(&store).expect("a store").image_directory("run").expect("an id");
    for entry in fs::read_dir(kept).expect("listed") {
        assert_eq!(fs::read_to_string(entry.expect("one").path()).expect("read"), "d");
    }
}

#[test]
fn a_change_of_an_awaited_run_waits_for_its_record() {
    let scene = scene();
    for arrives in [true, false] {
        let shared = SharedJournal::default();
        shared.expect(1);
        assert!(shared.wake_recorder(1) && shared.begin_point());
        let (told, noted) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                RunJournal { shared: &shared, run: 2 }.record_unfollowed(&scene.root, "another run").expect("noted");
                told.send(2).expect("told");
                RunJournal { shared: &shared, run: 1 }.record_unfollowed(&scene.root, "the run").expect("noted");
                told.send(1).expect("told");
            });
            assert_eq!(noted.recv(), Ok(2));
            assert!(noted.recv_timeout(std::time::Duration::from_millis(50)).is_err(), "it waits");
            if arrives {
                shared.set_pending(pending(&scene, ManifestPurpose::Receipt));
            } else {
                assert!(matches!(shared.take_slot(), JournalSlot::Awaited(1)));
            }
            assert_eq!(noted.recv(), Ok(1));
        });
        assert_eq!(matches!(shared.take_slot(), JournalSlot::Current(_)), arrives);
    }
}

#[test]
fn the_owners_of_files_of_others_are_no_conflict() {
    let users = confine_world::testing::users();
    for (user, confined) in users.into_iter().flatten().flat_map(|user| [(user, false), (user, true)]) {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), Some(user));
        fs::create_dir(scene.root.join("theirs")).expect("made");
        isolated(Some(user), || {
            let mut stage = JournalTestShim::new(&scene, confined);
            let before = snapshot(stage.root());
            let run = stage.recorded("mv theirs moved; mkdir d; mv moved ours; rmdir d");
            let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
            assert_eq!((&undone.conflicts, &undone.not_covered), (&Vec::new(), &Vec::new()), "{confined}");
            assert_eq!(snapshot(stage.root()), before, "{confined}");
        });
    }
}

#[test]
fn a_change_that_cannot_be_followed_is_named_or_fails_where_everything_must_be_kept() {
    let scene = scene();
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, false);
        let command = "unshare -m /bin/sh -c 'echo x > f'";
        let run = stage.recorded(command);
        let point = stage.point(&run);
        let [(program, why)] = &point.uncovered[..] else { panic!("{:?}", point.uncovered) };
        assert!(why.contains("other mounts"), "{program:?}: {why}");
        assert_eq!(point.end.expect("an end").extent, undo::CoverageExtent::Part);
        fs::remove_file(scene.root.join("f")).expect("there");
        stage.record.require = true;
        let FinishedCommand { ended, output, .. } = stage.run(command, true);
        assert!(output.contains("quota exceeded"), "{output}");
        assert_ne!(ended.end, ChildExit::Code(0));
        assert!(!scene.root.join("f").exists());
    });
}

#[test]
fn a_command_whose_calls_do_not_come_is_compared_with_a_snapshot() {
    for confined in [false, true] {
        let scene = scene();
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.record.only_tree = true;
            stage.prepare(TREE);
            let before = snapshot(stage.root());
            let run = stage.recorded("rm -r d; echo x > f; mkdir new; mv g new/g; cat /proc/self/status");
            let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
            assert_eq!(undone.conflicts, []);
            assert_eq!(undone.not_covered.len(), 1, "{:?}", undone.not_covered);
            assert_eq!(snapshot(stage.root()), before);
            // A command that is not started leaves no run.
            let runs = stage.store().list_runs().expect("listed").len();
            stage.record.store = scene.state.join("undo");
            stage.record.require = true;
            stage.start("echo x > g", true);
            let FromShim::Failed(failure) = stage.next(&mut String::new()) else { panic!("it was started") };
            assert_eq!(failure.step, LaunchStep::Record);
            assert_eq!(stage.store().list_runs().expect("listed").len(), runs);
        });
    }
}
