//! Pids: macOS has no namespaces, so each process has one pid for all readers.

use std::os::fd::OwnedFd;

use nix::unistd::{Pid, getpgid, getpid};

use super::{identity, is_dying};
use crate::ProcessIdentity;

/// Makes this process read other processes elsewhere: nowhere here.
pub fn read_processes_in(mount: OwnedFd) {
    drop(mount);
}

/// Returns whether this process has pids of a world.
pub fn is_in_world() -> bool {
    false
}

/// Returns the host's pid of a process.
pub fn host_pid(pid: Pid) -> Option<Pid> {
    Some(pid)
}

/// Returns the host's pid of this process.
pub fn own_host_pid() -> Pid {
    getpid()
}

/// Returns the host's number of the process group of a process.
pub fn host_group(pid: Pid) -> Option<Pid> {
    getpgid(Some(pid)).ok()
}

/// Returns the identity of the process that has this pid on the host.
pub fn identity_on_host(pid: Pid) -> Option<ProcessIdentity> {
    identity(pid)
}

/// Returns whether a process with this pid on the host must exit and cannot prevent it, though it may still be there.
pub fn is_dying_on_host(pid: Pid) -> bool {
    is_dying(pid)
}
