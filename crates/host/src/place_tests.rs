use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;

use tempfile::TempDir;

use super::*;

fn private() -> TempDir {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().expect("a directory")
}

fn named(directory: &Path) -> RuntimeDirectories {
    let none = directory.join("none");
    RuntimeDirectories { named: Some(directory.to_owned()), own: none.clone(), temp: none, state: None }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").mode() & 0o777
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("there").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
fn a_host_listens_in_the_named_directory_and_leaves_nothing() {
    let directory = private();
    let here = named(directory.path());
    let hosts = directory.path().join("agent-bash/hosts");
    assert_eq!(here.directory(), Some(hosts.clone()));
    assert!(!hosts.exists(), "a look creates nothing");
    let (_listener, bound) = bind(&here).expect("bound");
    assert_eq!(bound.path, hosts.join(format!("{}.sock", process::id())));
    assert_eq!((mode(&hosts), mode(&directory.path().join("agent-bash"))), (0o700, 0o700));
    assert!(bound.is_found(&here) && UnixStream::connect(&bound.path).is_ok());
    drop(bound);
    assert_eq!(names(&hosts), [""; 0]);
}

#[test]
fn two_hosts_with_one_pid_have_two_sockets() {
    let directory = private();
    let [one, other] = [(), ()].map(|()| bind(&named(directory.path())).expect("bound"));
    assert!(one.1.is_there() && other.1.is_there() && one.1.path != other.1.path);
    assert_eq!(pid_of("7-1.sock"), pid_of("7.sock"));
}

#[test]
fn a_socket_listens_before_it_takes_its_name() {
    let directory = private();
    let (listener, bound) = bind(&named(directory.path())).expect("bound");
    let address = listener.local_addr().expect("bound");
    let name_before = address.as_pathname().and_then(Path::file_name).and_then(|name| name.to_str()).expect("a name");
    assert!(name_before.ends_with(NEW_SUFFIX), "{name_before}");
    assert_eq!(pid_of(name_before), pid_of(&name_of(bound.pid, 0)));
}

#[test]
fn a_directory_that_others_may_enter_or_that_is_a_link_is_not_used() {
    let (open, real, temp) = (private(), private(), private());
    fs::set_permissions(open.path(), fs::Permissions::from_mode(0o755)).expect("changed");
    let link = temp.path().join("link");
    symlink(real.path(), &link).expect("linked");
    for named in [open.path(), &link, Path::new("relative"), Path::new("/no/such")] {
        let (named, own) = (Some(named.to_owned()), "/no/such".into());
        let here = RuntimeDirectories { named, own, temp: temp.path().to_owned(), state: None };
        let (_listener, bound) = bind(&here).expect("bound elsewhere");
        let expected = temp.path().join(format!("agent-bash-{}/hosts", geteuid()));
        assert_eq!((bound.path.parent(), here.directory()), (Some(&*expected), Some(expected.clone())), "{here:?}");
    }
}

#[test]
fn the_systems_own_directory_needs_no_variable() {
    let (own, temp) = (private(), private());
    let without =
        RuntimeDirectories { named: None, own: own.path().to_owned(), temp: temp.path().to_owned(), state: None };
    let with = RuntimeDirectories { named: Some(own.path().to_owned()), ..without.clone() };
    assert_eq!(without.directory(), Some(own.path().join("agent-bash/hosts")));
    assert_eq!(without.directory(), with.directory());
    let (_listener, bound) = bind(&RuntimeDirectories { own: "/no/such".into(), ..without.clone() }).expect("bound");
    assert!(bound.path.starts_with(temp.path()));
    assert!(bound.is_there() && !bound.is_found(&without), "the user has logged in since");
}

#[test]
fn a_name_that_another_user_has_taken_is_passed_over() {
    let (temp, home) = (private(), private());
    let taken = temp.path().join(format!("agent-bash-{}", geteuid()));
    let state = home.path().join("state/agent-bash");
    let here = RuntimeDirectories {
        named: None,
        own: "/no/such".into(),
        temp: temp.path().to_owned(),
        state: Some(state.clone()),
    };
    // Made by this user, so that the test needs no other: one that all may enter counts alike.
    fs::create_dir(&taken).expect("made");
    fs::set_permissions(&taken, fs::Permissions::from_mode(0o777)).expect("changed");
    let (_listener, bound) = bind(&here).expect("bound");
    assert_eq!((bound.path.parent(), here.directory()), (Some(&*state.join("hosts")), Some(state.join("hosts"))));
    for make in [|path: &Path| symlink("/", path), |path: &Path| fs::write(path, "")] {
        fs::remove_dir(&taken).or_else(|_| fs::remove_file(&taken)).expect("removed");
        make(&taken).expect("made");
        assert!(bound.is_found(&here));
    }
    fs::remove_file(&taken).expect("removed");
    assert!(!bound.is_found(&here), "the name is free again");
}

#[test]
fn a_link_in_place_of_a_directory_of_ours_is_refused() {
    for name in ["agent-bash", "agent-bash/hosts"] {
        let (directory, elsewhere) = (private(), private());
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("one")).expect("made");
        symlink(elsewhere.path(), path).expect("linked");
        bind(&named(directory.path())).expect_err("a link");
        assert_eq!(named(directory.path()).directory(), None);
        assert_eq!(names(elsewhere.path()), [""; 0]);
    }
}

