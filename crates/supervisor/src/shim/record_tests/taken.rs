//! Removals that the recorder makes in the place of a command.

use std::fs;
use std::os::unix::fs::MetadataExt;

use confine_world::{testing::WorldTestScene, testing::isolated};
use sys::ChildExit;
use undo::testing::snapshot;
use undo::{UndoRequest, undo};

use super::stage::JournalTestShim;
use super::{TREE, python};

fn scene() -> WorldTestScene {
    WorldTestScene::below(std::path::Path::new("/var/tmp"), None)
}

/// Runs a command after a first removal that has made a place for removed files, and asserts its exit code.
fn succeeds(stage: &mut JournalTestShim<'_>, command: &str) {
    let finished = stage.run(&format!("rm link && {command}"), true);
    assert_eq!(finished.ended.end, ChildExit::Code(0), "{}", finished.output);
}

#[test]
fn a_removed_file_is_the_kept_one_and_comes_back() {
    let scene = scene();
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, false);
        stage.prepare(&format!("{TREE}; for i in {{1..50}}; do echo $i > d/$i; done"));
        let numbers = |directory: &std::path::Path| {
            let entries = fs::read_dir(directory).expect("listed").map(|entry| entry.expect("one"));
            let files = entries.filter(|entry| entry.file_type().expect("a type").is_file());
            let mut numbers: Vec<u64> = files.map(|entry| entry.metadata().expect("there").ino()).collect();
            numbers.sort_unstable();
            numbers
        };
        let (before, files) = (snapshot(&scene.root), numbers(&scene.root.join("d")));
        let run = stage.recorded("rm -rf d");
        let kept = numbers(&stage.store().image_directory(&run).expect("an id"));
        assert!(files.iter().all(|number| kept.contains(number)), "{files:?} {kept:?}");
        let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
        assert_eq!((&undone.conflicts, &undone.not_covered), (&Vec::new(), &Vec::new()));
        assert_eq!(snapshot(&scene.root), before);
    });
}

#[test]
fn a_process_with_fewer_rights_removes_nothing_that_it_may_not() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let scene = scene();
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, false);
        for less in ["--reuid=65534 --clear-groups", "--regid=65534 --clear-groups --reuid=65534"] {
            stage.prepare(&format!("rm -rf *; {TREE}; chmod 755 d"));
            succeeds(&mut stage, &format!("rm g && ! setpriv {less} rm -f d/a"));
            assert!(scene.root.join("d/a").exists() && !scene.root.join("g").exists(), "{less}");
        }
        // A capability less.
        stage.prepare(&format!("rm -rf *; {TREE}; chown 1234 d; chmod 755 d"));
        succeeds(&mut stage, "rm g && ! setpriv --bounding-set=-dac_override,-dac_read_search rm -f d/a");
        assert!(scene.root.join("d/a").exists());
        // Rights that are given up in the same process.
        stage.prepare(&format!("rm -rf *; {TREE}; chmod 755 d"));
        let code = "os.unlink('g'); os.setresuid(65534, 65534, 65534)
try: os.unlink('d/a')
except PermissionError: os._exit(0)
os._exit(1)";
        succeeds(&mut stage, &python(code));
        assert!(scene.root.join("d/a").exists());
    });
}

#[test]
fn rules_that_a_program_gives_itself_hold() {
    let scene = scene();
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, false);
        stage.prepare(TREE);
        // Landlock: no file may be removed.
        let code = "rules = call(444, struct.pack('Q', 1 << 5), 8, 0)
os.unlink('g')
call(446, rules, 0)
try: os.unlink('d/a')
except PermissionError: os._exit(0)
os._exit(1)";
        let landlock = stage.run(&python("call(444, None, 0, 1)"), false).ended.end == ChildExit::Code(0);
        if landlock {
            succeeds(&mut stage, &python(code));
            assert!(scene.root.join("d/a").exists());
        }
    });
}

#[test]
fn what_cannot_be_unlinked_fails_as_ever() {
    let scene = scene();
    isolated(None, || {
        let mut stage = JournalTestShim::new(&scene, false);
        stage.prepare(TREE);
        let code = "os.unlink('g')
for path, error in [('f/', 20), ('d', 21), ('d/', 21), ('none', 2), ('f/x', 20)]:
    try: os.unlink(path)
    except OSError as found: assert found.errno == error, (path, found)
    else: raise Exception(path)";
        succeeds(&mut stage, &python(code));
        assert!(scene.root.join("f").exists() && scene.root.join("d/a").exists());
    });
}
