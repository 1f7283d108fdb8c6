//! Refused calls, and their counts.

use super::*;

#[test]
fn sockets_by_path_work_inside_write_roots_only() {
    let (_kept, root) = temporary();
    let (_other, outside) = temporary();
    let host = UnixListener::bind(outside.join("host")).unwrap();
    host.set_nonblocking(true).unwrap();
    let report = confined(&root, &NameGuards::default(), || {
        std::env::set_current_dir(&root).unwrap();
        let listener = UnixListener::bind("own").unwrap();
        for path in [PathBuf::from("own"), root.join("own")] {
            let mut near = UnixStream::connect(&path).unwrap();
            let (mut far, _) = listener.accept().unwrap();
            near.write_all(b"hello").unwrap();
            let mut got = [0; 5];
            far.read_exact(&mut got).unwrap();
        }
        assert_eq!(code(UnixStream::connect(root.join("none"))), libc::ENOENT);
        assert_eq!(code(UnixStream::connect(outside.join("host"))), libc::EACCES);
        symlink(outside.join("host"), "way").unwrap();
        assert_eq!(code(UnixStream::connect("way")), libc::EACCES);
        assert_eq!(code(UnixDatagram::unbound()), libc::EPERM);
        assert_eq!(code(UnixDatagram::pair()), libc::EPERM);
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = tcp.local_addr().unwrap();
        std::net::TcpStream::connect(address).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| std::net::TcpStream::connect(address).unwrap());
        });
    });
    assert_eq!(code(host.accept()), libc::EAGAIN);
    let hosts = outside.join("host");
    let listed = &report.denials.listed;
    assert!(
        listed.iter().any(|one| one.kind == DenialKind::Network && Path::new(&one.target) == hosts && one.count == 2)
    );
    assert!(listed.iter().any(|one| one.kind == DenialKind::Syscall && one.target == "socket"));
}

#[test]
fn calls_of_attacks_fail_and_are_counted() {
    let (_kept, root) = temporary();
    let beside = WorldlessListener::new(&root);
    let report = beside.run(&NameGuards::default(), || {
        use nix::errno::Errno::{EAFNOSUPPORT, EPERM};
        use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
        for _ in 0..3 {
            assert!(!std::process::Command::new("unshare").args(["-U", "true"]).status().unwrap().success());
        }
        let vsock = socket(AddressFamily::Vsock, SockType::Stream, SockFlag::empty(), None);
        assert_eq!(vsock.err(), Some(EAFNOSUPPORT));
        assert_eq!(nix::unistd::chroot("/"), Err(EPERM));
        assert_eq!(nix::sys::signal::kill(Pid::from_raw(-1), None), Err(EPERM));
    });
    let counted: Vec<_> =
        report.denials.listed.iter().map(|denial| (denial.kind, denial.target.as_str(), denial.count)).collect();
    use DenialKind::Syscall;
    assert_eq!(counted, [(Syscall, "unshare", 3), (Syscall, "socket", 1), (Syscall, "chroot", 1)]);
    assert!(report.denials.listed.iter().all(|denial| !denial.program.is_empty()));
    // Nothing of it is left for the next command.
    assert_eq!(beside.run(&NameGuards::default(), || {}), ListenerReport::default());
}

#[test]
fn millions_of_denials_are_counted_and_take_no_room() {
    let (_kept, root) = temporary();
    let report = confined(&root, &guard(&root, &[".envrc"]), || {
        for _ in 0..2000 {
            assert_eq!(code(File::create(root.join(".envrc"))), libc::EACCES);
        }
    });
    assert_eq!((report.denials.total, report.denials.listed.len()), (2000, 1));
}

#[test]
fn guards_are_replaced_while_a_command_runs() {
    let (_kept, root) = temporary();
    let (read, write) = sys::pipe().unwrap();
    let beside = WorldlessListener::new(&root);
    let (asked, answer) = sys::pipe().unwrap();
    let child = beside.start(7, &guard(&root, &["a"]), || {
        assert_eq!(code(File::create(root.join("a"))), libc::EACCES);
        nix::unistd::write(&answer, b"x").unwrap();
        nix::unistd::read(&read, &mut [0; 1]).unwrap();
        assert_eq!(code(File::create(root.join("b"))), libc::EACCES);
        File::create(root.join("a")).unwrap();
    });
    nix::unistd::read(&asked, &mut [0; 1]).unwrap();
    beside.link.replace_guards(7, &guard(&root, &["b"])).unwrap();
    nix::unistd::write(&write, b"x").unwrap();
    assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 0));
    let report = beside.link.end_command(7).unwrap().expect("a report");
    assert_eq!((report.denials.total, report.denials.listed.len()), (1, 1));
    assert!(report.denials.listed[0].target.as_bytes().ends_with(b"/b"));
}

#[test]
fn many_guards_come_in_parts() {
    let (_kept, root) = temporary();
    let mut guards = guard(&root, &["last"]);
    let filler = |n: u64| GuardedDirectory {
        directory: (n, n),
        path: "/x".repeat(60).into(),
        names: vec!["y".repeat(40).into()],
    };
    guards.directories.splice(0..0, (0..3000).map(filler));
    let report = confined(&root, &guards, || assert_eq!(code(File::create(root.join("last"))), libc::EACCES));
    assert_eq!(report.denials.total, 1);
}

#[test]
fn without_a_listener_calls_that_wait_fail() {
    let (_kept, root) = temporary();
    let beside = WorldlessListener::new(&root);
    let (read, write) = sys::pipe().unwrap();
    let (asked, answer) = sys::pipe().unwrap();
    let child = beside.start(1, &NameGuards::default(), || {
        nix::unistd::write(&answer, b"x").unwrap();
        nix::unistd::read(&read, &mut [0; 1]).unwrap();
        assert_ne!(code(File::create(root.join("a"))), 0);
    });
    // The child has sent its descriptor, and the listener has it before it answers a later request.
    nix::unistd::read(&asked, &mut [0; 1]).unwrap();
    beside.link.end_and_report(9).unwrap();
    nix::sys::signal::kill(beside.listener, nix::sys::signal::SIGKILL).unwrap();
    while fs::read_to_string(format!("/proc/{}/stat", beside.listener)).is_ok_and(|stat| !stat.contains(") Z")) {
        std::thread::yield_now();
    }
    nix::unistd::write(&write, b"x").unwrap();
    assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 0));
    assert!(!root.join("a").exists());
}

#[test]
fn a_path_that_another_thread_exchanges_never_reaches_a_guarded_name() {
    let (_kept, root) = temporary();
    fs::create_dir(root.join("one")).unwrap();
    confined(&root, &guard(&root, &[".envrc"]), || {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let (way, spare) = (root.join("one/way"), root.join("one/spare"));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let _ = symlink("../.envrc", &way);
                    let _ = fs::remove_file(&way);
                    let _ = symlink("..", &spare);
                    let _ = fs::remove_file(&spare);
                    let _ = fs::create_dir(&spare);
                    let _ = fs::remove_dir(&spare);
                }
            });
            for _ in 0..3000 {
                let _ = File::create(&way);
                let _ = File::create(spare.join(".envrc"));
                let _ = fs::create_dir(spare.join(".envrc"));
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert!(fs::symlink_metadata(root.join(".envrc")).is_err());
    });
}
