//! The warm shell of a shim while no command runs.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use super::ShimProcess;
use super::change_journal::{AnswerChannel, ChangeJournalError};
use crate::cgroup::ShimCgroup;
use crate::launch::mark_of;
use crate::shim::process_control::{ProcessControl, SystemProcesses};
use crate::shim::shim_world::ShimWorld;
use crate::shim::supervised_command::SupervisedCommand;
use crate::warm_shell::WarmShell;
use protocol::plan::WarmShellKind;
use protocol::{FromShim, WarmCommandPlace, WarmCommandStart, WarmShellEnds, WarmShellReport};
use sys::{ChildRestriction, LaunchError, LaunchStep, ReapOutcome, Signal};

impl ShimProcess {
    /// Reaps survivors of earlier commands and the warm shell. A warm shell that another process has stopped is
    /// useless.
    pub(super) fn reap_idle(&mut self) {
        loop {
            let (pid, ended) = match sys::reap(true) {
                ReapOutcome::Ended(pid, end, usage) => (pid, Some((end, usage, Instant::now()))),
                ReapOutcome::Stopped(pid) => (pid, None),
                ReapOutcome::Nothing | ReapOutcome::NoChildren => return,
            };
            let Some(warm) = self.warm.as_mut().filter(|warm| warm.shell == pid) else { continue };
            let (mark, arrived) = (warm.mark(), warm.ready().is_none());
            warm.ended = ended;
            match ended {
                // The addon may have given the shell its command. In that case `WarmStart` is on its way and has to
                // find the shell here.
                Some(_) if arrived => {}
                None if arrived => {
                    if warm.is_blank() {
                        sys::signal(pid, Signal::SIGKILL);
                    }
                }
                Some(_) => self.warm = None,
                None => self.dismiss(),
            }
            // Another process may soon have this pid, and the addon must not write to its memory.
            self.report(prepared(mark, None));
        }
    }

    /// Starts a warm shell of this kind. A failure costs nothing but the warm shell.
    pub(super) fn prepare(&mut self, kind: WarmShellKind, files: Vec<OwnedFd>) {
        self.dismiss();
        let mark = mark_of(&kind.plan.env);
        ShimCgroup::prepare_for_command(&mut self.group, kind.plan.limits);
        match self.start_warm(kind, files) {
            Ok(warm) => self.warm = Some(warm),
            Err(_) => self.report(prepared(mark, None)),
        }
    }

    fn start_warm(&mut self, kind: WarmShellKind, files: Vec<OwnedFd>) -> Result<WarmShell, LaunchError> {
        let failed = |error: ChangeJournalError| LaunchError { step: LaunchStep::Record, errno: error.errno() };
        let world = self.world.as_ref().map(ShimWorld::has_listener);
        let way = kind.recorded.then(|| self.records.prepare(world)).transpose().map_err(failed)?;
        // The socket stays open until the shell has sent its filter.
        let (filter, _socket, journal) = way.map_or((None, None, None), AnswerChannel::parts);
        let filter = filter.map_or(ChildRestriction::None, ChildRestriction::Filtered);
        let bounds = self.confine(journal)?.map_or(filter, ChildRestriction::Confined);
        WarmShell::start(kind, files, &mut self.group, bounds)
    }

    /// Handles the report of the warm shell that it has started up.
    pub(super) fn on_warm_shell_ready(&mut self) {
        let Some(warm) = &mut self.warm else { return };
        let (mark, mut ready) = (warm.mark(), warm.take_ready_descriptors());
        let mut guards = 0;
        match &mut ready {
            Some((_, ends)) => {
                if warm.recorded {
                    self.records.expect();
                }
                if let Some(warmed_up) = self.world.as_ref().and_then(ShimWorld::warmed_up) {
                    (guards, ends.freshness) = warmed_up;
                }
            }
            None => self.dismiss(),
        }
        let fresh = ready.as_ref().map_or(0, |(_, ends)| ends.freshness.len());
        self.report(WarmShellReport { guards, fresh, ..prepared(mark, ready) });
    }

    fn report(&self, prepared: WarmShellReport) {
        self.send(FromShim::Prepared(prepared));
    }

    /// Handles the report that the addon has given the warm shell its command.
    pub(super) fn on_warm_start(&mut self, start: WarmCommandStart) -> io::Result<()> {
        let Some(mut warm) = self.warm.take() else { return Ok(()) };
        (warm.plan.limit, warm.plan.grace) = (start.limit, start.grace);
        let begun = start.record.map_or(Ok(()), |record| self.records.begin_warm(&record, &warm));
        if let Err(error) = begun {
            self.records.note_failure(&error);
        }
        let ago = Duration::from_nanos(sys::monotonic_ns().saturating_sub(start.at));
        let now = Instant::now();
        let running = self.command_of_warm_shell(warm, now.checked_sub(ago).unwrap_or(now));
        self.entries.begin(running.mark.as_deref(), start.opening);
        self.supervise_and_report(running)
    }

    /// Handles the loss of the addon or the supervisor. The warm shell may have been given a command whose `WarmStart`
    /// was lost with them, so the shell and all its descendants are killed.
    pub(super) fn abandon(&mut self) -> io::Result<()> {
        self.socket = None;
        let Some(warm) = self.warm.take() else { return Ok(()) };
        let mut running = self.command_of_warm_shell(warm, Instant::now());
        running.end_at_once();
        self.supervise_and_report(running)
    }

    /// Creates the state of a warm shell's command.
    fn command_of_warm_shell(&mut self, waiting: WarmShell, started: Instant) -> SupervisedCommand {
        let WarmShell { shell, plan, pipes, ended, tap, .. } = waiting;
        let mut running = self.new_command(shell, &plan, pipes, started);
        running.tap = tap;
        if let Some((end, usage, at)) = ended {
            // The shell exited before its `WarmStart` arrived.
            running.usage = usage;
            running.shell_end = Some((end, at.saturating_duration_since(started)));
        }
        running
    }

    /// Kills the warm shell, if it exists. A record that was begun for its command is removed.
    pub(super) fn dismiss(&mut self) {
        self.records.discard();
        // Reaped at once, so that its usage does not count for the next command.
        SystemProcesses.wait(&self.warm.take().map(WarmShell::dismiss).unwrap_or_default());
    }
}

/// Returns the report on the shell with this mark: the place for its command, or that the shell is not ready.
fn prepared(mark: Option<String>, ready: Option<(WarmCommandPlace, WarmShellEnds)>) -> WarmShellReport {
    let (place, ends) = ready.map_or((None, WarmShellEnds::default()), |(place, ends)| (Some(place), ends));
    WarmShellReport { mark: mark.unwrap_or_default(), place, guards: 0, fresh: 0, ends }
}
