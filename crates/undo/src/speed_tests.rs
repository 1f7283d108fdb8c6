//! Figures: `cargo test --release --lib undo::speed -- --ignored --nocapture`.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use super::testing::UndoScene;

const FILES: usize = 30_000;

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

#[test]
#[ignore = "prints figures"]
fn removing_a_large_tree_and_undoing_that() {
    let scene = UndoScene::new();
    for file in 0..FILES {
        scene.write(&format!("t/{}/{file}", file % 300), "contents");
    }
    let base = scene.root.parent().expect("a parent").to_owned();
    let copy = |to: &str| {
        let done = Command::new("cp").arg("-al").arg(scene.path("t")).arg(base.join(to)).status().expect("run");
        assert!(done.success());
    };
    let (linking, ()) = timed(|| copy("copy"));
    let (plain, ()) = timed(|| fs::remove_dir_all(base.join("copy")).expect("removed"));
    let mut run = scene.begin("r");
    let (removing, ()) = timed(|| run.remove_all("t").expect("done"));
    let (ending, _) = timed(|| run.journal.finish(Vec::new()).expect("finished"));
    let (undoing, undone) = timed(|| scene.undo("r"));
    assert_eq!((undone.conflicts.len(), undone.restored.len()), (0, FILES + 301));
    println!("cp -al {linking:?}, rm -r {plain:?}, recorded {removing:?} + {ending:?}, undo {undoing:?}");
}
