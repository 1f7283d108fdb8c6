//! One command on a target.

use std::collections::VecDeque;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep, sleep_until};

use super::connect::TargetRunHandle;
use super::distant_terminal;
use super::overdue_calls::{ANSWER_OVERDUE, wait_connected_for};
use super::partial_run_result::PartialRunResult;
use super::remote_target::{RemoteTarget, TargetState};
use super::target_error::TargetError;
use super::target_run_updates::{PROTOCOL_BROKEN, TARGET_CLOSED, TargetRunUpdate};
use super::untaken_output::UntakenOutput;
use super::watched_run::WatchedRun;
use crate::flow_control::{MOST_UNREAD, credit_cost};
use crate::messages::{
    RunMessage, TargetCall, TargetCommand, TargetCommandPlace, TargetEvent, TargetFailure, system_code,
};
use capture::{HARD_KEEP, OutputStream};
use runner::error::RunError;
use runner::live::WatcherOrder;
use runner::pty::{CommandTerminal, DistantProgramMessage};
use runner::run::outcome::{CommandOutcome, CommandStatus};
use runner::run::{
    BlockedPrompt, CallerReply, CommandListener, DistantEntry, HARD_BOUND, JudgedDistantCommand, LiveView,
};
use sys::TerminalSize;
use wire::WireError;

/// The note of a run that a cut has interrupted.
const CUT_NOTE: &str = "the connection to the target was cut while the command ran, and nothing of it was lost";
/// The note of a run that was aborted, and of whose end the target has not told in time.
const END_NOT_TOLD_NOTE: &str = "the target does not answer: the command may run there until the connection is back, or the target gives up waiting";
/// The note of a run whose listener was not waited for any longer.
const OUTPUT_NOT_TAKEN_NOTE: &str = "the onOutput listener did not take all output in time";
/// Exit code after an abort.
const ABORTED: i32 = 130;
/// Time beyond its limits in which the end of a command arrives.
const END_ARRIVAL_ALLOWANCE: Duration = Duration::from_secs(30);
/// Bytes of a result beside its output: lists are short.
const BESIDE_OUTPUT: u64 = 4 * 1024 * 1024;
/// Time until bytes for a command are sent again for which there was no room.
const RESEND_INTERVAL: Duration = Duration::from_millis(50);

/// How a run on a target ended.
pub enum DistantRunEnd {
    /// It has an outcome, and its session is in this directory.
    Outcome(Box<CommandOutcome>, Option<String>),
    /// Nothing was run.
    Failed(RunError),
    /// The target cannot be reached, and nothing was started.
    Unreachable(TargetError),
}

/// A command that was given to a target.
pub struct DistantRun {
    begun: TargetRunHandle,
    /// Its judgement, and its outcome if it is not started.
    judged: JudgedDistantCommand,
    arrived: PartialRunResult,
    /// Whether it waits for earlier commands of its session.
    has_turns: bool,
    shown: Option<DistantRunTerminal>,
    watched: WatchedRun,
}

/// The terminal that shows a program there.
struct DistantRunTerminal {
    terminal: Arc<CommandTerminal>,
    /// What the terminal has for the program.
    for_program: UnboundedReceiver<DistantProgramMessage>,
}

impl RemoteTarget {
    /// Gives a command to the target. Commands arrive there in the order of these calls.
    ///
    /// # Errors
    /// If the target was closed, or the command is too large.
    pub fn run(self: &Arc<Self>, order: TargetCommand, judged: JudgedDistantCommand) -> Result<DistantRun, RunError> {
        self.run_shown(order, judged, None)
    }

