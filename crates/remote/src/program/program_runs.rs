//! What the host asks for: commands, each one a run of the core with the wire as its listener, and questions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::command_terminal::{self, TerminalEndGuard};
use super::file_requests::FileRequestHandler;
use super::installed_program::InstalledProgram;
use super::port_dialing::dial;
use super::registry_table::{ReceivedRequest, RegistryTable};
use super::request_transfer::RequestTransfer;
use super::session_table::{ResponseFuture, SessionTable};
use super::transport_carrying::carry;
use super::undo_handlers::{find_newest_undo, list_undo_points, undo};
use super::wire_listener::{OutputCredit, WireListener};
use crate::flow_control::{MAX_RUNS, MAX_STANDING};
use crate::frame_link::LinkError;
use crate::link_mailbox::LinkMailbox;
use crate::messages::{
    TargetCall, TargetCommand, TargetCommandPlace, TargetEvent, TargetFailure, TargetRequest, TargetResponse, decode,
    is_id,
};
use runner::error::RunError;
use runner::pty::CommandTerminal;
use runner::request::RawOptions;
use runner::run::outcome::CommandOutcome;
use runner::run::{CallerReply, LISTED_SURVIVORS, SubmittedCommand, request_of, warm_up};
use runner::session::SessionRun;
use runner::snapshot::SnapshotRequest;
use runner::supervise::end_worlds;
use wire::{MailboxMessage, WireError};

/// Most survivors that are told of a command whose result could not be sent.
const MOST_SURVIVORS: usize = 16;

/// The runs that have not ended, and what outlives a run.
pub struct ProgramRuns {
    post: Arc<LinkMailbox>,
    /// The mode mask of new files.
    umask: u32,
    running: Mutex<HashMap<u64, RunRoute>>,
    sessions: SessionTable,
    registries: RegistryTable,
    files: FileRequestHandler,
    /// Whether the program is to remove itself.
    uninstalled: AtomicBool,
}

/// The way to a run.
enum RunRoute {
    Command(CommandRoute),
    Question(UnboundedSender<TargetCall>),
}

/// The way to a command.
struct CommandRoute {
    replies: UnboundedSender<CallerReply>,
    credit: Arc<OutputCredit>,
    terminal: Option<Arc<CommandTerminal>>,
}

/// A command that was given to the core.
enum StartedTargetCommand {
    Command(SubmittedCommand<SnapshotRequest>),
    InTerminal(SubmittedCommand<SnapshotRequest>, TerminalEndGuard),
    InSession(SessionRun),
}

