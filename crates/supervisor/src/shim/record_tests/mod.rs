//! The record of real commands, and their undo, byte for byte: with and without a world, as root and as another user.

mod figures;
mod hostile;
mod stage;
mod survivors;
mod taken;
mod unkept;

use confine_world::{testing::WorldTestScene, testing::isolated, testing::users};
use protocol::plan::{ChangeJournalOutcome, ChangeJournalPurpose};
use stage::{FinishedCommand, JournalTestShim};
use sys::ChildExit;
use undo::testing::snapshot;
use undo::{UndoRequest, undo};

/// The files of most commands.
const TREE: &str = "mkdir -p d/sub e other; echo one > f; echo two > g; echo a > d/a; echo b > d/b; echo x > d/sub/x;
    ln f hard; ln -s f link; ln -s d dlink; echo secret > other/s; mkfifo pipe; chmod 640 g; chmod 750 e";

/// Starts a Python program with names for what follows.
const PYTHON: &str = "import ctypes, os, socket, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    result = libc.syscall(number, *args)
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
d = os.open('d', os.O_RDONLY)
";

/// Commands that change files in every way, each of which the shell of a test runs in [`TREE`].
const COMMANDS: &[(&str, &str)] = &[
    ("create", "echo n > new; mkdir -p n/m; echo x > n/m/x; mkfifo n/p; ln -s nowhere n/l; : > empty"),
    ("rewrite", "echo three > f; echo x > d/a; : > g"),
    ("append", "echo more >> f; printf y >> d/sub/x"),
    ("through links", "echo three > link; echo x > dlink/a; rm dlink/b; echo n > dlink/new"),
    ("a dangling link", "ln -s made late; echo x > late; rm late"),
    ("rename over", "echo n > t; mv t f; mv g d/a; mv -T e d/e"),
    ("directories renamed", "mv d m; echo x >> m/a; mkdir d; echo y > d/z; mv m/sub d/moved; rm d/moved/x"),
    ("renamed and back", "mv d m; echo x > m/a; mv m d; mv f q; mv q f"),
    ("remove", "rm f g link pipe; rmdir e; rm -rf d other"),
    ("remove and make again", "rm -rf d; mkdir d; echo a > d/a; rm f; mkdir f; echo x > f/x; rm g; ln -s f g"),
    ("modes", "chmod 600 f; chmod -R o-rwx d; chmod 700 e; chmod +x link"),
    ("hard links", "ln g g2; echo x >> g2; rm g; echo y >> hard; ln d/a d/sub/a; rm d/a"),
    ("times", "touch -d @1000 f; echo x >> f; touch g; chmod 600 g; touch d; touch -r f d/b"),
    ("in place", "sed -i s/one/other/ f; printf z | dd of=g conv=notrunc bs=1 status=none; truncate -s 1 d/a"),
    ("copies", "cp -a d c; cp f d/f; tar cf t.tar d; rm -r d; tar xf t.tar; rm t.tar; chmod 700 c/sub"),
    ("a descriptor for both", "exec 7<>f; echo x >&7; exec 7>&-; exec > out; echo a > /dev/stdout; echo b >&2"),
    ("other directories", "cd d/sub; echo y > ../../f; rm ../a; mkdir ../../n; echo > ../../n/./x; cd ..; mv sub ../e"),
    ("own paths", "echo x > /proc/self/cwd/f; cd d; echo y > /proc/self/cwd/a; rm /proc/thread-self/cwd/b"),
    (
        "git",
        "git init -q r; cd r; git config user.email e; git config user.name n; echo a > a; git add a; \
        git commit -qm m; git checkout -qb b; git mv a c; git commit -qm n; git gc -q",
    ),
    ("many at once", "for i in {1..200}; do (echo $i > s$i; echo $i >> f; rm s$i; mkdir -p e/$i) & done; wait"),
];

