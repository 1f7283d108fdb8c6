//! Links in the way of a record and of an undo, and names of any bytes.

use std::fs;
use std::path::Path;

use confine_world::{testing::WorldTestScene, testing::isolated};
use undo::testing::snapshot;
use undo::{UndoRequest, undo};

use super::stage::JournalTestShim;

fn scene() -> WorldTestScene {
    WorldTestScene::below(Path::new("/var/tmp"), None)
}

#[test]
fn an_undo_writes_nothing_outside_of_the_tree_through_links_in_its_way() {
    for confined in [false, true] {
        let scene = scene();
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            let outside = scene.state.join("outside");
            fs::create_dir_all(outside.join("e")).expect("made");
            fs::write(outside.join("f"), "of others").expect("written");
            let theirs = snapshot(&outside);
            for (command, trap) in [
                ("rm -r d", "ln -s OUT d"),
                ("echo x > d/f", "mv d old; ln -s OUT d"),
                ("rm d/f", "mv d old; ln -s OUT d"),
                ("chmod 600 d/f; chmod 700 d/e", "mv d old; ln -s OUT d"),
                ("mv d/f d/e/f; mkdir d/n", "mv d/e old; ln -s OUT d/e; mv d/n old2; ln -s OUT d/n"),
                ("mkdir n; echo x > n/f", "rm -r n; ln -s OUT n"),
                ("rm d/f", "ln OUT/f d/f"),
                ("echo x > d/f", "rm d/f; ln OUT/f d/f"),
                ("rm -r d/e", "ln -s OUT d/e"),
            ] {
                stage.prepare("rm -rf *; mkdir -p d/e; echo one > d/f; echo two > d/e/g");
                let run = stage.recorded(command);
                stage.prepare(&trap.replace("OUT", outside.to_str().expect("text")));
                let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
                assert_eq!(snapshot(&outside), theirs, "{command}; {trap}: {undone:?}");
            }
        });
    }
}

#[test]
fn names_of_any_bytes_and_lengths_come_back() {
    let scene = scene();
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, false);
        let make = "import os\nfor name in (b'new\\nline', b'\\xff\\xfe', b'n' * 255, b' -rf', b'*'):\n    \
            open(name, 'w').write('x')\nfor _ in range(15):\n    os.mkdir(b'p' * 255); os.chdir(b'p' * 255)\n\
            open('deep', 'w').write('deep')";
        stage.prepare(&format!("python3 - <<'END'\n{make}\nEND\nmkfifo pipe; ln -s / root"));
        let names = |stage: &JournalTestShim<'_>| {
            let mut list = std::process::Command::new("/bin/sh");
            list.args(["-c", "find . | sort"]).current_dir(stage.root());
            list.output().expect("listed").stdout
        };
        let before = names(&stage);
        stage.record.limits.run_bytes = u64::MAX;
        let run = stage.recorded("rm -rf -- *; [ -z \"$(ls)\" ]");
        let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
        assert_eq!((&undone.conflicts, &undone.not_covered), (&Vec::new(), &Vec::new()));
        assert_eq!(names(&stage), before);
    });
}
