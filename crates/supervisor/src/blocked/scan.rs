//! A scan of all processes of a command, bounded in time so that it never delays an end.

use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::find::find_blocked;
use crate::pipeline_tap_names::PipelineTapNames;
use crate::tree::TreeMember;
use protocol::{BlockedOn, BlockedProcess, plain};

/// Time limit of a scan. A scan usually takes far less, but on a busy machine each step may be delayed.
const BOUND: Duration = Duration::from_millis(100);
/// Time limit of the search for other users of a FIFO. The search covers all processes of the machine.
const OTHERS: Duration = Duration::from_millis(300);
/// The most processes of a command that are scanned.
pub const MOST: usize = 400;
/// Characters of a command line that are reported.
pub const COMMAND: usize = 100;

/// Returns the process among these that is blocked and thereby blocks the shell. `None` if the command is only slow, or
/// if its state cannot be known.
pub fn scan(shell: Pid, members: &[TreeMember], tap: Option<&PipelineTapNames>) -> Option<BlockedProcess> {
    if !sys::ACTIVITY_IS_KNOWN || members.len() > MOST {
        return None;
    }
    let until = Instant::now() + BOUND;
    // A process that exits meanwhile belongs to a command that works.
    let mut seen: Vec<sys::ProcessActivity> =
        members.iter().map(|member| sys::activity(member.pid, until)).collect::<Option<_>>()?;
    if let Some(tap) = tap {
        tap.join(seen.iter_mut().flat_map(|one| &mut one.files).map(|file| &mut file.name));
    }
    let (pid, on, others, sure) = find_blocked(shell.as_raw(), &seen)?;
    if let BlockedOn::Fifo(_, path) = &on {
        let known: Vec<i32> = seen.iter().map(|one| one.pid).collect();
        let only_sleep = |name: &String| name == "sleep";
        let until = Instant::now() + OTHERS;
        if !sys::fifo_writers(path, &known, until)?.iter().all(only_sleep) {
            return None;
        }
    }
    let line = plain(&sys::command_line(Pid::from_raw(pid))?);
    let mut command: String = line.chars().take(COMMAND).collect();
    if command.len() < line.len() {
        command.push('…');
    }
    Some(BlockedProcess { pid, command, on, others, sure })
}
