//! Processes and networks of worlds, and their ends.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::path::Path;

use nix::sys::wait::{WaitStatus, waitpid};

use super::super::testing::{WorldTestScene, end, isolated, run_in, users};
use super::super::{WorldHostPaths, WorldLeftovers, build, probe};
use super::check;
use confine_gate::RESOLV_CONF;
use confine_policy::{ConfinementMechanism, ConfinementPart, ConfinementPolicy, NetworkScope, WorldError};
use sys::{ForkOutcome, Signal};

#[test]
fn the_private_tmp_is_on_the_host_while_the_world_lives() {
    let scene = WorldTestScene::new(None);
    let seen = isolated(None, || {
        let world = scene.world(&scene.policy());
        run_in(&world, &scene.root, "echo t > /tmp/mine");
        let tmp = world.facts.tmp.clone().expect("a private tmp");
        let text = fs::read_to_string(tmp.join("mine")).expect("read");
        end(world);
        (text, tmp.exists())
    });
    assert_eq!(seen, ("t\n".to_owned(), false));
}

#[test]
fn processes_of_the_host_and_of_init_are_out_of_reach() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        let own = std::process::id();
        check(
            &scene,
            &scene.policy(),
            &[
                (&format!("kill -0 {own}"), false),
                (
                    "ls -l /proc/1/root/ || cat /proc/1/environ || readlink /proc/1/fd/0 || readlink /proc/1/ns/mnt",
                    false,
                ),
                ("kill -9 1; sleep 0.01; kill -0 1", true),
                ("grep -q 'CapEff:.0*$' /proc/self/status && grep -q 'CapBnd:.0*$' /proc/self/status", true),
                ("grep -q 'NoNewPrivs:.1' /proc/self/status", true),
            ],
        );
    }
}

#[test]
fn a_world_has_its_own_loopback_and_no_way_out() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        let python = "python3 - <<'P'
import socket
server = socket.create_server(('127.0.0.1', 80 if False else 8080))
client = socket.create_connection(('127.0.0.1', 8080), 5)
print('local')
try:
    socket.create_connection(('192.0.2.1', 80), 5)
except OSError as error:
    print(error.errno)
P";
        let (output, code) = scene.run(&scene.policy(), python);
        assert_eq!((output.as_str(), code), ("local\n101\n", 0));
    }
}

#[test]
fn a_world_ends_with_its_last_process_and_leaves_nothing() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        isolated(user, || {
            let world = scene.world(&scene.policy());
            let (output, _) =
                run_in(&world, &scene.root, "setsid sleep 1000 & echo $!; mkdir -p /tmp/a/b; chmod 0 /tmp/a");
            assert!(output.trim().parse::<u32>().is_ok(), "{output}");
            end(world);
        });
        assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0);
        assert!(WorldLeftovers::of(&scene.state).is_none());
    }
}

#[test]
fn parts_that_are_held() {
    let scene = WorldTestScene::new(None);
    for (network, held) in [(NetworkScope::None, 4), (NetworkScope::Full, 3)] {
        let policy = ConfinementPolicy { network, ..scene.policy() };
        let facts = isolated(None, || {
            let world = scene.world(&policy);
            let facts = world.facts.clone();
            end(world);
            facts
        });
        assert_eq!((facts.held.len(), facts.missing), (held, vec![]));
        assert!(facts.held.contains(&ConfinementPart::Files));
    }
}

#[test]
fn a_world_is_kept_for_a_process_after_its_owner_has_dropped_it() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        isolated(user, || {
            let world = scene.world(&scene.policy());
            let init = world.namespaces.as_ref().expect("namespaces").init.expect("made here");
            let ended = world.namespaces.as_ref().expect("namespaces").ended.try_clone().expect("copied");
            let mut door = world.open_door().expect("opened").expect("a door");
            let (read, write) = sys::pipe().expect("a pipe");
            let kept = match sys::fork().expect("forked") {
                ForkOutcome::Child => {
                    drop((world, write));
                    let _ = nix::unistd::read(&read, &mut [0]);
                    sys::exit_now(0)
                }
                ForkOutcome::Parent(kept) => kept,
            };
            world.keep_for(kept).expect("kept");
            drop(world);
            door.refresh().expect("init is there");
            drop(write);
            waitpid(kept, None).expect("reaped");
            // The end of the pipe, without a byte.
            assert_eq!(nix::unistd::read(&ended, &mut [0]), Ok(0));
            assert_eq!(waitpid(init, None), Ok(WaitStatus::Exited(init, 0)));
            assert!(door.refresh().is_err());
        });
        assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0);
    }
}

#[test]
fn files_of_a_killed_world_are_swept() {
    let scene = WorldTestScene::new(None);
    isolated(None, || {
        let world = scene.world(&scene.policy());
        run_in(&world, &scene.root, "mkdir -p /tmp/a && echo b > /tmp/a/b");
        let init = world.namespaces.as_ref().expect("namespaces").init.expect("made here");
        assert!(WorldLeftovers::of(&scene.state).is_none());
        assert!(world.facts.tmp.as_ref().is_some_and(|tmp| tmp.join("a/b").exists()), "a living world was swept");
        sys::signal(init, Signal::SIGKILL);
        waitpid(init, None).expect("reaped");
        WorldLeftovers::of(&scene.state).expect("one").remove();
    });
    assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0);
}

