use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use tempfile::TempDir;

use super::*;
use confine_policy::{ConfinementPolicy, DenialKind, TmpPlacement};
use confine_world::{GuardedDirectory, NameGuards, filter};
use sys::{ForkOutcome, SyscallArchitecture, fork};

mod callers;
mod journal;
mod refusals;

/// A listener without a world. Only guards and its own rules limit the calls.
struct WorldlessListener {
    link: ListenerLink,
    listener: Pid,
    variant: filter::SyscallFilterMode,
}

fn policy(root: &Path) -> ConfinementPolicy {
    ConfinementPolicy { tmp: TmpPlacement::Shared, ..ConfinementPolicy::sample(root) }
}

impl WorldlessListener {
    fn new(root: &Path) -> Self {
        Self::with(root, filter::SyscallFilterMode::Confined)
    }

    fn with(root: &Path, variant: filter::SyscallFilterMode) -> Self {
        let settings = ListenerSettings::sample(policy(root));
        let (link, ends) = ListenerLink::pair().unwrap();
        match fork().unwrap() {
            ForkOutcome::Child => {
                drop(link);
                serve(ends, settings, None)
            }
            ForkOutcome::Parent(listener) => Self { link, listener, variant },
        }
    }

    /// Starts a process with the filter.
    fn start(&self, command: u64, guards: &NameGuards, body: impl FnOnce()) -> Pid {
        let message = self.link.begin_message(command, guards).unwrap();
        let filter = filter::program(SyscallArchitecture::HERE.unwrap(), self.variant);
        match fork().unwrap() {
            ForkOutcome::Child => {
                let ready = sys::set_no_new_privileges()
                    .and_then(|()| sys::install_filter(&filter, Some((self.link.descriptor(), &message))));
                let code = match ready {
                    Ok(()) => catch_unwind(AssertUnwindSafe(body)).map_or(101, |()| 0),
                    Err(_) => 102,
                };
                sys::exit_now(code)
            }
            ForkOutcome::Parent(child) => child,
        }
    }

    fn run(&self, guards: &NameGuards, body: impl FnOnce()) -> ListenerReport {
        let child = self.start(1, guards, body);
        let status = waitpid(child, None).unwrap();
        let report = self.link.end_command(1).unwrap().unwrap_or_default();
        assert_eq!(status, WaitStatus::Exited(child, 0), "{report:?}");
        report
    }
}

impl Drop for WorldlessListener {
    fn drop(&mut self) {
        let (link, _) = ListenerLink::pair().unwrap();
        drop(std::mem::replace(&mut self.link, link));
        assert!(matches!(waitpid(self.listener, None), Ok(WaitStatus::Exited(_, 0) | WaitStatus::Signaled(..))));
    }
}

fn confined(root: &Path, guards: &NameGuards, body: impl FnOnce()) -> ListenerReport {
    WorldlessListener::new(root).run(guards, body)
}

fn guard(directory: &Path, names: &[&str]) -> NameGuards {
    let data = fs::metadata(directory).unwrap();
    let names = names.iter().map(OsString::from).collect();
    NameGuards {
        directories: vec![GuardedDirectory { directory: (data.dev(), data.ino()), path: directory.into(), names }],
    }
}

fn temporary() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    (directory, path)
}

fn code<T>(result: std::io::Result<T>) -> i32 {
    result.err().and_then(|error| error.raw_os_error()).unwrap_or(0)
}

