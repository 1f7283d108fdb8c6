//! The parts that work without namespaces.

use std::os::fd::AsRawFd;

use crate::usable_mechanisms::probe_mechanisms;
use crate::{filter, filter::SyscallFilterMode};
use crate::{testing::isolated, testing::users};
use sys::SyscallArchitecture;

#[test]
fn every_user_has_landlock_and_a_listener_here() {
    for user in users() {
        let (landlock, listens) = isolated(user, || {
            let tried = probe_mechanisms().expect("tried");
            (tried.landlock, tried.filter == Some(SyscallFilterMode::Confined))
        });
        assert_eq!([landlock, listens], [sys::landlock_version() > 0, sys::has_listeners()], "{user:?}");
    }
}

#[test]
fn a_process_with_a_listener_gets_no_other() {
    let tried = isolated(None, || {
        sys::set_no_new_privileges().expect("no privileges");
        let (end, _other) = sys::socket_pair().expect("a pair");
        let program =
            filter::program(SyscallArchitecture::HERE.expect("a machine"), SyscallFilterMode::Recorded).program;
        // It passes no call on, so that this process goes on.
        let filter = sys::SyscallFilter { program: program.into_iter().map(allowing).collect(), listener: true };
        sys::install_filter(&filter, Some((end.as_raw_fd(), b"filter"))).expect("a filter");
        probe_mechanisms().expect("tried").filter == Some(SyscallFilterMode::Silent)
    });
    assert!(tried || !sys::has_listeners());
}

fn allowing(instruction: sys::BpfInstruction) -> sys::BpfInstruction {
    const NOTIFY: u32 = 0x7fc0_0000;
    const ALLOW: u32 = 0x7fff_0000;
    if instruction.value == NOTIFY { sys::BpfInstruction { value: ALLOW, ..instruction } } else { instruction }
}
