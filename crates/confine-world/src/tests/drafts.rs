//! Drafts: write roots whose changes go elsewhere.

use std::fs;

use confine_policy::{ConfinementPolicy, DraftedDirectory, DraftedTree};

use crate::testing::{WorldTestScene, end, isolated, run_in, users};

/// Returns a policy under which the root of the scene is drafted.
fn drafted(scene: &WorldTestScene) -> ConfinementPolicy {
    let room = scene.outside.join("room");
    let drafted = DraftedDirectory { base: scene.root.clone(), upper: room.join("upper"), work: room.join("work") };
    for directory in [&drafted.upper, &drafted.work] {
        fs::create_dir_all(directory).expect("a directory");
    }
    let draft = Some(DraftedTree { room, generation: 0, max_bytes: 1 << 30, directories: vec![drafted] });
    ConfinementPolicy { draft, ..scene.policy() }
}

#[test]
fn a_draft_shows_the_directory_at_its_path_and_keeps_the_changes_elsewhere() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        isolated(user, || {
            fs::write(scene.root.join("old"), "old\n").expect("written");
            let policy = drafted(&scene);
            let script = "pwd; cat old; echo new >>old; echo x >made; cat old made; ls";
            let world = scene.world(&policy);
            let said = run_in(&world, &scene.root, script);
            let root = scene.root.display();
            assert_eq!(said, (format!("{root}\nold\nold\nnew\nx\nmade\nold\n"), 0));
            end(world);
            assert_eq!(fs::read_to_string(scene.root.join("old")).expect("read"), "old\n");
            assert!(!scene.root.join("made").exists());
            // A world that is made later has the changes.
            let world = scene.world(&policy);
            assert_eq!(run_in(&world, &scene.root, "cat made"), ("x\n".to_owned(), 0));
            end(world);
        });
    }
}

#[test]
fn a_later_command_sees_what_was_changed_outside_meanwhile() {
    let scene = WorldTestScene::new(None);
    isolated(None, || {
        fs::write(scene.root.join("a"), "1").expect("written");
        let policy = drafted(&scene);
        let world = scene.world(&policy);
        assert_eq!(run_in(&world, &scene.root, "cat a; ls"), ("1a\n".to_owned(), 0));
        fs::write(scene.root.join("t"), "2").expect("written");
        fs::rename(scene.root.join("t"), scene.root.join("a")).expect("renamed");
        fs::write(scene.root.join("b"), "3").expect("written");
        assert_eq!(run_in(&world, &scene.root, "cat a b; ls"), ("23a\nb\n".to_owned(), 0));
        end(world);
    });
}