    fn run_shown(
        self: &Arc<Self>,
        order: TargetCommand,
        mut judged: JudgedDistantCommand,
        shown: Option<DistantRunTerminal>,
    ) -> Result<DistantRun, RunError> {
        let terminal = shown.as_ref().map(|shown| &shown.terminal);
        let watched = WatchedRun::register(&mut judged, &order.place, terminal);
        let arrived = PartialRunResult::new(matches!(order.place, TargetCommandPlace::Terminal { .. }));
        let has_turns = matches!(order.place, TargetCommandPlace::Session(_));
        let whole = if judged.has_view { HARD_KEEP } else { 0 };
        let most_bytes = BESIDE_OUTPUT + 4 * judged.most_text + 2 * whole;
        let mut begun = self.begin_command(order, usize::try_from(most_bytes).unwrap_or(usize::MAX))?;
        begun.happened.clean_output(judged.sanitize);
        Ok(DistantRun { begun, judged, arrived, has_turns, shown, watched })
    }

    /// Gives a command to the target, and shows it in a terminal. Its place becomes a terminal there.
    ///
    /// # Errors
    /// As [`RemoteTarget::run`], and if the terminal has run a command already.
    pub fn run_in_terminal(
        self: &Arc<Self>,
        order: TargetCommand,
        judged: JudgedDistantCommand,
        terminal: &Arc<CommandTerminal>,
    ) -> Result<DistantRun, RunError> {
        let (sender, for_program) = unbounded_channel();
        terminal.open_there(sender)?;
        let TerminalSize { cols, rows } = terminal.size();
        let place = TargetCommandPlace::Terminal { cols, rows, drawn: terminal.is_listened() };
        let shown = DistantRunTerminal { terminal: Arc::clone(terminal), for_program };
        self.run_shown(TargetCommand { place, ..order }, judged, Some(shown))
            .inspect_err(|_| terminal.on_start_failed())
    }
}

impl DistantRun {
    /// Follows the command to its end, through cuts.
    pub async fn finish(
        mut self,
        listener: impl CommandListener,
        mut replies: UnboundedReceiver<CallerReply>,
    ) -> DistantRunEnd {
        let ended = self.drive(&listener, &mut replies).await;
        if let Some(DistantRunTerminal { terminal, .. }) = &self.shown {
            distant_terminal::drain(terminal, &listener, &mut replies).await;
        }
        self.watched.keep_last(&self.arrived);
        let JudgedDistantCommand { outcome: judged, entry, .. } = self.judged;
        let mut distant = match ended {
            DrivenRunEnd::Outcome(mut outcome, cwd, was_cut) => {
                let mut notes = judged.notes;
                notes.append(&mut outcome.notes);
                notes.extend(was_cut.then(|| CUT_NOTE.to_owned()));
                outcome.notes = notes;
                // Its name was given here.
                outcome.run = judged.run;
                DistantRunEnd::Outcome(outcome, cwd)
            }
            DrivenRunEnd::Failed(failure) => DistantRunEnd::Failed(reported_error(failure)),
            DrivenRunEnd::Unreachable(error) => DistantRunEnd::Unreachable(error),
            DrivenRunEnd::Lost(why) => {
                DistantRunEnd::Outcome(Box::new(lost(self.arrived.complete_outcome(judged), why)), None)
            }
            DrivenRunEnd::NeverBegan => DistantRunEnd::Outcome(Box::new(judged), None),
            DrivenRunEnd::EndNotTold => {
                let mut outcome = self.arrived.complete_outcome(judged);
                outcome.exit_code = Some(ABORTED);
                outcome.notes.push(END_NOT_TOLD_NOTE.to_owned());
                DistantRunEnd::Outcome(Box::new(outcome), None)
            }
        };
        self.watched.end(match &mut distant {
            DistantRunEnd::Outcome(outcome, _) => Some(outcome),
            DistantRunEnd::Failed(_) | DistantRunEnd::Unreachable(_) => None,
        });
        if let (Some(entry), DistantRunEnd::Outcome(outcome, _)) = (entry, &distant) {
            entry.close(outcome).await;
        }
        distant
    }