/// The same in Python, for calls that no usual program makes.
const CALLS: &[(&str, &str)] = &[
    (
        "by descriptors",
        "os.unlink('a', dir_fd=d); os.rename('b', 'c', src_dir_fd=d, dst_dir_fd=d); \
        os.mkdir('n', dir_fd=d); os.rmdir('n', dir_fd=d); os.symlink('t', 's', dir_fd=d); os.mkfifo('p', dir_fd=d); \
        os.close(os.open('new', os.O_CREAT | os.O_WRONLY, dir_fd=d)); os.truncate('f', 1)",
    ),
    (
        "modes by descriptors",
        "f = os.open('f', os.O_RDONLY); os.fchmod(f, 0o600); os.chmod('a', 0o600, dir_fd=d); \
        os.fchmod(d, 0o700); os.utime(f, (1, 1)); os.ftruncate(os.open('g', os.O_RDWR | os.O_NONBLOCK), 0)",
    ),
    (
        "attributes",
        "os.setxattr('f', 'user.a', b'1'); f = os.open('g', os.O_RDONLY); os.setxattr(f, 'user.b', b'2'); \
        os.setxattr('d', 'user.c', b'3'); os.removexattr('f', 'user.a')",
    ),
    (
        "a file without a name",
        "t = os.open('.', os.O_TMPFILE | os.O_RDWR); os.write(t, b'x'); \
        call(265, -100, f'/proc/self/fd/{t}'.encode(), -100, b'named', 0x400); \
        u = os.open('d', os.O_TMPFILE | os.O_RDWR); call(265, -100, f'/proc/self/fd/{u}'.encode(), d, b'named', 0x400)",
    ),
    (
        "exchange",
        "call(316, -100, b'd', -100, b'e', 2); open('e/a', 'w').write('x'); call(316, -100, b'f', -100, b'g', 2)",
    ),
    (
        "a socket",
        "s = socket.socket(socket.AF_UNIX); s.bind('sock'); s.close(); \
        t = socket.socket(socket.AF_UNIX); t.bind(os.path.abspath('d/sock'))",
    ),
    (
        "old calls",
        "call(2, b'old', 0o101, 0o644); call(85, b'created', 0o644); call(82, b'f', b'r'); call(87, b'g'); \
        call(83, b'made', 0o755); call(84, b'made'); call(90, b'd/a', 0o600); call(86, b'd/b', b'l'); \
        call(88, b'x', b'y'); call(76, b'hard', 1); call(133, b'node', 0o010644, 0)",
    ),
    (
        "threads",
        "[t.start() or t.join() for t in [threading.Thread(target=lambda i=i: open(f'd/{i}', 'w').write('x')) \
        for i in range(20)]]; os.fork() or os._exit(os.unlink('d/a') or 0); os.wait(); os.close(d)",
    ),
];

/// Those that confinement does not have.
const OUTSIDE: &[(&str, &str)] = &[(
    "openat2",
    "how = struct.pack('QQQ', os.O_WRONLY | os.O_CREAT, 0o644, 0); call(437, -100, b'new', how, 24); \
        how = struct.pack('QQQ', os.O_WRONLY | os.O_TRUNC, 0, 0x10); call(437, d, b'/a', how, 24)",
)];

fn python(code: &str) -> String {
    format!("exec python3 - <<'END'\n{PYTHON}{code}\nEND\n")
}

/// Each place in which commands are tested: the user, and whether they are confined.
fn places() -> Vec<(Option<u32>, bool)> {
    users().into_iter().flat_map(|user| [(user, false), (user, true)]).collect()
}

/// Runs a command in [`TREE`], and asserts that the undo restores all that it has changed.
fn restores(stage: &mut JournalTestShim<'_>, what: &str, command: &str) {
    stage.prepare("rm -rf -- * .[a-z]*");
    stage.prepare(TREE);
    let before = snapshot(stage.root());
    let run = stage.recorded(command);
    let changed = snapshot(stage.root());
    assert_ne!(before, changed, "{what} changes something");
    let undone = undo(&stage.store(), &run, UndoRequest::default()).expect(what);
    assert_eq!((&undone.conflicts, &undone.not_covered), (&Vec::new(), &Vec::new()), "{what}");
    assert_eq!(snapshot(stage.root()), before, "{what}");
}

#[test]
#[ignore = "stress: it takes several seconds"]
fn what_any_command_changes_is_restored() {
    for (user, confined) in places() {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), user);
        isolated(user, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            for (what, command) in COMMANDS {
                restores(&mut stage, &format!("{what} {user:?} {confined}"), command);
            }
        });
    }
}

#[test]
#[ignore = "stress: it takes several seconds"]
fn what_any_call_changes_is_restored() {
    for (user, confined) in places() {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), user);
        isolated(user, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            for (what, code) in CALLS.iter().chain(OUTSIDE.iter().filter(|_| !confined)) {
                restores(&mut stage, &format!("{what} {user:?} {confined}"), &python(code));
            }
        });
    }
}

