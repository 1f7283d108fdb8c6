//! The processes that a command has left running.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::unistd::Pid;

use crate::tree;
use protocol::SurvivingProcess;

/// Time survivors may take to exit before they are reported, like the `tee` of an `exec > >(tee log)`.
pub const SETTLE: Duration = Duration::from_millis(50);
/// Time to the next look at processes that were not found in the list of the tree.
pub const AGAIN: Duration = Duration::from_millis(1);
/// Longest part of a survivor's command line that is reported, characters.
pub const COMMAND_SHOWN: usize = 200;

/// Returns the survivors of a command, and which of them hold these pipes.
pub fn list_survivors(mark: Option<&str>, pipes: &[BorrowedFd<'_>]) -> Vec<SurvivingProcess> {
    let pids: Vec<Pid> = tree::members(mark, &[]).iter().map(|member| member.pid).collect();
    let holders = sys::pipe_holders(&pids, pipes);
    let survivor = |pid: &Pid| {
        let command = sys::command_line(*pid)?.chars().take(COMMAND_SHOWN).collect();
        Some(SurvivingProcess { pid: sys::host_pid(*pid)?.as_raw(), command, holds: holders.contains(pid) })
    };
    pids.iter().filter_map(survivor).collect()
}