impl ProgramRuns {
    pub fn new(post: Arc<LinkMailbox>, umask: u32) -> Arc<Self> {
        let (running, sessions, registries, uninstalled) = Default::default();
        Arc::new(Self {
            post,
            umask,
            running,
            sessions,
            registries,
            files: FileRequestHandler::new(umask),
            uninstalled,
        })
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u64, RunRoute>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a message of the host.
    ///
    /// # Errors
    /// If it is none that a host of ours sends.
    pub fn on_message(self: &Arc<Self>, MailboxMessage { run, payload }: MailboxMessage) -> Result<(), LinkError> {
        match decode(&payload)? {
            TargetCall::Run(order) => self.start(run, *order),
            TargetCall::Ask(ask) => self.handle_request(run, ask),
            call => {
                self.pass_call_on(run, call);
                Ok(())
            }
        }
    }

    fn start(self: &Arc<Self>, run: u64, order: TargetCommand) -> Result<(), LinkError> {
        let (replies, inbox) = unbounded_channel();
        let credit = Arc::<OutputCredit>::default();
        let terminal = command_terminal::terminal_for(order.place);
        let way = CommandRoute { replies: replies.clone(), credit: Arc::clone(&credit), terminal: terminal.clone() };
        let last = self.add(run, RunRoute::Command(way))?;
        let listener = WireListener { post: Arc::clone(&self.post), run, credit, replies, terminal: terminal.clone() };
        // Commands of a session have their turns in the order in which they arrive.
        let started = self.start_in_core(order, terminal);
        tokio::spawn(async move {
            let ended = match started {
                Ok(started) => started.finish(listener, inbox).await,
                Err(error) => TargetEvent::Failed(error.into()),
            };
            last.set_event(ended);
        });
        Ok(())
    }

    fn handle_request(self: &Arc<Self>, run: u64, ask: TargetRequest) -> Result<(), LinkError> {
        let (words, further) = unbounded_channel();
        let last = self.add(run, RunRoute::Question(words))?;
        let asked = ReceivedRequest { post: Arc::clone(&self.post), run, further };
        let answer = match ask {
            TargetRequest::Session(number, of_session) => self.sessions.handle_request(number, of_session),
            TargetRequest::Registry(number, of_registry) => self.registries.handle_request(number, of_registry, asked),
            TargetRequest::Undo(wanted) => undo(wanted),
            TargetRequest::UndoPoints(wanted) => list_undo_points(wanted),
            TargetRequest::NewestToUndo(wanted) => find_newest_undo(wanted),
            TargetRequest::WarmUp(order) => self.warm_up(*order),
            TargetRequest::EndWorlds(owner) => {
                end_worlds(owner);
                Box::pin(async { Ok(TargetResponse::Done) })
            }
            TargetRequest::File(path, of_file) => {
                self.files.handle_request(&path, of_file, RequestTransfer::open(asked))
            }
            TargetRequest::Dial(host, port) => dial(host, port, RequestTransfer::open(asked)),
            TargetRequest::Carry(argv) => carry(argv, RequestTransfer::open(asked)),
            TargetRequest::Uninstall => {
                let removed = self.uninstall();
                Box::pin(async { removed.map(|()| TargetResponse::Done) })
            }
        };
        tokio::spawn(async move {
            last.set_event(answer.await.map_or_else(|error| TargetEvent::Failed(error.into()), TargetEvent::Answered));
        });
        Ok(())
    }

    /// Removes the file of this program now. The rest goes at its end, as it is in use.
    fn uninstall(&self) -> Result<(), RunError> {
        self.uninstalled.store(true, Ordering::Relaxed);
        Ok(InstalledProgram::own().map_or(Ok(()), |installed| installed.remove())?)
    }

    /// Gives up the questions of the host, which is gone. Returns whether the program is to remove itself.
    pub async fn give_requests_up(&self) -> bool {
        self.running().retain(|_, running| matches!(running, RunRoute::Command(_)));
        self.files.wait_for_writes().await;
        self.uninstalled.load(Ordering::Relaxed)
    }

    /// Adds a run. Returns what tells its last event.
    fn add(self: &Arc<Self>, run: u64, way: RunRoute) -> Result<LastEventGuard, LinkError> {
        let mut running = self.running();
        if running.len() >= MAX_RUNS + MAX_STANDING {
            return Err(LinkError::Unexpected("more runs than a host starts"));
        }
        if running.insert(run, way).is_some() {
            return Err(LinkError::Unexpected("a run that runs already"));
        }
        Ok(LastEventGuard { runs: Arc::clone(self), run, event: None })
    }

    fn warm_up(&self, order: TargetCommand) -> ResponseFuture {
        let raw = self.raw(order);
        Box::pin(async move { Ok(TargetResponse::Warm(warm_up(request_of::<SnapshotRequest>(raw?).await?).await?)) })
    }

    /// Returns the options of a command. Its safety was judged by the host.
    fn raw(&self, order: TargetCommand) -> Result<RawOptions, RunError> {
        let TargetCommand { mark, command, cwd, options, stdin, registry, background, .. } = order;
        let given = RawOptions::from_json(&options)?;
        let registry = registry.map(|number| self.registries.get(number)).transpose()?;
        let (host_env, umask) = (sys::environment(), self.umask);
        let raw = RawOptions { command, cwd, stdin, host_env, umask, registry, background, ..given };
        Ok(RawOptions { mark: Some(mark).filter(|mark| is_id(mark)), guard: None, ledger: false, ..raw })
    }

    /// Gives a command to the core.
    fn start_in_core(
        &self,
        order: TargetCommand,
        terminal: Option<Arc<CommandTerminal>>,
    ) -> Result<StartedTargetCommand, RunError> {
        let place = order.place;
        let ends = terminal.clone().map(TerminalEndGuard);
        let raw = RawOptions { terminal, ..self.raw(order)? };
        Ok(match (place, ends) {
            (TargetCommandPlace::Terminal { .. }, Some(ends)) => {
                StartedTargetCommand::InTerminal(SubmittedCommand::start(raw)?, ends)
            }
            (TargetCommandPlace::Shell | TargetCommandPlace::Terminal { .. }, _) => {
                StartedTargetCommand::Command(SubmittedCommand::start(raw)?)
            }
            (TargetCommandPlace::Session(number), _) => {
                StartedTargetCommand::InSession(SessionRun::start(&self.sessions.get(number)?, raw)?)
            }
        })
    }

    /// Passes the words of the host to a run. One that has just ended takes none.
    fn pass_call_on(&self, run: u64, call: TargetCall) {
        let running = self.running();
        let CommandRoute { replies, credit, terminal } = match running.get(&run) {
            Some(RunRoute::Command(way)) => way,
            Some(RunRoute::Question(words)) => {
                // It may have just been answered.
                let _gone = words.send(call);
                return;
            }
            None => return,
        };
        let reply = match call {
            TargetCall::OutputTaken(bytes) if credit.give_back(bytes) => match terminal {
                Some(terminal) => {
                    terminal.on_text_taken();
                    CallerReply::DataChanged
                }
                None => CallerReply::OutputTaken(None),
            },
            TargetCall::OutputTaken(_)
            | TargetCall::TaskOutputTaken(_)
            | TargetCall::Run(_)
            | TargetCall::Ask(_)
            | TargetCall::Part(_) => return,
            TargetCall::ListenerFailed(error) => CallerReply::OutputTaken(Some(error)),
            TargetCall::Abort => CallerReply::Abort,
            TargetCall::Listen => CallerReply::Listen,
            TargetCall::Input(bytes) => CallerReply::Input(bytes),
            TargetCall::Signal(signal) => CallerReply::Signal(signal),
            TargetCall::ViewTaken(failure) => CallerReply::ViewTaken(failure),
            TargetCall::PromptTaken(failure) => CallerReply::PromptTaken(failure),
            TargetCall::Type(bytes) => return command_terminal::write(terminal.as_ref(), bytes, &self.post, run),
            TargetCall::Resize(cols, rows) => return command_terminal::resize(terminal.as_ref(), cols, rows),
            TargetCall::Drawn(drawn) => {
                return terminal.iter().for_each(|terminal| terminal.set_drawn_elsewhere(drawn));
            }
        };
        // The run may have just ended.
        let _gone = replies.send(reply);
    }
}

impl StartedTargetCommand {
    /// Runs the command to its end. Returns its last event.
    async fn finish(self, listener: WireListener, inbox: UnboundedReceiver<CallerReply>) -> TargetEvent {
        let ended = match self {
            Self::Command(command) => command.finish(listener, inbox).await.map(|ran| (ran.outcome, None)),
            Self::InTerminal(command, ends) => {
                let ran = command.finish(listener, inbox).await;
                ends.0.on_program_exit(ran.as_ref().ok().and_then(|ran| ran.outcome.exit_code));
                ran.map(|ran| (ran.outcome, None))
            }
            Self::InSession(run) => run.finish(listener, inbox).await.map(|(outcome, cwd)| (outcome, Some(cwd))),
        };
        match ended {
            Ok((mut outcome, cwd)) => {
                let more = outcome.survivors.len().saturating_sub(LISTED_SURVIVORS);
                outcome.survivors.truncate(LISTED_SURVIVORS);
                outcome
                    .notes
                    .extend((more > 0).then(|| format!("{more} further processes live on, and are not listed")));
                TargetEvent::Ended(Box::new(outcome), cwd.map(|cwd| cwd.to_string_lossy().into_owned()))
            }
            Err(error) => TargetEvent::Failed(error.into()),
        }
    }
}

/// Tells the host the last event of a run, in any case: a fault here must leave no promise there that never settles.
struct LastEventGuard {
    runs: Arc<ProgramRuns>,
    run: u64,
    event: Option<TargetEvent>,
}

impl LastEventGuard {
    fn set_event(mut self, event: TargetEvent) {
        self.event = Some(event);
    }
}

impl Drop for LastEventGuard {
    fn drop(&mut self) {
        let fault =
            || TargetEvent::Failed(RunError::spawn("a fault of agent-bash itself; the command was ended", "").into());
        let event = self.event.take().unwrap_or_else(fault);
        self.runs.running().remove(&self.run);
        if let Err(error) = self.runs.post.send(self.run, &event) {
            // Room is left for all that is so short.
            let _unsent = self.runs.post.send(self.run, &without_content(event, error));
        }
    }
}

/// Returns what is left of the last event of a run that cannot be sent.
fn without_content(event: TargetEvent, error: WireError) -> TargetEvent {
    let why = match error {
        WireError::Waiting => "too much waits for the link",
        _ => "it is too large; lower `truncate.maxBytes`",
    };
    match event {
        TargetEvent::Ended(mut outcome, cwd) => {
            let (stdout, stderr) = Default::default();
            let notes = vec![format!("the command has ended as told, and its result could not be sent: {why}")];
            let (receipt, evidence, tap, view, truncation) = Default::default();
            outcome.survivors.truncate(MOST_SURVIVORS);
            *outcome = CommandOutcome { stdout, stderr, notes, receipt, evidence, tap, view, truncation, ..*outcome };
            TargetEvent::Ended(outcome, cwd)
        }
        _ => {
            let (code, message) = ("ERR_BASH_SPAWN".to_owned(), format!("the answer could not be sent: {why}"));
            TargetEvent::Failed(TargetFailure { code, message, errno: None, missing: Vec::new() })
        }
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
