//! A command that a shim runs: its limits, its exit, the end of its tree.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::process_control::{ProcessControl, SystemProcesses, TreeScope};
use super::reader_deferral::{self, ReaderDeferral};
use crate::cgroup::ShimCgroup;
use crate::pipeline_tap_names::PipelineTapNames;
use crate::tree;
use crate::tree_limits::LimitWatch;
use protocol::ExceededLimit;
use protocol::TerminationCause;
use protocol::task;
use sys::{ChildExit, ReapOutcome, ResourceUsage, Signal};

/// Longest grace once the host or the supervisor is gone, since no process waits for a graceful end then.
pub const GRACE_WITHOUT_HOST: Duration = Duration::from_millis(500);
/// Interval between rounds of SIGKILL.
const KILL_INTERVAL: Duration = Duration::from_millis(5);
/// Time from the first SIGKILL until processes that are still alive are left alone. The hard bound of the addon is
/// longer.
const GIVEN_UP: Duration = Duration::from_millis(600);
/// Like [`GIVEN_UP`], for a tree that exceeded a limit. Hundreds of processes take longer to exit, on a busy machine
/// several seconds, and the addon sets no bound.
const GIVEN_UP_BROKEN: Duration = Duration::from_secs(10);

/// Time the addon may take to read the prompt of a blocked process before the tree is signalled.
const ACKNOWLEDGED: Duration = Duration::from_millis(300);

/// Number of children that are reaped before the next look at the clock.
pub const BATCH: usize = 64;

/// A command that runs. It has many fields on purpose: each transition reads most of them, and together they are the
/// whole state of one command.
pub struct SupervisedCommand<P = SystemProcesses> {
    pub shell: Pid,
    /// Whether the supervisor was already dying when the command started. Its end does not terminate the command then.
    pub orphaned: bool,
    pub mark: Option<String>,
    pub started: Instant,
    pub limit: Option<Instant>,
    /// Whether a process was blocked at the time limit and the addon has received that report. The tree is terminated
    /// as soon as the addon acknowledges the report, or at the postponed limit.
    pub reported_blocked: bool,
    pub grace: Duration,
    /// Whether the command has a terminal, which hangs up before any other signal.
    pub terminal: bool,
    pub usage: ResourceUsage,
    pub shell_end: Option<(ChildExit, Duration)>,
    pub ending: Option<TreeTermination>,
    /// The read ends of the output pipes. The shim does not read them while the addon does.
    pub pipes: Vec<OwnedFd>,
    /// Children of the shim that are left alone in any case, with all processes below them.
    pub spared: Vec<Pid>,
    /// A warm shell that was killed because this command started cold, and what it had started. They do not count for
    /// this command.
    pub dismissed: Vec<Pid>,
    /// The pipes of the shell's tap, if it has one.
    pub tap: Option<PipelineTapNames>,
    /// The check of the limits over the tree, if the command has limits.
    pub watch: Option<LimitWatch>,
    /// The cgroup of the shim, if it has one.
    pub group: Option<Rc<ShimCgroup>>,
    /// Access to the system. Unit tests replace it with queues of outcomes.
    pub processes: P,
}

/// The action that is due at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueAction {
    /// No action.
    Nothing,
    /// The time limit is reached.
    Limit,
    /// A check of the readers of pipes that were not signalled yet.
    Readers,
    /// The grace is over, or processes are still alive after SIGKILL.
    Kill,
}

/// The termination of a tree.
pub struct TreeTermination {
    pub cause: TerminationCause,
    pub kill_at: Instant,
    /// When SIGKILL was first sent.
    pub killed: Option<Instant>,
    /// The readers of pipes that were not signalled yet.
    pub deferral: Option<ReaderDeferral>,
}

impl TreeTermination {
    fn wake_at(&self) -> Instant {
        self.deferral.as_ref().map_or(self.kill_at, |deferral| deferral.wake_at().min(self.kill_at))
    }
}