    /// Passes events to the listener and replies to the program until the run has ended.
    async fn drive(
        &mut self,
        listener: &impl CommandListener,
        replies: &mut UnboundedReceiver<CallerReply>,
    ) -> DrivenRunEnd {
        let TargetRunHandle { target, run, happened, .. } = &mut self.begun;
        let (judged, has_turns) = (&self.judged, self.has_turns);
        let entry = judged.entry.as_ref();
        let arrived = &mut self.arrived;
        let (terminal, mut for_program) =
            self.shown.as_mut().map(|shown| (&shown.terminal, &mut shown.for_program)).unzip();
        let (output, unsent, data) = Default::default();
        let watched = &mut self.watched;
        watched.on_driven();
        let is_listened = judged.is_listened;
        let run = *run;
        let mut way = DistantRunDriver {
            target,
            run,
            listener,
            entry,
            arrived,
            terminal,
            watched,
            is_listened,
            output,
            unsent,
            data,
        };
        let mut state = target.state.subscribe();
        let grace = judged.grace;
        let (mut was_cut, mut abort_by) = (false, None);
        let until = judged.outcome.limit.map(|limit| limit + grace + HARD_BOUND + END_ARRIVAL_ALLOWANCE);
        let mut overdue = pin!(wait_connected_for(target, run, until.unwrap_or_default()));
        loop {
            let down = *state.borrow_and_update() == TargetState::Disconnected;
            was_cut |= down && !target.outbox.is_unbegun(run);
            tokio::select! {
                biased;
                next = happened.recv() => match next {
                    Some(TargetRunUpdate::Event(TargetEvent::Ended(outcome, _))) if !judged.can_end_as(&outcome) => {
                        return DrivenRunEnd::Lost(PROTOCOL_BROKEN);
                    }
                    Some(TargetRunUpdate::Event(TargetEvent::Ended(mut outcome, cwd))) => {
                        let by = abort_by.or_else(|| outcome.ended_by.map(|_| Instant::now() + grace + HARD_BOUND));
                        outcome.notes.extend(way.drain(replies, by, grace).await.map(str::to_owned));
                        return DrivenRunEnd::Outcome(outcome, cwd, was_cut);
                    }
                    Some(TargetRunUpdate::Event(TargetEvent::Failed(failure))) => return DrivenRunEnd::Failed(failure),
                    Some(TargetRunUpdate::Event(event)) => if !way.on_event(event) {
                        return DrivenRunEnd::Lost(PROTOCOL_BROKEN);
                    },
                    Some(TargetRunUpdate::Unreachable(error)) => return DrivenRunEnd::Unreachable(error),
                    Some(TargetRunUpdate::Lost(why)) => return DrivenRunEnd::Lost(why),
                    None => return DrivenRunEnd::Lost(TARGET_CLOSED),
                },
                Some(reply) = replies.recv() => {
                    if matches!(reply, CallerReply::Abort) {
                        if target.outbox.withdraw(run) {
                            return DrivenRunEnd::NeverBegan;
                        }
                        abort_by.get_or_insert_with(|| Instant::now() + grace + HARD_BOUND);
                    }
                    way.on_reply(reply);
                }
                order = way.watched.next_order() => {
                    if matches!(order, WatcherOrder::Stop) {
                        if target.outbox.withdraw(run) {
                            return DrivenRunEnd::NeverBegan;
                        }
                        abort_by.get_or_insert_with(|| Instant::now() + grace + HARD_BOUND);
                    }
                    way.on_order(order);
                }
                () = sleep(RESEND_INTERVAL), if !way.unsent.is_empty() => way.send_unsent(),
                Some(what) = distant_terminal::next(&mut for_program) => way.send(distant_terminal::call_for(what)),
                // A state that changed is seen at the next turn. The target itself outlives its runs.
                Ok(()) = state.changed() => {}
                () = sleep_until(abort_by.unwrap_or_else(Instant::now)), if abort_by.is_some() => {
                    return DrivenRunEnd::EndNotTold;
                }
                () = &mut overdue, if until.is_some() && (way.arrived.has_started() || !has_turns) => {
                    return DrivenRunEnd::Lost(ANSWER_OVERDUE);
                }
            }
        }
    }
}

