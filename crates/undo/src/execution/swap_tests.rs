//! A process that the run left exchanges things for links at every moment of an undo.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::*;
use crate::testing::{UndoScene, snapshot};

const NAMES: [&str; 5] = ["removed", "rewritten", "mode", "linked", "made"];

/// Returns a tree that a run has changed in each way, and a directory beside it that has files of the same names.
fn scene() -> (UndoScene, PathBuf) {
    let scene = UndoScene::new();
    for name in &NAMES[..4] {
        scene.write(&format!("d/{name}"), &format!("old {name}"));
    }
    fs::hard_link(scene.path("d/linked"), scene.path("d/other")).expect("linked");
    scene.run("r", |run| {
        run.remove("d/removed").expect("done");
        run.write("d/rewritten", "new").expect("done");
        run.set_mode("d/mode", 0o600).expect("done");
        run.write("d/linked", "new").expect("done");
        run.write("d/made", "old made").expect("done");
        run.make_directory("d/sub").expect("done");
    });
    let secret = scene.root.parent().expect("a parent").join("secret");
    fs::create_dir(&secret).expect("made");
    for name in NAMES {
        fs::write(secret.join(name), "secret").expect("written");
        fs::set_permissions(secret.join(name), Permissions::from_mode(0o604)).expect("set");
    }
    (scene, secret)
}

/// Undoes the run once for each step of the undo. Right before that step `swap` exchanges something.
fn try_all(swap: impl Fn(&UndoScene, &Path)) {
    for at in 0.. {
        let (scene, secret) = scene();
        let before = snapshot(&secret);
        let mut count = 0;
        let mut on_step = |_: &str| {
            count += 1;
            if count == at + 1 {
                swap(&scene, &secret);
            }
            false
        };
        undo_with(&scene.store, "r", UndoRequest::default(), &mut on_step).expect("undone");
        assert_eq!(snapshot(&secret), before, "at step {at}");
        for entry in fs::read_dir(&scene.root).expect("read").flatten().filter(|entry| !entry.path().is_symlink()) {
            let texts = snapshot(&entry.path());
            assert!(texts.values().all(|seen| !seen.what.ends_with("secret")), "at step {at}");
        }
        if count <= at {
            return;
        }
    }
}

#[test]
fn nothing_is_changed_or_fetched_through_a_link_in_the_place_of_a_directory() {
    try_all(|scene, secret| {
        fs::rename(scene.path("d"), scene.path("e")).expect("moved");
        symlink(secret, scene.path("d")).expect("made");
    });
}

#[test]
fn nothing_is_changed_or_fetched_through_a_link_in_the_place_of_a_file() {
    try_all(|scene, secret| {
        for name in NAMES {
            let path = scene.path("d").join(name);
            let _none = fs::remove_file(&path);
            symlink(secret.join(name), path).expect("made");
        }
    });
}
