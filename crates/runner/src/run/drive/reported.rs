//! The exit of a command whose shell has reported its exit code and still saves its state.

use nix::unistd::Pid;
use tokio::time::Instant;

use super::Drive;
use super::early_end::is_believable;
use super::shim::Shim;
use crate::run::listener::Listener;
use capture::Stream;
use protocol::plan::Recorded;
use protocol::{Cause, Ended};
use sys::Exit;

impl<S: Shim, L: Listener> Drive<'_, S, L> {
    /// The shell has reported the exit code of its command. That is the end if no other process runs and all output is
    /// there.
    pub(super) fn on_report(&mut self) {
        let Some(exit_code) = self.early.read() else { return };
        let Some(shell) = self.output.pid.map(Pid::from_raw) else { return };
        let busy = self.process.aborted || self.output.moving.is_under_way() || self.output.held().any();
        let limit_at = self.request.shim_limit().map(|limit| self.deadlines.began() + limit);
        let believable = is_believable(Instant::now(), limit_at, self.request.limits.over_tree());
        if busy || !believable || !self.shim.runs_only(shell) {
            return;
        }
        // The usage of children is known with the exit of the shell.
        let Some(sample) = sys::sample(shell).filter(|sample| !sample.waited) else { return };
        let ended = Ended {
            end: Exit::Code(exit_code),
            usage: sample.usage,
            duration: self.deadlines.began().elapsed(),
            cause: Cause::Itself,
            alive: false,
            last: false,
            record: Recorded::Off,
        };
        if self.request.confine.is_some() {
            self.early.hold(ended);
            self.shim.ask_for_denials();
        } else {
            self.end_early(ended);
        }
    }

    /// Ends the command although its shell still saves its state.
    pub(super) fn end_early(&mut self, ended: Ended) {
        if self.process.aborted || self.output.moving.is_under_way() {
            return;
        }
        for stream in [Stream::Stdout, Stream::Stderr] {
            while self.output.read_now(stream) {}
        }
        self.early.confirm();
        self.on_exit(Ok(ended));
    }
}