impl<P: ProcessControl> SupervisedCommand<P> {
    /// Returns the tree of the command.
    fn scope(&self) -> TreeScope<'_> {
        TreeScope {
            mark: self.mark.as_deref(),
            spared: &self.spared,
            group: self.group.as_deref(),
            tap: self.tap.as_ref(),
        }
    }

    /// Returns the path of the cgroup, for other processes.
    pub fn cgroup(&self) -> Option<PathBuf> {
        self.group.as_ref().map(|group| group.path().to_owned())
    }

    /// Returns the resources that the tree has used.
    pub fn total_usage(&self) -> ResourceUsage {
        let mut usage = self.usage;
        usage.take_times_of(self.group.as_deref().and_then(ShimCgroup::usage));
        usage
    }

    /// Returns the processes of the tree.
    pub fn members(&self) -> Vec<tree::TreeMember> {
        tree::members(self.mark.as_deref(), &self.spared)
    }

    /// Returns whether a process of the tree is alive.
    pub fn is_alive(&self) -> bool {
        self.processes.is_alive(self.scope())
    }

    /// Returns how a task with this command ended. The strongest signal that was sent counts, whatever its
    /// handler did.
    pub fn end_as_task(&self) -> task::TaskEnd {
        match (&self.ending, self.shell_end) {
            (Some(TreeTermination { cause, killed, .. }), _) if *cause != TerminationCause::Itself => {
                let signal = if killed.is_some() { libc::SIGKILL } else { libc::SIGTERM };
                let code = if *cause == TerminationCause::Limit { 124 } else { 128 + signal };
                task::TaskEnd::Signal(sys::signal_name(signal), code)
            }
            (_, Some((ChildExit::Code(code), _))) => task::TaskEnd::Code(code),
            (_, Some((ChildExit::Signal(signal), _))) => task::TaskEnd::Signal(sys::signal_name(signal), 128 + signal),
            (_, None) => task::TaskEnd::Lost(task::TaskLoss::Unseen),
        }
    }

    /// Returns when the shim has to act even if no descriptor is ready.
    pub fn wake_at(&self) -> Option<Instant> {
        let end_at = match &self.ending {
            Some(ending) => Some(ending.wake_at()),
            None => self.limit,
        };
        [end_at, self.watch.as_ref().and_then(LimitWatch::wake_at)].into_iter().flatten().min()
    }

    /// Checks the limits over the tree if a check is due, also during the grace.
    pub fn check_limits(&mut self, now: Instant) -> Option<ExceededLimit> {
        self.watch.as_mut()?.check(now, self.usage, self.mark.as_deref())
    }

    /// Reaps the children that have exited. Returns whether a process is left once this command is over for the shim:
    /// its shell has exited by itself, or its whole tree was terminated. A task whose shell another process has killed
    /// is terminated whole, since `kill -9 -PGID` is the documented way to stop one.
    pub fn settle(&mut self, is_task: bool) -> Option<bool> {
        let alive = self.reap();
        let killed = matches!(self.shell_end, Some((ChildExit::Signal(libc::SIGKILL), _)));
        if killed && self.ending.is_none() {
            self.note_kernel_kill();
        }
        if is_task && killed && self.ending.is_none() {
            self.end_at_once();
        }
        (self.shell_end.is_some() && (self.ending.is_none() || !alive)).then_some(alive)
    }

    /// Checks whether the kernel has killed the tree for its memory.
    fn note_kernel_kill(&mut self) {
        if let Some(broken) = self.watch.as_ref().and_then(LimitWatch::killed_by_kernel) {
            let now = self.processes.now();
            let cause = TerminationCause::LimitExceeded(broken);
            self.ending = Some(TreeTermination { cause, kill_at: now, killed: Some(now), deferral: None });
        }
    }

    /// Returns the action that is due now.
    pub fn due_action(&self, now: Instant) -> DueAction {
        match &self.ending {
            Some(ending) if now >= ending.kill_at => DueAction::Kill,
            Some(TreeTermination { deferral: Some(deferral), .. }) if now >= deferral.wake_at() => DueAction::Readers,
            None if self.limit.is_some_and(|limit| now >= limit) => DueAction::Limit,
            Some(_) | None => DueAction::Nothing,
        }
    }

    /// Handles the end of the supervisor. A detached task goes on, and so does a command that started while the
    /// supervisor was being killed.
    pub fn on_supervisor_gone(&mut self, is_detached: bool) {
        if !self.orphaned && !is_detached {
            self.end(TerminationCause::Supervisor);
        }
    }

    /// Postpones the time limit: the addon was informed of a blocked process, and has to read its prompt first.
    pub fn await_acknowledgement(&mut self) {
        self.reported_blocked = true;
        self.limit = Some(self.processes.now() + ACKNOWLEDGED);
    }

    /// Handles the report that the addon has read the prompt of the process that was blocked at the limit.
    pub fn on_acknowledged(&mut self) {
        if self.reported_blocked && self.ending.is_none() {
            self.end(TerminationCause::Limit);
        }
    }

    /// Begins to terminate the tree, or shortens the grace if the new cause is more urgent.
    pub fn end(&mut self, cause: TerminationCause) {
        let grace = match cause {
            TerminationCause::Host | TerminationCause::Supervisor => self.grace.min(GRACE_WITHOUT_HOST),
            TerminationCause::LimitExceeded(broken) if broken.at_once() => Duration::ZERO,
            _ => self.grace,
        };
        let unheard = matches!(cause, TerminationCause::Host | TerminationCause::Supervisor);
        let kill_at = self.processes.now() + grace;
        match &mut self.ending {
            Some(ending) => {
                ending.kill_at = ending.kill_at.min(kill_at);
                // No process waits for the output of the readers any more, or there is no time for it.
                if (unheard || grace.is_zero())
                    && let Some(deferral) = ending.deferral.take()
                {
                    deferral.give_up(&self.processes);
                }
            }
            None => {
                let deferral = match cause {
                    _ if grace.is_zero() => None,
                    _ if unheard || self.terminal => {
                        let signals: &[Signal] = match (self.terminal, unheard) {
                            (false, _) => &[Signal::SIGTERM],
                            (true, true) => &[Signal::SIGHUP],
                            (true, false) => &[Signal::SIGHUP, Signal::SIGTERM],
                        };
                        self.processes.terminate(self.scope(), signals);
                        None
                    }
                    _ => ReaderDeferral::begin(&self.processes, self.scope(), kill_at),
                };
                self.ending = Some(TreeTermination { cause, kill_at, killed: None, deferral });
            }
        }
    }

    /// Signals the readers of pipes whose time has come.
    pub fn signal_readers(&mut self) {
        let scope = TreeScope {
            mark: self.mark.as_deref(),
            spared: &self.spared,
            group: self.group.as_deref(),
            tap: self.tap.as_ref(),
        };
        if let Some(ending) = &mut self.ending
            && let Some(deferral) = &mut ending.deferral
            && !deferral.check(&self.processes, scope)
        {
            ending.deferral = None;
            if ending.killed.is_some() {
                ending.kill_at = self.processes.now();
            }
        }
    }

    /// Signals the process group of the shell, and the foreground group of the terminal if it belongs to the tree. The
    /// addon names that group by its number on the host.
    pub fn signal(&self, signal: Signal, foreground: Option<Pid>) {
        sys::signal_group(self.shell, signal);
        let Some(foreground) = foreground.filter(|group| sys::host_group(self.shell) != Some(*group)) else { return };
        let member = self.members().into_iter().find(|member| sys::host_group(member.pid) == Some(foreground));
        if let Some(group) = member.and_then(|member| member.group()) {
            sys::signal_group(group, signal);
        }
    }

    /// Kills the tree without a grace. The cause stays [`Cause::Itself`].
    pub fn end_at_once(&mut self) {
        let now = self.processes.now();
        self.ending =
            Some(TreeTermination { cause: TerminationCause::Itself, kill_at: now, killed: None, deferral: None });
        self.kill(now);
    }

    /// Sends SIGKILL to the processes that are alive now, and schedules the next round. Readers that still wait for the
    /// end of their input can print their lines before their own SIGKILL.
    pub fn kill(&mut self, now: Instant) {
        if self.kill_front(now) {
            return;
        }
        let (processes, mark, spared) = (self.processes.clone(), self.mark.clone(), self.spared.clone());
        let group = self.group.clone();
        let scope = TreeScope { mark: mark.as_deref(), spared: &spared, group: group.as_deref(), tap: None };
        processes.kill(scope, &mut || {
            self.reap_until(|_| false);
        });
        // From here on the tree can only exit, so its limits no longer matter.
        self.watch = None;
        if let Some(ending) = &mut self.ending {
            ending.deferral = None;
            ending.killed.get_or_insert(now);
            ending.kill_at = now + KILL_INTERVAL;
        }
    }

    /// Kills the processes whose output others wait for. Returns whether other processes do wait.
    fn kill_front(&mut self, now: Instant) -> bool {
        let scope = TreeScope {
            mark: self.mark.as_deref(),
            spared: &self.spared,
            group: self.group.as_deref(),
            tap: self.tap.as_ref(),
        };
        let Some(ending @ TreeTermination { killed: None, .. }) = &mut self.ending else { return false };
        let Some(deferral) = &mut ending.deferral else { return false };
        if !deferral.kill_front(&self.processes, scope) {
            return false;
        }
        ending.killed = Some(now);
        ending.kill_at = now + reader_deferral::LATEST;
        self.watch = None;
        true
    }

    /// Returns whether the tree was terminated as far as possible. A process that has changed its user cannot be
    /// signalled.
    pub fn is_given_up(&self, now: Instant) -> bool {
        self.shell_end.is_some() && self.is_killed_long_ago(now)
    }

    /// Returns whether SIGKILL was sent so long ago that processes that are still alive will not exit.
    pub fn is_killed_long_ago(&self, now: Instant) -> bool {
        let Some(TreeTermination { cause, killed: Some(killed), .. }) = &self.ending else { return false };
        let bound = if matches!(cause, TerminationCause::LimitExceeded(_)) { GIVEN_UP_BROKEN } else { GIVEN_UP };
        now >= *killed + bound
    }

    /// Reaps the children that have exited, but stops once something else is due: the children of a fork bomb may exit
    /// faster than they can be reaped. Returns whether a process is left.
    pub fn reap(&mut self) -> bool {
        self.reap_until(|running| running.wake_at().is_some_and(|at| at <= running.processes.now()))
    }

    /// Like [`Self::reap`], but asks `is_enough` after every [`BATCH`] of children.
    fn reap_until(&mut self, is_enough: impl Fn(&Self) -> bool) -> bool {
        for count in 1_usize.. {
            match self.processes.reap() {
                ReapOutcome::Ended(pid, ..) if self.dismissed.contains(&pid) => {
                    self.dismissed.retain(|other| *other != pid)
                }
                ReapOutcome::Ended(pid, end, usage) => {
                    self.usage.add(usage);
                    if pid == self.shell {
                        let duration = self.processes.now().saturating_duration_since(self.started);
                        self.shell_end = Some((end, duration));
                    }
                }
                ReapOutcome::Stopped(_) => {}
                // It is not of this command, which would seem to have left it.
                ReapOutcome::Nothing if self.shell_end.is_some() && !self.dismissed.is_empty() => {
                    self.processes.wait(&std::mem::take(&mut self.dismissed));
                }
                ReapOutcome::Nothing => return true,
                ReapOutcome::NoChildren => {
                    return !sys::ORPHANS_COME_BACK && self.is_alive();
                }
            }
            if count.is_multiple_of(BATCH) && is_enough(self) {
                break;
            }
        }
        true
    }
}

#[cfg(test)]
#[path = "running_tests.rs"]
mod tests;
