//! Drives one running command until its shell has exited, its output is read and its listener has received all of it.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | the loop: each event, reply and wake-up, and the part that handles it |
//! | `command_pipes.rs` | reads both output streams, writes standard input, drives the terminal |
//! | `pipeline_tap.rs`, `producer_copy.rs` | copies what the first program of a pipeline writes, and keeps it |
//! | `output_delivery.rs` | passes output on to the listener, in batches and as live views |
//! | `early_ends.rs` | the ways out of the loop: deadlines, an exit code reported early, the move to the background |
//! | `watcher_orders.rs` | carries out the orders of people who watch |
//! | `stored_replay.rs` | gives the output of a stored run, without a process |
//! | `settlement.rs` | after the loop: the rest of the output, the record, the processes that are left, the free shim |

pub mod command_pipes;
pub mod early_ends;
pub mod output_delivery;
mod output_sinks;
pub mod pipeline_tap;
pub mod producer_copy;
pub mod settlement;
pub mod stored_replay;
#[cfg(test)]
mod tests;
mod watcher_orders;

use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use command_pipes::TerminalIo;
use early_ends::{CommandDeadlines, EarlyExitPipe, is_believable};
use nix::unistd::Pid;
use output_delivery::CommandOutput;
use pipeline_tap::PipelineTap;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::command_listener::{CallerReplies, CallerReply, CommandListener};
use super::completion::{ExitUnknown, NotStarted, ShellExit};
use crate::live::LiveRun;
use crate::proof::TestCounter;
use crate::request::PlannedRun;
use crate::supervise::{ShimCommand, ShimEvent};
use capture::OutputStream;
use confine_policy::CommandDenials;
use protocol::plan::ChangeJournalOutcome;
use protocol::task::Task;
use protocol::{
    BlockedProcess, CommandPipes, PipelineTapEnds, ShellExitReport, SilenceWatch, TaskTransfer, TerminationCause,
    note_of_silence,
};
use sys::{ChildExit, Signal};

/// The longest time that the loop sleeps.
const IDLE: Duration = Duration::from_secs(3600);

/// A running command. Each part owns the facts on which it decides. The loop passes events to the parts.
pub struct CommandDriver<'a, S, L> {
    request: &'a PlannedRun,
    shim: S,
    /// The replies. `None` once the caller's thread has ended.
    replies: Option<&'a mut CallerReplies>,
    output: CommandOutput<'a, L>,
    process: ShellExitState,
    deadlines: CommandDeadlines,
    early: EarlyExitPipe,
    silence: SilenceWatch,
    /// The tap of the command, if it has one.
    tap: Option<PipelineTap>,
    /// The denials of the command's confinement.
    denials: CommandDenials,
}

impl<'a, S: ShimControl, L: CommandListener> CommandDriver<'a, S, L> {
    /// `shell` is the pid of a warm shell, which runs already.
    ///
    /// # Errors
    /// If the pipes cannot be watched.
    pub fn new(
        request: &'a PlannedRun,
        (shim, pipes): (S, CommandPipes),
        shell: Option<i32>,
        listener: &'a L,
        replies: &'a mut CallerReplies,
    ) -> io::Result<Self> {
        if let Some(run) = &request.live_run {
            run.on_driven();
        }
        let began = Instant::now();
        let early = EarlyExitPipe::new(request.exit_report_pipe.as_ref())?;
        let mut output = CommandOutput::new(request, pipes, listener, began)?;
        if let Some(pid) = shell {
            output.on_start(pid);
        }
        Ok(Self {
            request,
            shim,
            replies: Some(replies),
            output,
            process: ShellExitState::default(),
            deadlines: CommandDeadlines::new(began, request.shim_limit(), request.grace),
            early,
            silence: SilenceWatch::begin(request.idle_limit, began.into_std()),
            tap: None,
            denials: CommandDenials::default(),
        })
    }

