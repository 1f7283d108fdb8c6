//! The course of a command through a shim: its record, its confinement, its start, its exit.

use std::io;
use std::time::Instant;

use super::ShimProcess;
use super::change_journal::{AnswerChannel, ChangeJournalError};
use super::command_start::{CommandRestraint, LaunchedCommand, start};
use super::supervised_command::SupervisedCommand;
use crate::cgroup::ShimCgroup;
use crate::tree_limits::used_by_living;
use crate::warm_shell::WarmShell;
use protocol::plan::ChangeJournalOutcome;
use protocol::task::now_ms;
use protocol::{CommandConclusion, FromShim, ShellExitReport, ShimOrder, TerminationCause};
use sys::{ChildExit, ChildRestriction, InheritedLimits, LaunchStep};

impl ShimProcess {
    /// Starts a command and supervises it.
    pub(super) fn run(&mut self, run: ShimOrder) -> io::Result<()> {
        let started = Instant::now();
        let ShimOrder { plan, task, opening, descriptors } = run;
        let dismissed = self.warm.take().map(WarmShell::dismiss).unwrap_or_default();
        ShimCgroup::prepare_for_command(&mut self.group, plan.limits);
        let way = match self.begin_record(&plan, &descriptors) {
            Ok(way) => way,
            Err(failure) => {
                self.send(FromShim::Failed(failure));
                return Ok(());
            }
        };
        let (filter, socket, journal) = way.map_or((None, None, None), AnswerChannel::parts);
        let confined = match self.confine(journal) {
            Ok(confined) => confined,
            Err(failure) => return self.refuse(failure),
        };
        let required = plan.record.as_ref().is_some_and(|record| record.require);
        let filter = filter.map_or(ChildRestriction::None, ChildRestriction::Filtered);
        let restraint =
            CommandRestraint { bounds: confined.map_or(filter, ChildRestriction::Confined), socket, required };
        let launched = match start(&plan, task, descriptors, (&mut self.group, restraint)) {
            Ok(launched) => launched,
            Err(failure) if matches!(failure.step, LaunchStep::Confine | LaunchStep::Filter) => {
                return self.refuse(failure);
            }
            Err(failure) => {
                self.records.discard();
                self.send(FromShim::Failed(failure));
                return Ok(());
            }
        };
        let LaunchedCommand { shell, pipes, _script, task, unrecorded, tap } = launched;
        if let Some(error) = unrecorded {
            self.records.note_failure(&ChangeJournalError::Filter(error));
        }
        let mut running = self.new_command(shell, &plan, pipes, started);
        running.dismissed = dismissed;
        running.tap = tap;
        self.entries.begin(running.mark.as_deref(), opening);
        match task {
            None => self.send(FromShim::Started(sys::host_pid(shell).unwrap_or(shell).as_raw())),
            Some(files) => {
                // Whoever has the task finds it in the ledger.
                self.entries.start();
                self.begin_task(&mut running, files, now_ms())?;
            }
        }
        self.supervise_and_report(running)
    }

    /// Supervises a command that was started, and reports its exit.
    pub(super) fn supervise_and_report(&mut self, mut running: SupervisedCommand) -> io::Result<()> {
        let alive = self.supervise(&mut running)?;
        if self.server.is_some() {
            return self.finish_task(running);
        }
        let (end, duration) =
            running.shell_end.unwrap_or((ChildExit::Signal(libc::SIGKILL), running.started.elapsed()));
        let cause = running.ending.take().map_or(TerminationCause::Itself, |ending| ending.cause);
        if InheritedLimits::now() != self.supervisor.inheritance {
            // The command has changed its parent (`renice 3 $PPID`), and no user but root can change that back. The
            // next one gets another shim.
            self.supervisor.lifeline = None;
        }
        let last = self.supervisor.lifeline.is_none();
        let mut usage = running.usage;
        if alive {
            usage.add(used_by_living(running.mark.as_deref()));
        }
        usage.take_times_of(running.group.as_deref().and_then(ShimCgroup::usage));
        self.report_denials(running.mark.as_deref(), alive);
        // The record covers all that runs until it is listed.
        let record = if alive {
            ChangeJournalOutcome::Off
        } else {
            self.end_record(running.mark.as_deref(), self.socket.is_none())
        };
        let unwritten = self.entries.end(CommandConclusion::of(cause, end), duration, usage);
        let ended = ShellExitReport { end, usage, duration, cause, alive, last, record, unwritten };
        self.send(FromShim::Ended(ended));
        self.entries.check_last_write();
        self.flows.unread.clear();
        if alive {
            self.hold_survivors(running)?;
        }
        self.watches = false;
        Ok(())
    }
}
