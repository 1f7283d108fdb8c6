//! Processes that have not exited.

use nix::unistd::Pid;

/// Returns the identity of a process that has not exited. A zombie has.
pub fn living_identity(pid: Pid) -> Option<super::ProcessIdentity> {
    super::identity(pid).filter(|identity| !identity.zombie)
}