#[test]
#[ignore = "stress: it loads the machine"]
fn two_hundred_worlds_leave_nothing() {
    let scene = WorldTestScene::new(None);
    let counts = || {
        let descriptors = fs::read_dir("/proc/self/fd").expect("listed").count();
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("read").lines().count();
        let children = sys::children(nix::unistd::getpid()).len();
        (descriptors, mounts, children)
    };
    isolated(None, || {
        let before = counts();
        for _ in 0..200 {
            end(scene.world(&scene.policy()));
        }
        assert_eq!(counts(), before);
    });
    assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0);
}

#[test]
fn a_world_that_cannot_be_made_leaves_nothing() {
    let scene = WorldTestScene::new(None);
    let policy = ConfinementPolicy { write: vec![scene.root.join("missing")], ..scene.policy() };
    isolated(None, || {
        let place = WorldHostPaths { state: &scene.state, readable: &[], watches: true };
        assert!(matches!(build(&policy, &place), Err(WorldError::Step { step, .. }) if step.contains("missing")));
        assert!(sys::children(nix::unistd::getpid()).is_empty());
    });
    assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0);
}

/// Accepts two connections to port 443 in a network namespace, and returns where they were meant to go.
fn accept_two(user: &impl AsFd, network: &impl AsFd) -> String {
    sys::enter_namespace(user.as_fd()).expect("joined");
    sys::enter_namespace(network.as_fd()).expect("joined");
    let listener = TcpListener::bind("[::]:443").expect("bound");
    let accept = |_| listener.accept().expect("accepted").0.local_addr().expect("an address");
    (0..2).map(accept).map(|address| format!("{address}\n")).collect()
}

#[test]
fn connections_to_any_address_reach_the_gate() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        let network = NetworkScope::Allow { entries: Vec::new(), hosts: BTreeMap::new() };
        let policy = ConfinementPolicy { network, ..scene.policy() };
        let seen = isolated(user, || {
            let world = scene.world(&policy);
            let spaces = world.namespaces.as_ref().expect("namespaces");
            let gate = spaces.gate.as_ref().expect("a gate");
            let (read, write) = sys::pipe().expect("a pipe");
            let ForkOutcome::Parent(child) = sys::fork().expect("forked") else {
                let seen = accept_two(&spaces.user, gate);
                nix::unistd::write(&write, seen.as_bytes()).expect("written");
                sys::exit_now(0)
            };
            drop(write);
            // The listener may not be there at the first attempt.
            let python = "
import socket, time
for host in ('1.2.3.4', '2001:db8::7'):
    while True:
        try:
            socket.create_connection((host, 443), 5).recv(1)
        except ConnectionRefusedError:
            continue
        except ConnectionResetError:
            pass
        break";
            let script = format!("python3 -c \"{python}\"; cat /etc/resolv.conf");
            let (output, _) = run_in(&world, &scene.root, &script);
            waitpid(child, None).expect("reaped");
            let mut seen = String::new();
            std::io::Read::read_to_string(&mut fs::File::from(read), &mut seen).expect("read");
            end(world);
            seen + &output
        });
        assert_eq!(seen, format!("[::ffff:1.2.3.4]:443\n[2001:db8::7]:443\n{RESOLV_CONF}"));
    }
}

#[test]
fn a_probe_tries_all_parts() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        let (held, missing) = isolated(user, || {
            let facts = probe(&scene.state).expect("probed");
            (facts.held, facts.missing)
        });
        assert_eq!((held, missing), (ConfinementPart::ALL.to_vec(), Vec::new()));
        assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0);
    }
}

#[test]
fn without_user_namespaces_a_listener_holds_all_parts() {
    let scene = WorldTestScene::below(Path::new("/var"), None);
    isolated(None, || {
        // The child has a user namespace of its own, so that the limit applies to this process alone.
        let ForkOutcome::Parent(child) = sys::fork_world(false).expect("forked") else { forbidden(&scene) };
        assert_eq!(waitpid(child, None), Ok(WaitStatus::Exited(child, 0)));
    });
}

/// Tries to make worlds in a user namespace that permits no others.
fn forbidden(scene: &WorldTestScene) -> ! {
    let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        fs::write("/proc/sys/user/max_user_namespaces", "0").expect("limited");
        let place = WorldHostPaths { state: &scene.state, readable: &[], watches: true };
        let world = build(&scene.policy(), &place).expect("a listener");
        assert!(world.namespaces.is_none() && world.landlock.is_some());
        assert_eq!((world.facts.way, &*world.facts.held), (ConfinementMechanism::Listener, &ConfinementPart::ALL[..]));
        let (tmp, keeper) =
            (world.facts.tmp.clone().expect("a directory"), world.lifetime_process().expect("a keeper"));
        assert!(tmp.is_dir());
        drop(world);
        assert_eq!(waitpid(keeper, None), Ok(WaitStatus::Exited(keeper, 0)));
        assert!(!tmp.exists());
    }));
    sys::exit_now(i32::from(tried.is_err()))
}
