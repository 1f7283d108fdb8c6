//! The activity of a process is not available on macOS.

use std::time::Instant;

use nix::unistd::Pid;

use crate::ProcessActivity;

/// Whether this platform can tell a process's activity.
pub const ACTIVITY_IS_KNOWN: bool = false;

/// Always `None`.
pub fn activity(_: Pid, _: Instant) -> Option<ProcessActivity> {
    None
}

/// Always `None`.
pub fn fifo_writers(_: &str, _: &[i32], _: Instant) -> Option<Vec<String>> {
    None
}
