//! What the host asks for: commands, each one a run of the core with the wire as its listener, and questions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::exchange::Exchange;
use super::files::Files;
use super::installed::Installed;
use super::listener::{Credit, Wire};
use super::ports::dial;
use super::registries::{Asked, Registries};
use super::sessions::{Answering, Sessions};
use super::terminal::{self, Ends};
use super::undoing::{newest, points, undo};
use crate::flow::{MAX_RUNS, MAX_STANDING};
use crate::link::LinkError;
use crate::messages::{Answer, Ask, Call, Event, Failure, Order, Place, decode, is_id};
use crate::post::Post;
use runner::error::Error;
use runner::pty::Terminal;
use runner::request::RawOptions;
use runner::run::outcome::Outcome;
use runner::run::{Command, LISTED_SURVIVORS, Reply, request_of, warm_up};
use runner::session::SessionRun;
use runner::snapshot::Wanted;
use wire::{MailboxMessage, WireError};

/// Most survivors that are told of a command whose result could not be sent.
const MOST_SURVIVORS: usize = 16;

/// The runs that have not ended, and what outlives a run.
pub struct Runs {
    post: Arc<Post>,
    /// The mode mask of new files.
    umask: u32,
    running: Mutex<HashMap<u64, Running>>,
    sessions: Sessions,
    registries: Registries,
    files: Files,
    /// Whether the program is to remove itself.
    uninstalled: AtomicBool,
}

/// The way to a run.
enum Running {
    Command(Way),
    Question(UnboundedSender<Call>),
}

/// The way to a command.
struct Way {
    replies: UnboundedSender<Reply>,
    credit: Arc<Credit>,
    terminal: Option<Arc<Terminal>>,
}

/// A command that was given to the core.
enum Started {
    Command(Command<Wanted>),
    InTerminal(Command<Wanted>, Ends),
    InSession(SessionRun),
}