    /// Adds the tap of the command.
    ///
    /// # Errors
    /// If its pipes cannot be watched.
    pub fn with_tap(mut self, ends: Option<PipelineTapEnds>) -> io::Result<Self> {
        self.tap = ends.map(|ends| PipelineTap::new(ends, self.request)).transpose()?;
        if let (Some(_), Some(producer)) = (&self.tap, &self.request.producer) {
            self.output.readers.tapped = TestCounter::Waiting(&producer.command);
        }
        Ok(self)
    }

    /// Drives the command until no more output can be read.
    async fn run(&mut self) -> Result<(), NotStarted> {
        while !self.is_over() {
            self.step().await?;
        }
        self.output.input.close();
        Ok(())
    }

    /// Waits for the next event, and handles it.
    async fn step(&mut self) -> Result<(), NotStarted> {
        let wake_at = self.wake_at();
        let running = self.process.is_running();
        let writes = !self.output.moving.is_under_way();
        let behind = self.output.is_behind();
        let mut held = self.output.held_streams();
        held.stdout |= behind;
        tokio::select! {
            reply = next_reply(&mut self.replies, self.request.live_run.as_deref()) => self.on_reply(reply),
            event = self.shim.next_event(), if running => self.on_event(event)?,
            () = self.early.readable(), if running => self.on_report(),
            stream = self.output.streams.readable(held) => self.on_readable(stream),
            () = tokio::task::yield_now(), if behind => self.draw_more(),
            () = type_queued(self.output.terminal.as_ref()), if running => {}
            () = tap_ready(self.tap.as_ref()) => self.copy_tap(),
            () = self.output.input.writable(), if writes => self.output.write_input(),
            () = sleep_until(wake_at) => self.on_wake(running)?,
        }
        Ok(())
    }

    /// Returns whether everything that is to be read was read.
    fn is_over(&self) -> bool {
        if self.output.moving.task().is_some() || self.early.has_ended() {
            return true;
        }
        match &self.process.exit {
            None => false,
            Some(Err(ExitUnknown::AliveAfterLimit | ExitUnknown::AliveAfterAbort)) => true,
            Some(_) if !self.output.streams.is_open() && !self.output.is_behind() => true,
            Some(_) => self.deadlines.is_drained(Instant::now()) && !self.output.held_streams().any(),
        }
    }

    fn wake_at(&self) -> Instant {
        let running = self.process.is_running();
        // After the exit only the listener of a terminated command can still take too long.
        let late = self.output.may_delay() && self.process.was_terminated();
        let times = [
            self.deadlines.drained_at().filter(|_| !self.output.held_streams().any()),
            self.output.view_at(),
            (running || late).then(|| self.deadlines.hard()),
            self.output.moving.due_at().filter(|_| running && self.output.pid.is_some()),
            self.scan_at(),
            self.silent_at(),
        ];
        times.into_iter().flatten().min().unwrap_or_else(|| Instant::now() + IDLE)
    }

    // ---- events of the shim

    /// Handles an event. An error says that nothing was started.
    fn on_event(&mut self, event: ShimEvent) -> Result<(), NotStarted> {
        match event {
            ShimEvent::Started(pid) => {
                self.silence.on_output(Instant::now().into_std());
                self.output.on_start(pid);
            }
            ShimEvent::Denied(denials) => {
                self.denials.merge(denials);
                if let Some(ended) = self.early.take_held() {
                    self.end_early(ended);
                }
            }
            ShimEvent::Ended(ended) => self.on_exit(Ok(ended)),
            ShimEvent::Blocked(at_limit, process) => self.on_blocked(at_limit, process),
            ShimEvent::Task(task) => self.on_task(*task),
            ShimEvent::Refused(errno) => self.cancel_move(&io::Error::from_raw_os_error(errno)),
            ShimEvent::Released(_) | ShimEvent::LimitExceeded(_) | ShimEvent::Prepared(..) => {}
            // There is no second attempt: the caller has given the command up, and its abort arrives only once.
            ShimEvent::Failed(_) | ShimEvent::Lost { untaken: true } if self.process.aborted => {
                self.on_exit(Err(ExitUnknown::AliveAfterAbort));
            }
            ShimEvent::Failed(failure) => return Err(NotStarted::Failed(failure)),
            ShimEvent::Lost { untaken: true } => return Err(NotStarted::HelpersKilled),
            ShimEvent::Lost { untaken: false } => self.on_exit(Err(ExitUnknown::ShimKilled)),
        }
        Ok(())
    }