#[test]
fn files_are_created_as_without_a_listener() {
    let (_kept, root) = temporary();
    let report = confined(&root, &NameGuards::default(), || {
        fs::write(root.join("a"), "one").unwrap();
        fs::write(root.join("a"), "two").unwrap();
        assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "two");
        std::env::set_current_dir(&root).unwrap();
        fs::create_dir_all("d/e/f").unwrap();
        fs::write("d/e/f/x", "x").unwrap();
        let directory = File::open("d").unwrap();
        let made = nix::fcntl::openat(
            &directory,
            "e/at",
            nix::fcntl::OFlag::O_CREAT | nix::fcntl::OFlag::O_WRONLY,
            nix::sys::stat::Mode::from_bits_truncate(0o666),
        );
        nix::unistd::write(made.unwrap(), b"at").unwrap();
        assert_eq!(fs::read_to_string("d/e/at").unwrap(), "at");
        assert_eq!(code(OpenOptions::new().write(true).create_new(true).open("a")), libc::EEXIST);
        assert_eq!(code(File::create("nowhere/x")), libc::ENOENT);
        assert_eq!(code(File::create("a/x")), libc::ENOTDIR);
        assert_eq!(code(File::create("d")), libc::EISDIR);
        assert_eq!(code(File::create("d/")), libc::EISDIR);
        assert_eq!(code(File::create("")), libc::ENOENT);
        assert_eq!(code(File::create("x".repeat(300))), libc::ENAMETOOLONG);
        assert_eq!(code(File::create("x/".repeat(3000))), libc::ENAMETOOLONG);
        let mut appended = OpenOptions::new().append(true).create(true).open("a").unwrap();
        appended.write_all(b"!").unwrap();
        assert_eq!(fs::read_to_string("a").unwrap(), "two!");
        fs::rename("a", "b").unwrap();
        fs::hard_link("b", "c").unwrap();
        symlink("b", "l").unwrap();
        fs::write("l", "through").unwrap();
        assert_eq!(fs::read_to_string("c").unwrap(), "through");
        symlink("new", "dangling").unwrap();
        fs::write("dangling", "made").unwrap();
        assert_eq!(fs::read_to_string("new").unwrap(), "made");
        symlink("loop", "loop").unwrap();
        assert_eq!(code(File::create("loop")), libc::ELOOP);
        fs::remove_file("b").unwrap();
        fs::remove_dir_all("d").unwrap();
    });
    assert_eq!(report, ListenerReport::default());
    assert!(root.join("c").exists() && !root.join("d").exists());
}

#[test]
fn callers_keep_their_processors() {
    use nix::sched::{sched_getaffinity, sched_getcpu, sched_setaffinity};

    let (_kept, root) = temporary();
    let own = Pid::from_raw(0);
    let keeps = |name: &str| {
        let before = sched_getaffinity(own).unwrap();
        for _ in 0..50 {
            fs::write(root.join(name), "").unwrap();
            assert!(sched_getaffinity(own).unwrap() == before);
        }
        before
    };
    confined(&root, &NameGuards::default(), || {
        let all = keeps("all");
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(keeps("thread") == all));
            assert!(keeps("beside") == all);
        });
        let mut one = nix::sched::CpuSet::new();
        one.set(sched_getcpu().unwrap()).unwrap();
        sched_setaffinity(own, &one).unwrap();
        assert!(keeps("one") == one);
        sched_setaffinity(own, &all).unwrap();
        assert!(keeps("again") == all);
    });
}

#[test]
fn modes_and_masks_are_the_callers() {
    let (_kept, root) = temporary();
    let report = confined(&root, &NameGuards::default(), || {
        let mode = |name: &str| fs::metadata(root.join(name)).unwrap().permissions().mode() & 0o7777;
        let make = |name: &str, mode: u32| OpenOptions::new().write(true).create(true).mode(mode).open(root.join(name));
        for (umask, name) in [(0o022, "a"), (0o077, "b"), (0, "c"), (0o027, "d")] {
            nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(umask));
            make(name, 0o666).unwrap();
            assert_eq!(mode(name), 0o666 & !umask);
            fs::create_dir(root.join(format!("dir-{name}"))).unwrap();
            assert_eq!(mode(&format!("dir-{name}")), 0o777 & !umask);
            std::thread::scope(|scope| {
                scope.spawn(|| make(&format!("thread-{name}"), 0o666).unwrap());
            });
            assert_eq!(mode(&format!("thread-{name}")), 0o666 & !umask);
        }
        assert_eq!(code(make("suid", 0o4755)), libc::EPERM);
        assert!(!root.join("suid").exists());
        let set = |mode| code(fs::set_permissions(root.join("a"), fs::Permissions::from_mode(mode)));
        assert_eq!((set(0o4755), set(0o2755), set(0o755)), (libc::EPERM, libc::EPERM, 0));
    });
    assert_eq!(report.denials.total, 0);
}

