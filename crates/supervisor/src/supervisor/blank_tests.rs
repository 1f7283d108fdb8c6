//! Tests of the blank world, with a clock of their own.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::blank_world_slot::{BlankGate, BlankWorldSlot};
use super::worlds::SupervisorWorlds;
use confine_gate::GateControl;
use confine_policy::ConfinementPart;
use confine_world::{
    BlankWorld, WorldHostPaths, finish_world, testing::WorldTestScene, testing::end, testing::isolated, testing::users,
};
use protocol::plan::WorldId;
use sys::{ForkOutcome, Signal};

fn none(_: &BlankWorld) -> Option<BlankGate> {
    None
}

#[test]
fn a_blank_world_waits_for_a_minute_after_the_last_time_that_it_was_wanted() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        isolated(user, || {
            let (mut place, began) = (BlankWorldSlot::default(), Instant::now());
            let later = |seconds| began + Duration::from_secs(seconds);
            let init = place.keep(&scene.state, began, none).expect("begun");
            assert_eq!(place.keep(&scene.state, later(30), none), None, "it is there");
            place.expire(later(89));
            assert_eq!(place.time_left(later(89)), Some(Duration::from_secs(1)));
            place.expire(later(90));
            assert_eq!(place.time_left(later(90)), None);
            assert!(matches!(waitpid(init, None), Ok(WaitStatus::Exited(..))));
        });
        assert_eq!(std::fs::read_dir(&scene.state).expect("listed").count(), 0);
    }
}

#[test]
fn a_blank_world_is_claimed_once() {
    let scene = WorldTestScene::new(None);
    isolated(None, || {
        let (mut place, policy) = (BlankWorldSlot::default(), scene.policy());
        let init = place.keep(&scene.state, Instant::now(), none).expect("begun");
        assert!(place.claim(&policy, Path::new("/elsewhere"), true).is_none());
        let (begun, _) = place.claim(&policy, &scene.state, true).expect("it fits");
        assert!(place.claim(&policy, &scene.state, true).is_none());
        let host = WorldHostPaths { state: &scene.state, readable: &[], watches: false };
        let world = finish_world(begun, &policy, &host).expect("made");
        assert_eq!(world.namespaces.as_ref().and_then(|spaces| spaces.init), Some(init));
        end(world);
    });
}

#[test]
fn a_blank_world_with_a_gate_is_for_policies_without_hosts_and_ports() {
    let scene = WorldTestScene::new(None);
    isolated(None, || {
        let (mut place, policy) = (BlankWorldSlot::default(), scene.policy());
        assert!(place.claim(&policy, &scene.state, true).is_none());
        let gate = |_: &BlankWorld| {
            let null = std::fs::File::open("/dev/null").expect("null");
            Some((Pid::from_raw(i32::MAX), GateControl::from(std::os::fd::OwnedFd::from(null))))
        };
        let init = place.keep(&scene.state, Instant::now(), gate).expect("begun");
        assert!(place.claim(&policy, &scene.state, false).is_none() && place.has_init(init));
        let (begun, gate) = place.claim(&policy, &scene.state, true).expect("it fits");
        assert!(begun.init == init && gate.is_some());
        // The last world had hosts.
        drop((begun, place.claim(&policy, &scene.state, false)));
        place.keep(&scene.state, Instant::now(), |_| panic!("a gate")).expect("begun");
        assert!(place.claim(&policy, &scene.state, false).is_some_and(|(_, gate)| gate.is_none()));
    });
}

#[test]
fn a_blank_world_ends_with_its_processes() {
    let scene = WorldTestScene::new(None);
    isolated(None, || {
        let mut place = BlankWorldSlot::default();
        let init = place.keep(&scene.state, Instant::now(), none).expect("begun");
        place.on_exit(Pid::from_raw(init.as_raw() + 1));
        assert!(place.has_init(init));
        place.on_exit(init);
        assert!(!place.has_init(init));
        waitpid(init, None).expect("reaped");
    });
}

#[test]
fn a_blank_world_that_ends_after_it_was_claimed_is_replaced() {
    let scene = WorldTestScene::new(None);
    isolated(None, || {
        let (mut worlds, policy) = (SupervisorWorlds::default(), scene.policy());
        worlds.keep_blank(&scene.state, Instant::now());
        let [init] = worlds.inits()[..] else { panic!("no blank world") };
        // It does not answer, until it is killed.
        sys::signal(init, Signal::SIGSTOP);
        if let ForkOutcome::Child = sys::fork().expect("forked") {
            std::thread::sleep(Duration::from_millis(100));
            sys::signal(init, Signal::SIGKILL);
            sys::exit_now(0);
        }
        let facts = worlds.make(WorldId(1), &policy, &scene.state, None).expect("made");
        assert_eq!(facts.held, ConfinementPart::ALL);
        assert!(!worlds.inits().contains(&init));
        worlds.clear();
    });
}