    fn on_exit(&mut self, exit: ShellExit) {
        let now = Instant::now();
        if let Ok(ShellExitReport { cause: TerminationCause::LimitExceeded(_), .. }) = exit {
            self.deadlines.on_limit_exceeded(now);
        }
        self.process.reported = exit.as_ref().ok().map(|ended| ended.cause);
        self.process.exit = Some(exit);
        self.deadlines.on_exit(now);
        self.output.on_exit();
    }

    fn on_blocked(&mut self, at_limit: bool, process: Option<BlockedProcess>) {
        let lines = self.output.streams.last_lines();
        if at_limit {
            self.output.watches.blocked.on_limit(process, &lines);
            self.shim.acknowledge_blocked();
        } else if self.process.is_running() && !self.output.moving.is_under_way() {
            self.on_scanned(process.clone(), &lines);
            let CommandOutput { watches, pid, listener, .. } = &mut self.output;
            if let Some(prompt) = watches.blocked.on_scanned(process, &lines, *pid, &self.request.command) {
                listener.prompt(prompt);
            }
        }
    }

    // ---- the end before the exit of the shell

    /// Handles the shell's report of its command's exit code. The command has ended if no other process runs and all
    /// output is there.
    fn on_report(&mut self) {
        let Some(exit_code) = self.early.read() else { return };
        let Some(shell) = self.output.pid.map(Pid::from_raw) else { return };
        let busy = self.process.aborted || self.output.moving.is_under_way() || self.output.held_streams().any();
        let limit_at = self.request.shim_limit().map(|limit| self.deadlines.began() + limit);
        let believable = is_believable(Instant::now(), limit_at, self.request.limits.apply_to_tree());
        if busy || !believable || !self.shim.runs_only(shell) {
            return;
        }
        // The usage of children is known with the exit of the shell.
        let Some(sample) = sys::sample(shell).filter(|sample| !sample.waited) else { return };
        let ended = ShellExitReport {
            end: ChildExit::Code(exit_code),
            usage: sample.usage,
            duration: self.deadlines.began().elapsed(),
            cause: TerminationCause::Itself,
            alive: false,
            last: false,
            record: ChangeJournalOutcome::Off,
            unwritten: None,
        };
        if self.request.confine.is_some() {
            self.early.hold_exit(ended);
            self.shim.ask_for_denials();
        } else {
            self.end_early(ended);
        }
    }