/// The way between a program and the listener of its run.
struct DistantRunDriver<'a, L> {
    target: &'a Arc<RemoteTarget>,
    run: u64,
    listener: &'a L,
    /// The entry of the command in the ledger.
    entry: Option<&'a DistantEntry>,
    arrived: &'a mut PartialRunResult,
    terminal: Option<&'a Arc<CommandTerminal>>,
    watched: &'a mut WatchedRun,
    /// Whether the caller listens to the output. Otherwise it comes for those who watch alone.
    is_listened: bool,
    output: UntakenOutput,
    /// Bytes for the command that no room was left for.
    unsent: VecDeque<TargetCall>,
    /// The cost of text that the terminal has and its listeners have not taken.
    data: u64,
}

impl<L: CommandListener> DistantRunDriver<'_, L> {
    /// Sends a call. Bytes for the command wait until there is room for them, each behind those before it.
    fn send(&mut self, call: TargetCall) {
        if call.may_be_refused() {
            self.unsent.push_back(call);
            self.send_unsent();
        } else {
            // Room is left for it, unless the program takes nothing for ever.
            let _full = self.target.outbox.send(self.run, &call);
        }
    }

    fn send_unsent(&mut self) {
        while let Some(call) = self.unsent.front() {
            match self.target.outbox.send(self.run, call) {
                Err(WireError::Waiting) => return,
                // One that is too large for any link can only be left out, and the command sees the end of its input.
                Err(_) => drop(self.target.outbox.send(self.run, &TargetCall::Abort)),
                Ok(()) => {}
            }
            self.unsent.pop_front();
        }
        self.watched.on_input(0, 0);
    }

    /// Passes an event to the listener. `false`: no program of ours sends it.
    fn on_event(&mut self, event: TargetEvent) -> bool {
        let listener = self.listener;
        match (event, self.terminal) {
            (TargetEvent::Output(stream, text), _) => {
                self.arrived.output(stream, &text);
                self.watched.on_output(stream, &text);
                if self.is_listened {
                    return self.output.push(stream, text, listener);
                }
                self.send(TargetCall::OutputTaken(credit_cost(text.len())));
            }
            (TargetEvent::Data(text), Some(terminal)) => {
                self.arrived.output(OutputStream::Stdout, &text);
                self.data += credit_cost(text.len());
                distant_terminal::show(&text, terminal, listener);
                self.report_taken_data(terminal);
                return self.data <= MOST_UNREAD;
            }
            (TargetEvent::Typed, Some(terminal)) => terminal.on_input_typed(),
            (TargetEvent::Started(pid, cwd), _) => {
                self.arrived.set_pid(pid);
                if let Some(entry) = self.entry {
                    entry.open();
                }
                listener.started(pid, Path::new(&cwd));
            }
            (TargetEvent::Exited, _) => listener.exited(),
            (TargetEvent::InputTaken(open), _) => listener.input_taken(open),
            (TargetEvent::View { pid, stdout, stderr, elapsed_ms }, _) => {
                listener.live_view(LiveView { pid, stdout, stderr, elapsed: Duration::from_millis(elapsed_ms) });
            }
            (TargetEvent::Prompt { pid, command, text }, _) => listener.prompt(BlockedPrompt { pid, command, text }),
            (TargetEvent::Data(_) | TargetEvent::Typed, None) => return false,
            (
                TargetEvent::Ended(..)
                | TargetEvent::Failed(_)
                | TargetEvent::Answered(_)
                | TargetEvent::Registry(_)
                | TargetEvent::Part(_),
                _,
            ) => {
                return false;
            }
        }
        true
    }

    /// Tells the program of text that was taken, unless as much waits for the listeners as they get at once.
    fn report_taken_data(&mut self, terminal: &CommandTerminal) {
        if self.data > 0 && !terminal.is_full() {
            let taken = std::mem::take(&mut self.data);
            self.send(TargetCall::OutputTaken(taken));
        }
    }

    /// Does what a person wants who watches.
    fn on_order(&mut self, order: WatcherOrder) {
        if self.watched.begins_to_listen() {
            self.send(TargetCall::Listen);
        }
        match order {
            WatcherOrder::Stop => {
                self.watched.on_stop();
                self.send(TargetCall::Abort);
            }
            WatcherOrder::Input(bytes) => {
                let given = bytes.len();
                self.send(TargetCall::Input(Some(bytes)));
                self.watched.on_input(given, self.unsent_input());
            }
            WatcherOrder::Follow(tap) => self.watched.follow(tap, self.arrived),
            WatcherOrder::ReportStatus => self.watched.report_status(self.arrived),
        }
    }

    /// Returns the bytes of input that no room was left for.
    fn unsent_input(&self) -> usize {
        let bytes = |call: &TargetCall| if let TargetCall::Input(Some(bytes)) = call { bytes.len() } else { 0 };
        self.unsent.iter().map(bytes).sum()
    }

    /// Passes what the caller says to the program.
    fn on_reply(&mut self, reply: CallerReply) {
        let call = match reply {
            CallerReply::Abort => TargetCall::Abort,
            CallerReply::Listen => TargetCall::Listen,
            CallerReply::OutputTaken(None) => TargetCall::OutputTaken(self.output.on_taken(self.listener)),
            CallerReply::OutputTaken(Some(error)) => {
                self.output.stop();
                TargetCall::ListenerFailed(error)
            }
            CallerReply::DataChanged => {
                if let Some(terminal) = self.terminal {
                    distant_terminal::give(terminal, self.listener);
                    self.report_taken_data(terminal);
                }
                return;
            }
            CallerReply::Input(bytes) => TargetCall::Input(bytes),
            CallerReply::Signal(signal) => TargetCall::Signal(signal),
            CallerReply::ViewTaken(failure) => TargetCall::ViewTaken(failure),
            CallerReply::PromptTaken(failure) => TargetCall::PromptTaken(failure),
            CallerReply::Allocated(..) | CallerReply::Order(_) => return,
        };
        self.send(call);
    }

    /// Waits after the end of the command until the listener has taken all output. It has until `by` if the command was
    /// terminated, as on this machine. Returns a note if it has not.
    async fn drain(
        &mut self,
        replies: &mut UnboundedReceiver<CallerReply>,
        mut by: Option<Instant>,
        grace: Duration,
    ) -> Option<&'static str> {
        let mut state = self.target.state.subscribe();
        while !self.output.is_taken() {
            let reply = tokio::select! {
                biased;
                reply = replies.recv() => reply,
                _closed = state.wait_for(|state| *state == TargetState::Closed) => None,
                () = sleep_until(by.unwrap_or_else(Instant::now)), if by.is_some() => None,
            };
            match reply {
                Some(CallerReply::OutputTaken(None)) => drop(self.output.on_taken(self.listener)),
                Some(CallerReply::OutputTaken(Some(_))) => {
                    return Some("the onOutput listener failed and was taken away");
                }
                Some(CallerReply::Abort) => by = Some(Instant::now() + grace + HARD_BOUND),
                Some(_) => {}
                None => return Some(OUTPUT_NOT_TAKEN_NOTE),
            }
        }
        None
    }
}

enum DrivenRunEnd {
    /// The outcome, the directory of its session, and whether the run saw a cut.
    Outcome(Box<CommandOutcome>, Option<String>, bool),
    Failed(TargetFailure),
    Unreachable(TargetError),
    Lost(&'static str),
    NeverBegan,
    EndNotTold,
}

/// Returns the outcome of a command whose end is not known.
fn lost(mut outcome: CommandOutcome, why: &str) -> CommandOutcome {
    outcome.notes.push(format!("the command is lost: {why}"));
    CommandOutcome {
        status: CommandStatus::Lost,
        exit_code: None,
        ended_by: None,
        receipt: None,
        evidence: None,
        ..outcome
    }
}

/// Returns the error that the program reports. A code that no program of ours has is a fault there.
pub(super) fn reported_error(TargetFailure { code, message, errno, missing }: TargetFailure) -> RunError {
    if !missing.is_empty() {
        return RunError::Confinement(missing);
    }
    let known = RunError::CODES.into_iter().find(|known| *known == code).or_else(|| system_code(&code));
    RunError::FromTarget { code: known.unwrap_or("ERR_BASH_SPAWN"), message, errno }
}
