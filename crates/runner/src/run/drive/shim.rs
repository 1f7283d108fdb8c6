//! The shim of a command, as the loop talks to it.

use std::future::Future;
use std::os::fd::OwnedFd;

use nix::unistd::Pid;

use crate::supervise::{Child, ShimEvent};
use protocol::Transfer;
use sys::Signal;

/// A shim: its events, and its duties. Tests drive the loop with one that starts no process.
pub trait Shim: Send {
    /// The next event. Nothing is lost if the future is dropped.
    fn next_event(&mut self) -> impl Future<Output = ShimEvent> + Send;
    /// The next event, if it is there already.
    fn try_next_event(&mut self) -> Option<ShimEvent>;
    /// Terminates the tree: SIGTERM, grace, SIGKILL.
    fn terminate(&self);
    /// Terminates the tree because of its time limit.
    fn terminate_at_limit(&self);
    /// Signals the group of the shell, and the one that the keys of its terminal go to.
    fn signal(&self, signal: Signal, foreground: Option<i32>);
    /// Asks which process is blocked; answered by [`ShimEvent::Blocked`].
    fn scan(&self);
    /// Asks for the denials so far; answered by [`ShimEvent::Denied`].
    fn ask_for_denials(&self);
    /// Answers the report of a blocked process at the limit: the tree may be signalled now.
    fn acknowledge_blocked(&self);
    /// Asks the shim to make the command its task; answered by [`ShimEvent::Task`] or [`ShimEvent::Refused`].
    fn hand_over(&self, transfer: &Transfer, input: Vec<OwnedFd>);
    /// Whether no process but this shell runs.
    fn runs_only(&self, shell: Pid) -> bool;
}

impl Shim for Child {
    fn next_event(&mut self) -> impl Future<Output = ShimEvent> + Send {
        Self::next_event(self)
    }

    fn try_next_event(&mut self) -> Option<ShimEvent> {
        Self::try_next_event(self)
    }

    fn terminate(&self) {
        self.end();
    }

    fn terminate_at_limit(&self) {
        self.end_at_limit();
    }

    fn signal(&self, signal: Signal, foreground: Option<i32>) {
        Self::signal(self, signal, foreground);
    }

    fn scan(&self) {
        self.look();
    }

    fn ask_for_denials(&self) {
        Self::ask_for_denials(self);
    }

    fn acknowledge_blocked(&self) {
        Self::acknowledge_blocked(self);
    }

    fn hand_over(&self, transfer: &Transfer, input: Vec<OwnedFd>) {
        Self::hand_over(self, transfer, input);
    }

    fn runs_only(&self, shell: Pid) -> bool {
        Self::runs_only(self, shell)
    }
}