    /// Ends the command although its shell still saves its state.
    fn end_early(&mut self, ended: ShellExitReport) {
        if self.process.aborted || self.output.moving.is_under_way() {
            return;
        }
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            while self.output.read_now(stream) {}
        }
        self.early.confirm();
        self.on_exit(Ok(ended));
    }

    // ---- silence

    /// Returns when the command has been silent for too long. A listener that holds the output back delays that time,
    /// and the silence counts from the end of the hold.
    fn silent_at(&self) -> Option<Instant> {
        let may_end = self.process.is_running() && !self.process.aborted && self.output.pid.is_some();
        self.silence
            .due_at()
            .map(Instant::from_std)
            .filter(|_| may_end && !self.output.moving.is_under_way() && !self.output.held_streams().any())
    }

    /// Handles a silence that was too long, which counts as the time limit.
    fn on_silence(&mut self, now: Instant) {
        // This thread may have been kept from the processor.
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            if self.output.read_now(stream) {
                self.on_output(now);
            }
        }
        if !self.silence.is_due(now.into_std()) {
            return;
        }
        self.silence.on_reached();
        if self.output.moving.due_at().is_some() {
            self.hand_over();
        } else {
            self.deadlines.on_terminate(now);
            self.shim.terminate_at_limit();
        }
    }

    /// Adds the notes about the limit if the command was terminated or moved there: its silence, and the result of the
    /// scan, which is returned in brief.
    fn note_limit(&mut self) -> Option<String> {
        let at_limit = self.process.reached_limit() || self.output.moving.task().is_some();
        let waited = self.output.watches.blocked.take_at_limit().filter(|_| at_limit);
        let (note, brief) = waited.map(|waited| (waited.note, waited.brief)).unzip();
        let silence = self.reached_silence().map(note_of_silence);
        self.output.notes.extend(silence.into_iter().chain(note));
        brief
    }

    /// Returns the longest silence that was allowed, if the command was terminated or moved for its silence.
    fn reached_silence(&self) -> Option<Duration> {
        let at_limit = self.process.is_at_limit() || self.output.moving.task().is_some();
        self.silence.reached().filter(|_| at_limit)
    }

    // ---- time

    fn on_wake(&mut self, running: bool) -> Result<(), NotStarted> {
        // The exit may have been reported while this thread was kept from the processor.
        if running && let Some(event) = self.shim.try_next_event() {
            self.on_event(event)?;
        }
        let now = Instant::now();
        if self.deadlines.is_drain_due(now) {
            // The pipes were quiet as far as this thread knows, but it may have been kept from the processor.
            for stream in [OutputStream::Stdout, OutputStream::Stderr] {
                if self.output.read_now(stream) {
                    self.deadlines.on_output(now);
                }
            }
            self.deadlines.on_read_again(now);
        }
        if self.output.pid.is_some() && self.output.moving.due_at().is_some_and(|at| now >= at) {
            self.hand_over();
        }
        if self.deadlines.is_up(now) {
            if self.process.is_running() {
                self.on_exit(self.process.given_up());
            } else if self.process.was_terminated() {
                self.output.stop_listeners();
            }
        }
        if self.silent_at().is_some_and(|at| now >= at) {
            self.on_silence(now);
        }
        if self.scan_at().is_some_and(|at| now >= at) && self.output.watches.on_scan(now) {
            self.shim.scan();
        }
        self.output.show_view(now);
        Ok(())
    }

    /// Returns when to scan for a blocked process.
    fn scan_at(&self) -> Option<Instant> {
        let CommandOutput { pid, moving, watches, .. } = &self.output;
        let may_scan = self.process.is_running() && !self.process.aborted && !moving.is_under_way() && pid.is_some();
        watches.scan_at().filter(|_| may_scan)
    }

    // ---- output

    fn on_readable(&mut self, stream: OutputStream) {
        if self.output.read(stream) {
            self.on_output(Instant::now());
        }
    }

    fn on_output(&mut self, now: Instant) {
        self.deadlines.on_output(now);
        self.silence.on_output(now.into_std());
    }

    /// Copies what flows through the tap. The command is as silent as without it.
    fn copy_tap(&mut self) {
        let Self { tap: Some(tap), output, .. } = self else { return };
        tap.copy(&mut output.readers.tapped);
    }

    /// Leaves the tap to the shim, if it is still open.
    fn leave_tap(&mut self) {
        let Self { tap: Some(tap), output, .. } = self else { return };
        if let Some(ends) = tap.take_ends(&mut output.readers.tapped) {
            self.shim.leave_tap(ends);
        }
    }

    fn draw_more(&mut self) {
        if self.output.draw_more(self.process.was_terminated()) {
            self.deadlines.on_output(Instant::now());
        }
    }

    // ---- replies of the caller

    fn on_reply(&mut self, reply: Option<CallerReply>) {
        match reply {
            Some(CallerReply::Abort) => self.abort(),
            Some(CallerReply::Order(order)) => self.on_order(order),
            Some(CallerReply::Signal(signal)) => {
                if let (true, Some(terminal)) = (self.process.is_running(), &self.output.terminal) {
                    self.shim.signal(signal, terminal.foreground());
                }
            }
            Some(reply) => {
                let held = self.output.held_streams().any();
                self.output.on_reply(reply);
                if held {
                    self.silence.on_output(Instant::now().into_std());
                }
            }
            // No caller is left that could want the result.
            None => {
                self.replies = None;
                self.output.on_caller_gone();
                self.abort();
            }
        }
    }

    /// Returns whether an abort still has an effect.
    fn can_abort(&self) -> bool {
        !self.process.aborted && !self.output.moving.is_under_way()
    }

    /// Terminates the command, or its survivors during the drain. A command that is becoming a task is left alone.
    fn abort(&mut self) {
        if !self.can_abort() {
            return;
        }
        self.process.aborted = true;
        self.output.moving.cancel();
        self.deadlines.on_terminate(Instant::now());
        match &mut self.process.exit {
            None => self.shim.terminate(),
            Some(Ok(ended)) if ended.alive => {
                ended.cause = TerminationCause::Abort;
                self.shim.terminate();
            }
            Some(_) => {}
        }
    }

    // ---- the move to the background

    /// Hands the command to its shim at the limit, with all output that was read so far.
    fn hand_over(&mut self) {
        let (resume, input) = (self.output.streams.resume_states(), self.output.input.hand_over());
        match self.output.moving.begin(self.request, resume, input) {
            Some(Ok((transfer, input))) => {
                self.leave_tap();
                self.shim.hand_over(&transfer, input);
                self.deadlines.on_handed_over(Instant::now());
            }
            Some(Err(error)) => self.cancel_move(&error),
            None => {}
        }
    }

    fn on_task(&mut self, task: Task) {
        if let Some(registry) = &self.request.registry {
            self.output.on_moved(&registry.store().log_path(&task.id));
        }
        self.output.moving.on_task(task);
    }

    /// Handles a command that cannot be moved, which is terminated at its limit like any other.
    fn cancel_move(&mut self, reason: &dyn std::fmt::Display) {
        self.output.moving.cancel();
        let note = format!("the command could not be moved to the background, and was ended at its limit: {reason}");
        self.output.notes.push(note);
        self.deadlines.on_terminate(Instant::now());
        self.shim.terminate_at_limit();
    }

    // ---- the end

    /// Waits until the listener has received everything. Only an abort and the bound after a termination end the wait
    /// early.
    async fn deliver_rest(&mut self) {
        self.output.end();
        while self.output.is_pending() {
            if self.replies.is_none() {
                return;
            }
            let reply = next_reply(&mut self.replies, self.request.live_run.as_deref());
            let reply = if self.process.was_terminated() {
                match timeout_at(self.deadlines.hard(), reply).await {
                    Ok(reply) => reply,
                    Err(_) => return self.output.stop_listeners(),
                }
            } else {
                reply.await
            };
            if reply.is_none() {
                return;
            }
            self.on_reply(reply);
        }
    }
}

