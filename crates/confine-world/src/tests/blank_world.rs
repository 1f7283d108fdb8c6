//! Worlds that begin before they have a policy.

use std::fs;
use std::path::Path;

use nix::sched::{CloneFlags, unshare};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::geteuid;

use super::super::testing::{WorldTestScene, end, isolated, run_in, users_and_watches};
use super::super::{BlankWorld, WorldHostPaths, finish_world, overlaid_caches};
use confine_policy::{CacheAccess, ConfinementPart, ConfinementPolicy, NetworkScope};
use sys::{MountFlags, Signal};

#[test]
fn a_blank_world_becomes_a_world_like_any_other() {
    for (user, watches) in users_and_watches() {
        let scene = WorldTestScene::new(user).with_watches(watches);
        let cache = scene.outside.join("cache");
        fs::create_dir(&cache).expect("made");
        fs::write(cache.join("kept"), "").expect("written");
        let caches = (CacheAccess::Overlay, vec![cache.clone()]);
        let policy = ConfinementPolicy { hide: vec![scene.outside.join("hidden")], caches, ..scene.policy() };
        fs::write(scene.outside.join("hidden"), "secret").expect("written");
        let (facts, output) = isolated(user, || {
            let begun = BlankWorld::begin_ahead(&scene.state, overlaid_caches(&policy)).expect("begun");
            assert!(begun.fits(&policy, &scene.state));
            let (init, home) = (begun.init, begun.private[0].clone());
            let place = WorldHostPaths { state: &scene.state, readable: &[], watches };
            let world = finish_world(begun, &policy, &place).expect("a world");
            assert_eq!(world.namespaces.as_ref().and_then(|spaces| spaces.init), Some(init));
            assert_eq!(world.facts.home.as_ref(), Some(&home));
            let script = format!(
                "echo in > own; echo t > /tmp/t && cat own /tmp/t; cat {0}/hidden; echo x > {0}/x; mkdir .vscode; \
                 touch {1}/new && ls {1}; ls /proc/self/fd >/dev/null && echo proc; : > /dev/null && echo null",
                scene.outside.display(),
                cache.display()
            );
            let (output, _) = run_in(&world, &scene.root, &script);
            let facts = world.facts.clone();
            end(world);
            (facts, output)
        });
        assert_eq!((facts.held, facts.missing), (ConfinementPart::ALL.to_vec(), vec![]));
        let said: Vec<_> = output.lines().filter(|line| !line.contains(": ")).collect();
        assert_eq!(said, ["in", "t", "kept", "new", "proc", "null"], "{output}");
        assert!(!scene.outside.join("x").exists() && !cache.join("new").exists(), "{output}");
        assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0);
    }
}

#[test]
fn a_blank_world_that_is_dropped_leaves_nothing() {
    for (user, _) in users_and_watches() {
        let scene = WorldTestScene::new(user);
        isolated(user, || {
            let begun = BlankWorld::begin_ahead(&scene.state, std::slice::from_ref(&scene.root)).expect("begun");
            let init = begun.init;
            drop(begun);
            assert!(matches!(waitpid(init, None), Ok(WaitStatus::Exited(..))));
        });
        assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0);
    }
}

#[test]
fn a_blank_world_fits_the_policies_and_the_machine_that_it_was_begun_for() {
    let scene = WorldTestScene::new(None);
    isolated(None, || {
        let begun = BlankWorld::begin_ahead(&scene.state, &[]).expect("begun");
        let policy = scene.policy();
        let full = ConfinementPolicy { network: NetworkScope::Full, ..scene.policy() };
        let fits = [(&policy, scene.state.as_path()), (&full, &scene.state), (&policy, Path::new("/elsewhere"))]
            .map(|(policy, state)| begun.fits(policy, state));
        assert_eq!(fits, [true, false, false]);
        let init = begun.init;
        sys::signal(init, Signal::SIGKILL);
        waitpid(init, None).expect("reaped");
        assert!(!begun.fits(&policy, &scene.state), "its init is gone");
    });
}

#[test]
fn a_blank_world_with_older_mounts_than_the_host_is_not_used() {
    if !geteuid().is_root() {
        return;
    }
    let scene = WorldTestScene::new(None);
    isolated(None, || {
        unshare(CloneFlags::CLONE_NEWNS).expect("mounts of its own");
        sys::stop_propagation().expect("private");
        let begun = BlankWorld::begin_ahead(&scene.state, &[]).expect("begun");
        let policy = scene.policy();
        assert!(begun.fits(&policy, &scene.state));
        let tree = sys::new_mount(c"tmpfs", &[], MountFlags::NO_DEVICES).expect("a mount");
        sys::attach_tree(&tree, &scene.outside).expect("attached");
        assert!(!begun.fits(&policy, &scene.state));
        begun.abandon();
    });
}

#[test]
fn a_blank_world_gets_the_caches_that_are_there_with_its_policy() {
    for (user, _) in users_and_watches() {
        let scene = WorldTestScene::new(user);
        let places = ["same", "replaced", "new"].map(|name| scene.outside.join(name));
        let fill = |place: &Path, name: &str| {
            fs::create_dir(place).expect("made");
            fs::write(place.join(name), "").expect("written");
        };
        let [same, replaced, new] = &places;
        let output = isolated(user, || {
            fill(same, "early");
            fill(replaced, "early");
            let begun = BlankWorld::begin_ahead(&scene.state, &places).expect("begun");
            fs::write(same.join("late"), "").expect("written");
            fs::rename(replaced, scene.outside.join("former")).expect("renamed");
            fill(replaced, "late");
            fill(new, "late");
            let policy = ConfinementPolicy { caches: (CacheAccess::Overlay, places.to_vec()), ..scene.policy() };
            let place = WorldHostPaths { state: &scene.state, readable: &[], watches: false };
            let world = finish_world(begun, &policy, &place).expect("a world");
            let script = format!("cd {}; touch same/x replaced/x new/x; ls same replaced new", scene.outside.display());
            let (output, _) = run_in(&world, &scene.root, &script);
            end(world);
            output
        });
        let said: Vec<_> = output.split_whitespace().collect();
        let expected = ["new:", "late", "x", "replaced:", "late", "x", "same:", "early", "late", "x"];
        assert_eq!(said, expected, "{output}");
        assert!(places.iter().all(|place| !place.join("x").exists()), "{output}");
        assert_eq!(fs::read_dir(&scene.state).expect("listed").count(), 0);
    }
}
