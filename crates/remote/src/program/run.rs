//! The commands of the host, each one a run of the core with the wire as its listener.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::link::LinkError;
use crate::messages::{Call, Event, Failure, Order, decode};
use crate::post::Post;
use capture::Stream;
use runner::error::Error;
use runner::request::RawOptions;
use runner::run::{Command, Listener, LiveView, Prompt, Reply};
use runner::snapshot::Wanted;
use wire::Message;

/// Bytes of output that a run sends before its listener has taken any.
pub const CREDIT: u64 = 1024 * 1024;
/// Most runs at once. A host lets more wait.
pub const MAX_RUNS: usize = 1024;

/// The runs that have not ended.
pub struct Runs {
    post: Arc<Post>,
    /// The mode mask of new files.
    umask: u32,
    running: Mutex<HashMap<u64, Running>>,
}

struct Running {
    replies: UnboundedSender<Reply>,
    credit: Arc<Mutex<Credit>>,
}

/// The output that was sent and not taken.
#[derive(Default)]
struct Credit {
    bytes: u64,
    /// Whether the command is held back until its listener takes more.
    held: bool,
}

impl Runs {
    pub fn new(post: Arc<Post>, umask: u32) -> Arc<Self> {
        Arc::new(Self { post, umask, running: Mutex::default() })
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u64, Running>> {
        lock(&self.running)
    }

    /// Takes a message of the host.
    ///
    /// # Errors
    /// If it is none that a host of ours sends.
    pub fn take(self: &Arc<Self>, Message { run, payload }: Message) -> Result<(), LinkError> {
        match decode(&payload)? {
            Call::Run(order) => self.start(run, *order)?,
            call => self.reply(run, call),
        }
        Ok(())
    }

    fn start(self: &Arc<Self>, run: u64, order: Order) -> Result<(), LinkError> {
        let (replies, inbox) = unbounded_channel();
        let credit = Arc::new(Mutex::new(Credit::default()));
        let listener =
            Wire { post: Arc::clone(&self.post), run, credit: Arc::clone(&credit), replies: replies.clone() };
        {
            let mut running = self.running();
            if running.len() >= MAX_RUNS {
                return Err(LinkError::Unexpected("more runs than a host starts"));
            }
            if running.insert(run, Running { replies, credit }).is_some() {
                return Err(LinkError::Unexpected("a run that runs already"));
            }
        }
        let last = Last { runs: Arc::clone(self), run, event: None };
        let started = raw_options(order, self.umask).and_then(Command::<Wanted>::start);
        tokio::spawn(async move {
            let ended = match started {
                Ok(command) => command.finish(listener, inbox).await.map(|finished| finished.outcome),
                Err(error) => Err(error),
            };
            last.tell(match ended {
                Ok(outcome) => Event::Ended(Box::new(outcome)),
                Err(error) => Event::Failed(error.into()),
            });
        });
        Ok(())
    }

    /// Passes the words of the host to a run. One that has just ended takes none.
    fn reply(&self, run: u64, call: Call) {
        let running = self.running();
        let Some(Running { replies, credit }) = running.get(&run) else { return };
        let reply = match call {
            Call::OutputTaken(bytes) => {
                let mut credit = lock(credit);
                credit.bytes = credit.bytes.saturating_sub(bytes);
                let goes_on = credit.held && credit.bytes < CREDIT;
                credit.held &= !goes_on;
                if !goes_on {
                    return;
                }
                Reply::OutputTaken(None)
            }
            Call::ListenerFailed(error) => Reply::OutputTaken(Some(error)),
            Call::Abort => Reply::Abort,
            Call::Input(bytes) => Reply::Input(bytes),
            Call::Signal(signal) => Reply::Signal(signal),
            Call::ViewTaken(failure) => Reply::ViewTaken(failure),
            Call::PromptTaken(failure) => Reply::PromptTaken(failure),
            Call::Run(_) => return,
        };
        // The run may have just ended.
        let _gone = replies.send(reply);
    }
}

/// Returns the options of an order. Its safety was judged by the host.
fn raw_options(Order { command, cwd, options, stdin, place: _ }: Order, umask: u32) -> Result<RawOptions, Error> {
    let given = RawOptions::from_json(&options)?;
    Ok(RawOptions { command, cwd, stdin, host_env: sys::environment(), umask, guard: None, ..given })
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
        if self.runs.post.send(self.run, &event).is_err() {
            let message = "the result is too large to be sent; lower `truncate.maxBytes`".to_owned();
            let code = "ERR_BASH_SPAWN".to_owned();
            let failure = Failure { code, message, errno: None, missing: Vec::new() };
            // Nothing is left to be said over a link that takes not even this.
            let _unsent = self.runs.post.send(self.run, &Event::Failed(failure));
        }
    }
}

/// Sends the events of a run to its host.
struct Wire {
    post: Arc<Post>,
    run: u64,
    credit: Arc<Mutex<Credit>>,
    replies: UnboundedSender<Reply>,
}

impl Wire {
    fn send(&self, event: &Event) -> bool {
        self.post.send(self.run, event).is_ok()
    }

    fn reply(&self, reply: Reply) {
        // The run may be ending.
        let _gone = self.replies.send(reply);
    }
}

impl Listener for Wire {
    fn output(&self, stream: Stream, text: String) {
        let bytes = text.len() as u64;
        if !self.send(&Event::Output(stream, text)) {
            return self.reply(Reply::OutputTaken(Some("too much output waits for a link".to_owned())));
        }
        let mut credit = lock(&self.credit);
        credit.bytes += bytes;
        credit.held = credit.bytes >= CREDIT;
        if !credit.held {
            self.reply(Reply::OutputTaken(None));
        }
    }

    fn started(&self, pid: i32, cwd: &Path) {
        self.send(&Event::Started(pid, cwd.to_string_lossy().into_owned()));
    }

    fn exited(&self) {
        self.send(&Event::Exited);
    }

    fn input_taken(&self, open: bool) {
        self.send(&Event::InputTaken(open));
    }

    fn live_view(&self, LiveView { pid, stdout, stderr, elapsed }: LiveView) {
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.send(&Event::View { pid, stdout, stderr, elapsed_ms });
    }

    fn prompt(&self, Prompt { pid, command, text }: Prompt) {
        self.send(&Event::Prompt { pid, command, text });
    }

    fn allocate(&self, stream: Stream) {
        let refused = runner::run::Allocation::Failed("a command on a target has no artifact store".to_owned());
        self.reply(Reply::Allocated(stream, refused));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
