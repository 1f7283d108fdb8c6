//! The states of a shim with a real command, and the events that end each of them. The test takes the addon's part: it
//! stops the shim, lets the events of one moment happen, and continues it. The table of states is in `shim/mod.rs`.

mod addon;

use addon::{
    DAEMON, ENDLESS, HostEvent, LATER, REGISTRIES, SURVIVORS, SurvivorRegistry, TestAddon, is_gone, remove, until,
};
use protocol::{FromShim, FromShimOrTask, SurvivingProcess};

#[test]
fn a_running_command_ends_with_its_host_and_by_an_abort() {
    for event in [HostEvent::HostGone, HostEvent::End] {
        let mut addon = TestAddon::with(ENDLESS);
        addon.at_once(|addon| addon.event(event));
        addon.nothing_is_left();
        if matches!(event, HostEvent::HostGone) {
            addon.shim_exits();
        }
    }
}

#[test]
fn survivors_end_with_the_host_and_by_an_abort_while_the_pipes_are_drained() {
    for event in [HostEvent::HostGone, HostEvent::End] {
        let mut addon = TestAddon::with_survivors(SURVIVORS);
        addon.at_once(|addon| addon.event(event));
        addon.nothing_is_left();
        if matches!(event, HostEvent::HostGone) {
            addon.shim_exits();
        } else {
            addon.release(SurvivorRegistry::Temporary);
            assert_eq!(addon.released(), []);
        }
    }
}

#[test]
fn survivors_end_with_the_host_in_the_moment_of_their_release() {
    for registry in REGISTRIES {
        let mut addon = TestAddon::with_survivors(SURVIVORS);
        addon.at_once(|addon| {
            addon.release(registry);
            addon.close();
        });
        addon.nothing_is_left();
        addon.shim_exits();
    }
}

#[test]
fn survivors_end_by_an_abort_in_the_moment_of_their_release() {
    for registry in REGISTRIES {
        let mut addon = TestAddon::with_survivors(SURVIVORS);
        addon.at_once(|addon| {
            addon.release(registry);
            addon.event(HostEvent::End);
        });
        assert_eq!(addon.released(), [], "{registry:?}");
        addon.nothing_is_left();
    }
}

#[test]
fn a_daemon_ends_with_the_host_in_the_moment_of_its_release() {
    let mut addon = TestAddon::with_survivors(DAEMON);
    addon.at_once(|addon| {
        addon.release(SurvivorRegistry::Temporary);
        addon.close();
    });
    addon.nothing_is_left();
    addon.shim_exits();
}

#[test]
fn released_survivors_outlive_their_host() {
    let mut addon = TestAddon::with_survivors(SURVIVORS);
    addon.release(SurvivorRegistry::None);
    assert_eq!(addon.released().len(), 2);
    addon.close();
    addon.survivors_go_on(2);
}

#[test]
fn a_released_daemon_outlives_its_host_whatever_the_registry() {
    for registry in REGISTRIES {
        let mut addon = TestAddon::with_survivors(DAEMON);
        addon.release(registry);
        assert!(matches!(&addon.released()[..], [SurvivingProcess { holds: false, .. }]));
        addon.close();
        addon.survivors_go_on(1);
    }
}

#[test]
fn adopted_survivors_end_with_the_host_of_a_temporary_registry() {
    for read_task in [false, true] {
        let mut addon = TestAddon::with_survivors(SURVIVORS);
        addon.release(SurvivorRegistry::Temporary);
        assert_eq!(addon.released().len(), 2);
        if read_task {
            addon.task();
        }
        addon.close();
        addon.nothing_is_left();
        addon.shim_exits();
    }
}

#[test]
fn adopted_survivors_outlive_the_host_of_a_kept_registry() {
    for read_task in [false, true] {
        let mut addon = TestAddon::with_survivors(SURVIVORS);
        addon.release(SurvivorRegistry::Kept);
        assert_eq!(addon.released().len(), 2);
        if read_task {
            addon.task();
        }
        addon.close();
        addon.survivors_go_on(2);
    }
}

#[test]
fn survivors_whose_directory_was_swept_end_with_their_host() {
    for registry in [SurvivorRegistry::Temporary, SurvivorRegistry::Kept] {
        let mut addon = TestAddon::with_survivors(SURVIVORS);
        addon.at_once(|addon| {
            remove(&addon.folder);
            addon.release(registry);
            addon.close();
        });
        addon.nothing_is_left();
        addon.shim_exits();
    }
}

#[test]
#[ignore = "stress: it takes several seconds"]
fn survivors_that_cannot_be_adopted_are_the_hosts_until_it_releases_them() {
    for registry in [SurvivorRegistry::Temporary, SurvivorRegistry::Kept] {
        for event in [HostEvent::HostGone, HostEvent::End] {
            let mut addon = TestAddon::with_survivors(SURVIVORS);
            remove(&addon.folder);
            addon.release(registry);
            addon.refused();
            addon.event(event);
            addon.nothing_is_left();
        }
        let mut addon = TestAddon::with_survivors(SURVIVORS);
        remove(&addon.folder);
        addon.release(registry);
        addon.refused();
        addon.release(SurvivorRegistry::None);
        assert_eq!(addon.released().len(), 2);
        addon.close();
        addon.survivors_go_on(2);
    }
}

#[test]
fn survivors_that_exit_before_their_release_leave_a_shim_for_the_next_command() {
    for registry in REGISTRIES {
        let mut addon = TestAddon::with_survivors(SURVIVORS);
        addon.at_once(|addon| {
            addon.release(registry);
            addon.kill_all();
        });
        assert_eq!(addon.released(), []);
        addon.run("exit 3", None);
        assert!(matches!(addon.next(), FromShimOrTask::Shim(FromShim::Started(_))));
        assert!(!addon.ended().alive);
    }
}

#[test]
fn survivors_are_released_after_the_end_of_the_supervisor() {
    let mut addon = TestAddon::with_survivors(SURVIVORS);
    addon.lifeline = None;
    addon.release(SurvivorRegistry::None);
    assert_eq!(addon.released().len(), 2);
    addon.survivors_go_on(2);
}

#[test]
fn what_a_task_leaves_ends_with_the_host_while_its_pipes_are_drained() {
    let (mut addon, shell) = TestAddon::with_task(SURVIVORS);
    until("the shell has exited", || is_gone(shell));
    addon.close();
    addon.nothing_is_left();
    addon.shim_exits();
}

#[test]
fn what_a_task_leaves_ends_with_the_host_though_its_directory_was_swept() {
    for at_once in [true, false] {
        let (mut addon, shell) = TestAddon::with_task(SURVIVORS);
        until("the shell has exited", || is_gone(shell));
        addon.at_once(|addon| {
            remove(&addon.folder);
            if at_once {
                addon.close();
            }
        });
        if !at_once {
            // The shim could not adopt the survivors by now.
            std::thread::sleep(LATER);
            assert_eq!(addon.left(), 2);
            addon.close();
        }
        addon.nothing_is_left();
        addon.shim_exits();
    }
}
