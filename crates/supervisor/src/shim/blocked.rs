//! Reports on a blocked command.

use nix::unistd::Pid;

use super::ShimProcess;
use crate::blocked;
use crate::shim::supervised_command::SupervisedCommand;
use protocol::BlockedProcess;
use protocol::{FromShim, TerminationCause};

impl ShimProcess {
    /// Handles the time limit. The scan comes before any signal, since a signalled process is no longer blocked. If a
    /// process is blocked, the first signal waits until the addon has acknowledged the report. Programs end their
    /// prompt with a line feed when they are signalled, and the addon has to read the prompt without it.
    pub(super) fn end_at_limit(&self, running: &mut SupervisedCommand) {
        if running.ending.is_none() && !running.reported_blocked && self.report_blocked(running, true) {
            running.await_acknowledgement();
        } else {
            running.end(TerminationCause::Limit);
        }
    }

    /// Scans for a blocked process, and reports the result to the addon unless the addon is gone. Returns whether a
    /// process is blocked.
    pub(super) fn report_blocked(&self, running: &SupervisedCommand, at_limit: bool) -> bool {
        if self.socket.is_none() {
            return false;
        }
        let process = blocked::scan(running.shell, &running.members(), running.tap.as_ref()).and_then(with_host_pid);
        let blocked = process.is_some();
        self.send(FromShim::Blocked { at_limit, process });
        blocked
    }
}

/// Returns the process with the pid that the addon knows.
fn with_host_pid(process: BlockedProcess) -> Option<BlockedProcess> {
    let pid = sys::host_pid(Pid::from_raw(process.pid))?.as_raw();
    Some(BlockedProcess { pid, ..process })
}