#[test]
fn what_a_command_changes_before_it_is_killed_is_restored() {
    for (user, confined) in places() {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), user);
        isolated(user, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.prepare(TREE);
            let before = snapshot(stage.root());
            let FinishedCommand { run, ended, output } =
                stage.run("echo x > f; rm -r d; mv g h; kill -9 $$; echo y > g", true);
            assert_eq!((ended.end, &ended.record), (ChildExit::Signal(9), &ChangeJournalOutcome::Done), "{output}");
            assert!(!stage.root().join("d").exists() && stage.root().join("h").exists());
            let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
            assert_eq!(undone.conflicts, []);
            assert_eq!(snapshot(stage.root()), before);
        });
    }
}

#[test]
#[ignore = "stress: it takes a minute"]
fn a_large_tree_is_removed_and_restored() {
    for confined in [false, true] {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), None);
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            let make = "import os\nfor i in range(30000):\n    os.makedirs(f't/{i % 300}', exist_ok=True)\n    \
                open(f't/{i % 300}/{i}', 'w').write(str(i))";
            let empty = snapshot(stage.root());
            let made = stage.recorded(&format!("exec python3 - <<'END'\n{make}\nEND\n"));
            let full = snapshot(stage.root());
            assert_eq!(full.len(), 30_301);
            let removed = stage.recorded("rm -rf t");
            assert_eq!(snapshot(stage.root()), empty);
            for (run, expected) in [(&removed, &full), (&made, &empty)] {
                let undone = undo(&stage.store(), run, UndoRequest::default()).expect("undone");
                assert_eq!((&undone.conflicts, &undone.not_covered), (&Vec::new(), &Vec::new()), "{confined}");
                assert!(snapshot(stage.root()) == *expected, "{confined}");
            }
        });
    }
}

#[test]
fn a_shim_records_one_command_after_another_and_only_those_that_want_it() {
    for confined in [false, true] {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), None);
        isolated(None, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.prepare(TREE);
            let states: Vec<_> = (0..5)
                .map(|turn| {
                    let plain = stage.run(&format!("echo {turn} > plain; cat /proc/self/status"), false);
                    assert_eq!(plain.ended.record, ChangeJournalOutcome::Off);
                    assert_eq!(plain.output.contains("Seccomp:\t0"), !confined, "a plain command has no filter");
                    let before = snapshot(stage.root());
                    (before, stage.recorded(&format!("echo {turn} >> f; mkdir n{turn}; mv n{turn} d")))
                })
                .collect();
            for (before, run) in states.into_iter().rev() {
                let undone = undo(&stage.store(), &run, UndoRequest::default()).expect("undone");
                assert_eq!(undone.conflicts, []);
                stage.prepare(&format!("cp plain kept; echo {} > plain", run.len()));
                stage.prepare("mv kept plain");
                assert_eq!(
                    snapshot(stage.root()).get(std::path::Path::new("f")),
                    before.get(std::path::Path::new("f"))
                );
            }
        });
    }
}

#[test]
fn a_receipt_of_a_command_that_changes_nothing_has_no_record() {
    for (user, confined) in places() {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), user);
        isolated(user, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.prepare(TREE);
            for (purpose, expected) in [
                (ChangeJournalPurpose::Receipt, ChangeJournalOutcome::Nothing),
                (ChangeJournalPurpose::Undo, ChangeJournalOutcome::Done),
            ] {
                stage.record.purpose = purpose;
                let FinishedCommand { run, ended, .. } = stage.run("cat f > /dev/null; cat nothing; : < g", true);
                assert_eq!(ended.record, expected, "{confined}");
                assert_eq!(stage.store().has(&run), expected == ChangeJournalOutcome::Done);
                let run = stage.recorded("echo x > f");
                assert!(stage.point(&run).states_before.contains_key(&stage.root().join("f")));
            }
        });
    }
}

#[test]
fn a_record_names_only_what_changed_on_the_host() {
    for (user, confined) in places() {
        let scene = WorldTestScene::below(std::path::Path::new("/var/tmp"), user);
        isolated(user, || {
            let mut stage = JournalTestShim::new(&scene, confined);
            stage.prepare(TREE);
            let run = stage.recorded(
                "echo x > f; echo y > /dev/null; : > /tmp/agent-bash-record-test; \
                 rm /tmp/agent-bash-record-test; cat g > /dev/stderr",
            );
            let point = stage.point(&run);
            let names: Vec<_> = point.states_before.keys().filter(|path| !path.starts_with(&scene.state)).collect();
            let expected: &[&str] = if confined { &["f"] } else { &["/tmp/agent-bash-record-test", "f"] };
            let expected: Vec<_> = expected.iter().map(|name| scene.root.join(name)).collect();
            // The other name of the file is found by its inode.
            assert_eq!(names, expected.iter().collect::<Vec<_>>(), "{confined}");
            assert!(point.uncovered.is_empty() && point.end.is_some());
        });
    }
}