#[test]
fn what_dead_hosts_have_left_is_removed_and_nothing_else() {
    let directory = private();
    let hosts = directory.path().join("agent-bash/hosts");
    fs::create_dir_all(&hosts).expect("made");
    let gone = i32::MAX;
    let name = |pid: i32| format!("{pid}.sock");
    let left = [name(gone), format!("{gone}-1.sock"), format!("{gone}-2.new")];
    left.iter().for_each(|name| drop(UnixListener::bind(hosts.join(name)).expect("bound")));
    let _heard = UnixListener::bind(hosts.join(name(gone - 1))).expect("bound");
    // Process 1 lives, and does not listen here: another process may be about to.
    drop(UnixListener::bind(hosts.join("1.sock")).expect("bound"));
    drop(UnixListener::bind(hosts.join(format!("0{gone}.sock"))).expect("bound"));
    fs::write(hosts.join(name(gone - 2)), "").expect("written");
    fs::write(hosts.join("x.sock"), "").expect("written");
    let mut kept = names(&hosts);
    kept.retain(|name| !left.contains(name));
    kept.push(name(process::id().cast_signed()));
    kept.sort();
    let _bound = bind(&named(directory.path())).expect("bound");
    assert_eq!(names(&hosts), kept);
}

#[test]
fn a_socket_of_an_earlier_process_with_this_pid_is_replaced() {
    let directory = private();
    let hosts = directory.path().join("agent-bash/hosts");
    fs::create_dir_all(&hosts).expect("made");
    let path = hosts.join(format!("{}.sock", process::id()));
    drop(UnixListener::bind(&path).expect("bound"));
    let (_listener, bound) = bind(&named(directory.path())).expect("bound");
    assert_eq!(bound.path, path);
    assert!(UnixStream::connect(&path).is_ok());
}

#[test]
fn a_socket_that_was_removed_or_replaced_is_known_to_be_gone() {
    let directory = private();
    let (_listener, bound) = bind(&named(directory.path())).expect("bound");
    let path = bound.path.clone();
    fs::remove_file(&path).expect("removed");
    assert!(!bound.is_there());
    let _other = UnixListener::bind(&path).expect("bound");
    assert!(!bound.is_there());
    drop(bound);
    assert!(path.exists(), "the socket of another host stays");
}

#[test]
#[cfg(target_os = "linux")]
fn a_path_that_is_too_long_for_an_address_is_reached_through_its_directory() {
    let directory = private();
    let deep = directory.path().join("d".repeat(200));
    fs::DirBuilder::new().create(&deep).expect("made");
    fs::set_permissions(&deep, fs::Permissions::from_mode(0o700)).expect("changed");
    let (_listener, bound) = bind(&named(&deep)).expect("bound");
    assert!(bound.is_there());
}

#[test]
fn a_listener_with_a_full_queue_is_not_taken_for_dead() {
    let directory = private();
    let path = directory.path().join("1.sock");
    let _listener = UnixListener::bind(&path).expect("bound");
    let mut open = Vec::new();
    loop {
        assert!(!refuses_connections(&path));
        let connection = socket(AddressFamily::Unix, SockType::Stream, SockFlag::empty(), None).expect("a socket");
        sys::set_nonblocking(&connection).expect("set");
        if connect(connection.as_raw_fd(), &UnixAddr::new(&path).expect("short")).is_err() {
            break assert!(!refuses_connections(&path), "its queue is full");
        }
        open.push(connection);
        assert!(open.len() < 100_000, "no bound");
    }
}
