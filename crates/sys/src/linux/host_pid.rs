//! Processes as the host knows them, for a shim with pids of a world.

use std::fs;
use std::os::fd::AsRawFd;

use nix::unistd::{Pid, getpid};

use super::pidfd::open_pid;
use super::proc::{identity_below, is_dying_below};
use super::proc_root::{HOST, is_in_world};
use crate::ProcessIdentity;

/// Returns the pid of a process in the host's namespace. Outside worlds both pids are equal. `None` if the process is
/// gone.
pub fn host_pid(pid: Pid) -> Option<Pid> {
    if !is_in_world() {
        return Some(pid);
    }
    let process = open_pid(pid).ok()?;
    let text = fs::read_to_string(format!("{HOST}/self/fdinfo/{}", process.as_raw_fd())).ok()?;
    let number = text.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()?;
    (number > 0).then(|| Pid::from_raw(number))
}

/// Returns the host's pid of this process.
pub fn own_host_pid() -> Pid {
    if !is_in_world() {
        return getpid();
    }
    let own = fs::read_link(format!("{HOST}/self")).ok();
    own.and_then(|own| own.to_str()?.parse().ok()).map_or_else(getpid, Pid::from_raw)
}

/// Returns the host's number of the process group of a process.
pub fn host_group(pid: Pid) -> Option<Pid> {
    if !is_in_world() {
        return nix::unistd::getpgid(Some(pid)).ok();
    }
    let text = fs::read_to_string(format!("{HOST}/{}/status", host_pid(pid)?)).ok()?;
    let groups = text.lines().find_map(|line| line.strip_prefix("NSpgid:"))?;
    groups.split_ascii_whitespace().next()?.parse().ok().map(Pid::from_raw)
}

/// Returns the identity of the process that has this pid on the host.
pub fn identity_on_host(pid: Pid) -> Option<ProcessIdentity> {
    identity_below(HOST, pid)
}

/// Returns whether a process with this pid on the host must exit and cannot prevent it, though it may still be there.
pub fn is_dying_on_host(pid: Pid) -> bool {
    is_dying_below(HOST, pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_of_worlds_pids_are_the_hosts() {
        let own = getpid();
        assert!(!is_in_world());
        assert_eq!((host_pid(own), own_host_pid()), (Some(own), own));
        assert_eq!(host_group(own), Some(nix::unistd::getpgrp()));
        assert!(identity_on_host(own).is_some() && !is_dying_on_host(own));
    }
}