#[test]
fn a_guarded_name_cannot_be_created_in_any_way() {
    let (_kept, root) = temporary();
    fs::create_dir(root.join("sub")).unwrap();
    let names = [".envrc", "hooks"];
    let report = confined(&root, &guard(&root, &names), || {
        std::env::set_current_dir(&root).unwrap();
        let target = root.join(".envrc");
        assert_eq!(code(File::create(&target)), libc::EACCES);
        assert_eq!(code(File::create(".envrc")), libc::EACCES);
        assert_eq!(code(File::create("sub/../.ENVRC")), libc::EACCES);
        assert_eq!(code(fs::create_dir("hooks/")), libc::EACCES);
        assert_eq!(code(symlink("x", "hooks")), libc::EACCES);
        fs::write("plain", "").unwrap();
        assert_eq!(code(fs::rename("plain", ".envrc")), libc::EACCES);
        assert_eq!(code(fs::hard_link("plain", ".envrc")), libc::EACCES);
        assert_eq!(code(UnixListener::bind(".envrc")), libc::EACCES);
        symlink(".envrc", "way").unwrap();
        assert_eq!(code(File::create("way")), libc::EACCES);
        symlink(&root, "sub/up").unwrap();
        assert_eq!(code(File::create("sub/up/.envrc")), libc::EACCES);
        assert_eq!(code(File::create(format!("/proc/self/cwd/{}", ".envrc"))), libc::EACCES);
        let directory = File::open(".").unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&directory);
        assert_eq!(code(File::create(format!("/dev/fd/{fd}/.envrc"))), libc::EACCES);
        let made = nix::sys::stat::mknod(".envrc", nix::sys::stat::SFlag::S_IFIFO, nix::sys::stat::Mode::S_IRWXU, 0);
        assert_eq!(made, Err(nix::errno::Errno::EACCES));
        // Elsewhere the name is free.
        fs::write("sub/.envrc", "").unwrap();
        assert!(!target.exists() && fs::symlink_metadata("hooks").is_err());
    });
    assert_eq!(report.denials.total, 13, "{report:?}");
    assert!(report.denials.listed.iter().all(|denial| denial.kind == DenialKind::Write && denial.grant.is_none()));
    assert!(report.denials.listed.iter().any(|denial| Path::new(&denial.target) == root.join(".envrc")));
}

#[test]
fn a_bound_socket_has_the_path_that_its_program_wrote() {
    let (_kept, root) = temporary();
    fs::create_dir(root.join("sub")).unwrap();
    let report = confined(&root, &guard(&root, &[".envrc"]), || {
        std::env::set_current_dir(&root).unwrap();
        for path in [root.join("sub/one"), "two".into(), "sub/three".into()] {
            let socket = UnixListener::bind(&path).unwrap();
            assert_eq!(socket.local_addr().unwrap().as_pathname(), Some(path.as_path()));
            std::os::unix::net::UnixStream::connect(&path).unwrap();
        }
        symlink(&root, "up").unwrap();
        UnixListener::bind("up/sub/../four").unwrap();
        assert_eq!(code(UnixListener::bind("up/.envrc")), libc::EACCES);
        assert!(root.join("four").exists() && !root.join(".envrc").exists());
    });
    assert_eq!(report.denials.total, 1, "{report:?}");
}