impl Runs {
    pub fn new(post: Arc<Post>, umask: u32) -> Arc<Self> {
        let (running, sessions, registries, uninstalled) = Default::default();
        Arc::new(Self { post, umask, running, sessions, registries, files: Files::new(umask), uninstalled })
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u64, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a message of the host.
    ///
    /// # Errors
    /// If it is none that a host of ours sends.
    pub fn take(self: &Arc<Self>, MailboxMessage { run, payload }: MailboxMessage) -> Result<(), LinkError> {
        match decode(&payload)? {
            Call::Run(order) => self.start(run, *order),
            Call::Ask(ask) => self.ask(run, ask),
            call => {
                self.reply(run, call);
                Ok(())
            }
        }
    }

    fn start(self: &Arc<Self>, run: u64, order: Order) -> Result<(), LinkError> {
        let (replies, inbox) = unbounded_channel();
        let credit = Arc::<Credit>::default();
        let terminal = terminal::of(order.place);
        let way = Way { replies: replies.clone(), credit: Arc::clone(&credit), terminal: terminal.clone() };
        let last = self.add(run, Running::Command(way))?;
        let listener = Wire { post: Arc::clone(&self.post), run, credit, replies, terminal: terminal.clone() };
        // Commands of a session have their turns in the order in which they arrive.
        let started = self.started(order, terminal);
        tokio::spawn(async move {
            let ended = match started {
                Ok(started) => started.finish(listener, inbox).await,
                Err(error) => Event::Failed(error.into()),
            };
            last.tell(ended);
        });
        Ok(())
    }

    fn ask(self: &Arc<Self>, run: u64, ask: Ask) -> Result<(), LinkError> {
        let (words, further) = unbounded_channel();
        let last = self.add(run, Running::Question(words))?;
        let asked = Asked { post: Arc::clone(&self.post), run, further };
        let answer = match ask {
            Ask::Session(number, of_session) => self.sessions.ask(number, of_session),
            Ask::Registry(number, of_registry) => self.registries.ask(number, of_registry, asked),
            Ask::Undo(wanted) => undo(wanted),
            Ask::UndoPoints(wanted) => points(wanted),
            Ask::NewestToUndo(wanted) => newest(wanted),
            Ask::WarmUp(order) => self.warm_up(*order),
            Ask::File(path, of_file) => self.files.ask(&path, of_file, Exchange::of(asked)),
            Ask::Dial(host, port) => dial(host, port, Exchange::of(asked)),
            Ask::Uninstall => {
                let removed = self.uninstall();
                Box::pin(async { removed.map(|()| Answer::Done) })
            }
        };
        tokio::spawn(async move {
            last.tell(answer.await.map_or_else(|error| Event::Failed(error.into()), Event::Answered));
        });
        Ok(())
    }

    /// Removes the file of this program now. The rest goes at its end, as it is in use.
    fn uninstall(&self) -> Result<(), Error> {
        self.uninstalled.store(true, Ordering::Relaxed);
        Ok(Installed::own().map_or(Ok(()), |installed| installed.remove())?)
    }

    /// Gives up the questions of the host, which is gone. Returns whether the program is to remove itself.
    pub async fn shut(&self) -> bool {
        self.running().retain(|_, running| matches!(running, Running::Command(_)));
        self.files.tidy().await;
        self.uninstalled.load(Ordering::Relaxed)
    }

    /// Adds a run. Returns what tells its last event.
    fn add(self: &Arc<Self>, run: u64, way: Running) -> Result<Last, LinkError> {
        let mut running = self.running();
        if running.len() >= MAX_RUNS + MAX_STANDING {
            return Err(LinkError::Unexpected("more runs than a host starts"));
        }
        if running.insert(run, way).is_some() {
            return Err(LinkError::Unexpected("a run that runs already"));
        }
        Ok(Last { runs: Arc::clone(self), run, event: None })
    }

    fn warm_up(&self, order: Order) -> Answering {
        let raw = self.raw(order);
        Box::pin(async move { Ok(Answer::Warm(warm_up(request_of::<Wanted>(raw?).await?).await?)) })
    }

    /// Returns the options of a command. Its safety was judged by the host.
    fn raw(&self, order: Order) -> Result<RawOptions, Error> {
        let Order { mark, command, cwd, options, stdin, registry, background, .. } = order;
        let given = RawOptions::from_json(&options)?;
        let registry = registry.map(|number| self.registries.get(number)).transpose()?;
        let (host_env, umask) = (sys::environment(), self.umask);
        let raw = RawOptions { command, cwd, stdin, host_env, umask, registry, background, ..given };
        Ok(RawOptions { mark: Some(mark).filter(|mark| is_id(mark)), guard: None, ledger: false, ..raw })
    }

    /// Gives a command to the core.
    fn started(&self, order: Order, terminal: Option<Arc<Terminal>>) -> Result<Started, Error> {
        let place = order.place;
        let ends = terminal.clone().map(Ends);
        let raw = RawOptions { terminal, ..self.raw(order)? };
        Ok(match (place, ends) {
            (Place::Terminal { .. }, Some(ends)) => Started::InTerminal(Command::start(raw)?, ends),
            (Place::Shell | Place::Terminal { .. }, _) => Started::Command(Command::start(raw)?),
            (Place::Session(number), _) => Started::InSession(SessionRun::start(&self.sessions.get(number)?, raw)?),
        })
    }

    /// Passes the words of the host to a run. One that has just ended takes none.
    fn reply(&self, run: u64, call: Call) {
        let running = self.running();
        let Way { replies, credit, terminal } = match running.get(&run) {
            Some(Running::Command(way)) => way,
            Some(Running::Question(words)) => {
                // It may have just been answered.
                let _gone = words.send(call);
                return;
            }
            None => return,
        };
        let reply = match call {
            Call::OutputTaken(bytes) if credit.taken(bytes) => match terminal {
                Some(terminal) => {
                    terminal.heard();
                    Reply::DataChanged
                }
                None => Reply::OutputTaken(None),
            },
            Call::OutputTaken(_) | Call::TaskOutputTaken(_) | Call::Run(_) | Call::Ask(_) | Call::Part(_) => return,
            Call::ListenerFailed(error) => Reply::OutputTaken(Some(error)),
            Call::Abort => Reply::Abort,
            Call::Input(bytes) => Reply::Input(bytes),
            Call::Signal(signal) => Reply::Signal(signal),
            Call::ViewTaken(failure) => Reply::ViewTaken(failure),
            Call::PromptTaken(failure) => Reply::PromptTaken(failure),
            Call::Type(bytes) => return terminal::write(terminal.as_ref(), bytes, &self.post, run),
            Call::Resize(cols, rows) => return terminal::resize(terminal.as_ref(), cols, rows),
            Call::Drawn(drawn) => return terminal.iter().for_each(|terminal| terminal.sent_away(drawn)),
        };
        // The run may have just ended.
        let _gone = replies.send(reply);
    }
}

impl Started {
    /// Runs the command to its end. Returns its last event.
    async fn finish(self, listener: Wire, inbox: UnboundedReceiver<Reply>) -> Event {
        let ended = match self {
            Self::Command(command) => command.finish(listener, inbox).await.map(|ran| (ran.outcome, None)),
            Self::InTerminal(command, ends) => {
                let ran = command.finish(listener, inbox).await;
                ends.0.end(ran.as_ref().ok().and_then(|ran| ran.outcome.exit_code));
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
                Event::Ended(Box::new(outcome), cwd.map(|cwd| cwd.to_string_lossy().into_owned()))
            }
            Err(error) => Event::Failed(error.into()),
        }
    }
}

/// Tells the host the last event of a run, in any case: a fault here must leave no promise there that never settles.
struct Last {
    runs: Arc<Runs>,
    run: u64,
    event: Option<Event>,
}

impl Last {
    fn tell(mut self, event: Event) {
        self.event = Some(event);
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        let fault = || Event::Failed(Error::spawn("a fault of agent-bash itself; the command was ended", "").into());
        let event = self.event.take().unwrap_or_else(fault);
        self.runs.running().remove(&self.run);
        if let Err(error) = self.runs.post.send(self.run, &event) {
            // Room is left for all that is so short.
            let _unsent = self.runs.post.send(self.run, &without_content(event, error));
        }
    }
}

/// Returns what is left of the last event of a run that cannot be sent.
fn without_content(event: Event, error: WireError) -> Event {
    let why = match error {
        WireError::Waiting => "too much waits for the link",
        _ => "it is too large; lower `truncate.maxBytes`",
    };
    match event {
        Event::Ended(mut outcome, cwd) => {
            let (stdout, stderr) = Default::default();
            let notes = vec![format!("the command has ended as told, and its result could not be sent: {why}")];
            let (receipt, evidence, tap, view, truncation) = Default::default();
            outcome.survivors.truncate(MOST_SURVIVORS);
            *outcome = Outcome { stdout, stderr, notes, receipt, evidence, tap, view, truncation, ..*outcome };
            Event::Ended(outcome, cwd)
        }
        _ => {
            let (code, message) = ("ERR_BASH_SPAWN".to_owned(), format!("the answer could not be sent: {why}"));
            Event::Failed(Failure { code, message, errno: None, missing: Vec::new() })
        }
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
