//! A listener with a journal in another process: this test.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::WaitPidFlag;

use super::*;

/// Records each change and whether its file existed, and forbids changes of some names.
#[derive(Default)]
struct NotedChanges {
    changes: RefCell<Vec<String>>,
    forbidden: HashSet<&'static str>,
}

impl FileChangeJournal for NotedChanges {
    fn record_before(&self, change: &PendingFileChange) -> Result<JournaledChange, Errno> {
        let (path, mut note) = (change.spot.path(), String::new());
        let name = path.file_name().expect("a name").to_str().expect("text").to_owned();
        let there = if path.symlink_metadata().is_ok() { "there" } else { "new" };
        let act = format!("{:?}", change.act);
        let act = act.split(|at: char| !at.is_alphabetic()).next().unwrap_or_default();
        write!(note, "{act} {name} {there}").expect("written");
        self.changes.borrow_mut().push(note);
        if self.forbidden.contains(&*name) { Err(Errno::EDQUOT) } else { Ok(JournaledChange::default()) }
    }

    fn record_unfollowed(&self, path: &Path, why: &str) -> Result<(), Errno> {
        self.changes.borrow_mut().push(format!("missed {}: {why}", path.display()));
        Ok(())
    }
}

/// Runs a program with a journal that answers so many times, and is gone then.
fn with_journal(root: &Path, journal: &NotedChanges, mut answers: usize, body: impl FnOnce()) {
    let beside = WorldlessListener::with(root, filter::SyscallFilterMode::ConfinedAndRecorded);
    let (ours, theirs) = sys::message_pair().unwrap();
    beside.link.send_journal(1, &theirs).unwrap();
    drop(theirs);
    let number = ours.as_raw_fd();
    let child = beside.start(1, &NameGuards::default(), || {
        // As programs do that are executed.
        nix::unistd::close(number).unwrap();
        body();
    });
    let mut ours = (answers > 0).then_some(ours);
    let mut watcher = UnconfinedListener::new();
    loop {
        match waitpid(child, Some(WaitPidFlag::WNOHANG)).unwrap() {
            WaitStatus::StillAlive => {}
            ended => {
                assert_eq!(ended, WaitStatus::Exited(child, 0), "{:?}", journal.changes);
                return;
            }
        }
        let mut fds: Vec<_> = ours.iter().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect();
        let ready = poll(&mut fds, PollTimeout::from(10_u8)).unwrap();
        if let Some(socket) = ours.as_ref().filter(|_| ready > 0) {
            answers -= 1;
            if !watcher.answer_remote(socket.as_fd(), Some(journal)) || answers == 0 {
                ours = None;
            }
        }
    }
}

fn change_files() {
    fs::write("a", "one").unwrap();
    fs::write("a", "two").unwrap();
    fs::create_dir("d").unwrap();
    fs::rename("a", "d/b").unwrap();
    fs::hard_link("d/b", "c").unwrap();
    fs::set_permissions("c", fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file("c").unwrap();
    fs::remove_dir_all("d").unwrap();
}

#[test]
fn a_journal_learns_of_each_change_before_it_is_made() {
    let (_kept, root) = temporary();
    let notes = NotedChanges::default();
    with_journal(&root, &notes, usize::MAX, || {
        std::env::set_current_dir(&root).unwrap();
        change_files();
        assert!(File::create("nowhere/x").is_err() && fs::read_dir(".").unwrap().next().is_none());
    });
    let expected = [
        "Write a new",
        "Write a there",
        "MakeDirectory d new",
        "Rename a there",
        "Link b there",
        "Meta c there",
        "Remove c there",
        "Remove b there",
        "Remove d there",
    ];
    assert_eq!(*notes.changes.borrow(), expected);
}

#[test]
fn a_change_that_a_journal_forbids_is_not_made() {
    let (_kept, root) = temporary();
    fs::write(root.join("old"), "kept").unwrap();
    let notes = NotedChanges { forbidden: HashSet::from(["no", "old"]), ..NotedChanges::default() };
    with_journal(&root, &notes, usize::MAX, || {
        std::env::set_current_dir(&root).unwrap();
        assert_eq!(code(File::create("no")), libc::EDQUOT);
        assert_eq!(code(fs::create_dir("no")), libc::EDQUOT);
        assert_eq!(code(fs::write("old", "x")), libc::EDQUOT);
        assert_eq!(code(OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open("old")), libc::EDQUOT);
        assert_eq!(code(fs::remove_file("old")), libc::EDQUOT);
        fs::write("yes", "x").unwrap();
    });
    assert_eq!(fs::read_to_string(root.join("old")).unwrap(), "kept");
    assert!(root.join("yes").exists() && !root.join("no").exists());
}

#[test]
fn a_command_goes_on_without_its_journal() {
    for answers in [0, 1, 2, 4] {
        let (_kept, root) = temporary();
        let notes = NotedChanges::default();
        with_journal(&root, &notes, answers, || {
            std::env::set_current_dir(&root).unwrap();
            change_files();
            fs::write("done", "").unwrap();
        });
        // The first message says that the command makes calls.
        assert_eq!(notes.changes.borrow().len(), answers.saturating_sub(1));
        assert!(root.join("done").exists());
    }
}

#[test]
fn a_thing_that_is_another_one_here_is_missed() {
    let (_kept, root) = temporary();
    for name in ["d", "other", "e"] {
        fs::create_dir(root.join(name)).unwrap();
        fs::write(root.join(name).join("f"), name).unwrap();
    }
    let spot =
        |name: &str| unconfined_listener::spot_of(File::open(root.join(name).join("f")).unwrap().as_fd()).unwrap();
    let (one, two, three) = (spot("d"), spot("e"), spot("other"));
    // A link in the way, another directory in the way, and another file with the name.
    fs::rename(root.join("d"), root.join("away")).unwrap();
    symlink("away", root.join("d")).unwrap();
    fs::rename(root.join("e"), root.join("gone")).unwrap();
    fs::create_dir(root.join("e")).unwrap();
    fs::write(root.join("e/f"), "new").unwrap();
    let (ours, theirs) = sys::message_pair().unwrap();
    let asks = std::thread::spawn(move || {
        let remote = remote_journal::RemoteJournal::new(theirs);
        [one, two, three].map(|spot| remote.record_before(&PendingFileChange { spot, act: PendingChangeKind::Rewrite }))
    });
    let notes = NotedChanges::default();
    for _ in 0..3 {
        poll(&mut [PollFd::new(ours.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE).unwrap();
        assert!(UnconfinedListener::new().answer_remote(ours.as_fd(), Some(&notes)));
    }
    assert_eq!(asks.join().unwrap(), [Ok(JournaledChange::default()); 3]);
    let missed = |name: &str| {
        format!("missed {}: another process changed it at the same time", root.join(name).join("f").display())
    };
    assert_eq!(*notes.changes.borrow(), [missed("d"), missed("e"), "Rewrite f there".to_owned()]);
}