/// Waits for the next reply of the caller, or order of a person. `None`: the caller's thread has ended.
async fn next_reply(replies: &mut Option<&mut CallerReplies>, run: Option<&LiveRun>) -> Option<CallerReply> {
    let reply = async {
        match replies {
            Some(replies) => replies.recv().await,
            None => std::future::pending().await,
        }
    };
    let Some(run) = run else { return reply.await };
    tokio::select! {
        biased;
        reply = reply => reply,
        order = run.next_order() => Some(CallerReply::Order(order)),
    }
}

async fn tap_ready(tap: Option<&PipelineTap>) {
    match tap {
        Some(tap) => tap.ready().await,
        None => std::future::pending().await,
    }
}

async fn type_queued(terminal: Option<&TerminalIo>) {
    match terminal {
        Some(terminal) => terminal.type_queued().await,
        None => std::future::pending().await,
    }
}

/// The exit of the shell, and whether the caller has given it up.
#[derive(Debug, Default)]
pub struct ShellExitState {
    /// The exit. `None` while the shell runs.
    pub exit: Option<ShellExit>,
    /// The cause of the exit as the shim has reported it. An abort may become the cause later.
    pub reported: Option<TerminationCause>,
    /// Whether the caller has aborted the command.
    pub aborted: bool,
}

impl ShellExitState {
    /// Returns whether no exit is known yet.
    pub fn is_running(&self) -> bool {
        self.exit.is_none()
    }

    /// Returns whether the shell runs, or has left processes.
    pub fn is_alive(&self) -> bool {
        self.exit.as_ref().is_none_or(|exit| exit.as_ref().is_ok_and(|ended| ended.alive))
    }