#[test]
fn streams_and_files_of_proc_are_the_callers_own() {
    let (_kept, root) = temporary();
    let out = root.join("out");
    let report = confined(&root, &NameGuards::default(), || {
        let file = File::create(&out).unwrap();
        nix::unistd::dup2_stdout(&file).unwrap();
        fs::write("/dev/stdout", "one").unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), "one");
        symlink("/dev/stdout", root.join("log")).unwrap();
        fs::write(root.join("log"), "three").unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), "three");
        fs::write("/dev/null", "x").unwrap();
        // A file that is open for reading does not become writable.
        let read = File::open(&out).unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&read);
        assert_eq!(code(File::create(format!("/proc/self/fd/{fd}"))), libc::EACCES);
        fs::write("/proc/self/comm", "renamed").unwrap();
        assert_eq!(fs::read_to_string("/proc/self/comm").unwrap().trim(), "renamed");
        // Other processes are out of reach, the listener among them.
        let parent = nix::unistd::getppid();
        assert_eq!(
            code(OpenOptions::new().write(true).create(true).truncate(false).open(format!("/proc/{parent}/comm"))),
            libc::EACCES
        );
        symlink("/proc/self", root.join("me")).unwrap();
        assert_eq!(
            code(OpenOptions::new().write(true).create(true).truncate(false).open(root.join("me/mem"))),
            libc::EACCES
        );
        assert_ne!(code(fs::create_dir(root.join("me/cwd/made"))), 0);
        assert_eq!(code(File::create("/dev/fd/99")), libc::ENOENT);
    });
    assert!(report.denials.total <= 4, "{report:?}");
}

#[test]
fn a_fifo_waits_for_its_other_end_and_stops_nothing_else() {
    let (_kept, root) = temporary();
    let fifo = root.join("fifo");
    let report = confined(&root, &NameGuards::default(), || {
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
        std::thread::scope(|scope| {
            scope.spawn(|| fs::write(&fifo, "through").unwrap());
            // While that one waits.
            fs::write(root.join("other"), "").unwrap();
            assert_eq!(fs::read_to_string(&fifo).unwrap(), "through");
        });
        let file = OpenOptions::new().write(true).create(true).custom_flags(libc::O_NONBLOCK).open(&fifo);
        assert_eq!(code(file), libc::ENXIO);
    });
    assert_eq!(report.denials.total, 0);
}

#[test]
fn a_fifo_is_opened_beside_many_other_calls() {
    let (_kept, root) = temporary();
    let fifo = root.join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    confined(&root, &NameGuards::default(), || {
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    fs::write(root.join("other"), "").unwrap();
                }
            });
            for _ in 0..300 {
                let writer = scope.spawn(|| fs::write(&fifo, "through").is_ok());
                let read = fs::read_to_string(&fifo).unwrap();
                if !writer.join().unwrap() || read != "through" {
                    sys::exit_now(103);
                }
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    });
}

#[test]
fn a_caller_that_is_killed_while_it_waits_leaves_nothing_behind() {
    let (_kept, root) = temporary();
    let fifo = root.join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let beside = WorldlessListener::new(&root);
    let child = beside.start(1, &NameGuards::default(), || drop(fs::write(&fifo, "x")));
    let waits = || fs::read_to_string(format!("/proc/{}/task", beside.listener)).is_err();
    assert!(waits());
    while fs::read_dir(format!("/proc/{}/task", beside.listener)).unwrap().count() < 2 {
        std::thread::yield_now();
    }
    nix::sys::signal::kill(child, nix::sys::signal::SIGKILL).unwrap();
    waitpid(child, None).unwrap();
    while fs::read_dir(format!("/proc/{}/task", beside.listener)).unwrap().count() > 1 {
        std::thread::yield_now();
    }
    beside.link.end_command(1).unwrap();
    beside.run(&NameGuards::default(), || fs::write(root.join("later"), "").unwrap());
}