    /// Returns whether the command was terminated, or has no reported exit.
    pub fn was_terminated(&self) -> bool {
        let by_itself = |ended: &ShellExitReport| ended.cause == TerminationCause::Itself;
        self.aborted || self.exit.as_ref().is_some_and(|exit| !exit.as_ref().is_ok_and(by_itself))
    }

    /// Returns whether the command ended by itself and left processes running.
    pub fn left_survivors(&self) -> bool {
        !self.aborted
            && matches!(self.exit, Some(Ok(ShellExitReport { alive: true, cause: TerminationCause::Itself, .. })))
    }

    /// Returns whether the shim terminated the command at its time limit.
    pub fn reached_limit(&self) -> bool {
        matches!(self.exit, Some(Ok(ShellExitReport { cause: TerminationCause::Limit, .. })))
    }

    /// Returns whether the time limit terminated the command, even if a process of it is still there.
    pub fn is_at_limit(&self) -> bool {
        self.reached_limit() || matches!(self.exit, Some(Err(ExitUnknown::AliveAfterLimit)))
    }

    /// Returns the exit of a command that is still alive at the hard bound.
    pub fn given_up(&self) -> ShellExit {
        Err(if self.aborted { ExitUnknown::AliveAfterAbort } else { ExitUnknown::AliveAfterLimit })
    }
}

/// A shim: its events, and its duties. Tests drive the loop with a shim that starts no process.
pub trait ShimControl: Send {
    /// Returns the next event. No event is lost if the future is dropped.
    fn next_event(&mut self) -> impl Future<Output = ShimEvent> + Send;
    /// Returns the next event, if it has already arrived.
    fn try_next_event(&mut self) -> Option<ShimEvent>;
    /// Terminates the tree: SIGTERM, grace, SIGKILL.
    fn terminate(&self);
    /// Terminates the tree because of its time limit.
    fn terminate_at_limit(&self);
    /// Signals the group of the shell, and the foreground group of its terminal, which keys go to.
    fn signal(&self, signal: Signal, foreground: Option<i32>);
    /// Asks which process is blocked; answered by [`ShimEvent::Blocked`].
    fn scan(&self);
    /// Asks for the denials so far; answered by [`ShimEvent::Denied`].
    fn ask_for_denials(&self);
    /// Answers the report of a blocked process at the limit: the tree may be signalled now.
    fn acknowledge_blocked(&self);
    /// Gives the shim the ends of the command's tap.
    fn leave_tap(&self, ends: PipelineTapEnds);
    /// Asks the shim to make the command its task; answered by [`ShimEvent::Task`] or [`ShimEvent::Refused`].
    fn hand_over(&self, transfer: &TaskTransfer, input: Vec<OwnedFd>);
    /// Returns whether no process but this shell runs.
    fn runs_only(&self, shell: Pid) -> bool;
}

impl ShimControl for ShimCommand {
    fn next_event(&mut self) -> impl Future<Output = ShimEvent> + Send {
        Self::next_event(self)
    }

    fn try_next_event(&mut self) -> Option<ShimEvent> {
        Self::try_next_event(self)
    }

    fn terminate(&self) {
        self.terminate_tree();
    }

    fn terminate_at_limit(&self) {
        self.terminate_tree_at_limit();
    }

    fn signal(&self, signal: Signal, foreground: Option<i32>) {
        Self::signal(self, signal, foreground);
    }

    fn scan(&self) {
        self.request_scan();
    }

    fn ask_for_denials(&self) {
        Self::ask_for_denials(self);
    }

    fn acknowledge_blocked(&self) {
        Self::acknowledge_blocked(self);
    }

    fn leave_tap(&self, ends: PipelineTapEnds) {
        Self::leave_tap(self, ends);
    }

    fn hand_over(&self, transfer: &TaskTransfer, input: Vec<OwnedFd>) {
        Self::hand_over(self, transfer, input);
    }

    fn runs_only(&self, shell: Pid) -> bool {
        Self::runs_only(self, shell)
    }
}
