//! One command on a target.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use super::connect::NotReady;
use super::error::TargetError;
use super::target::{Happened, State, Target};
use crate::messages::{Call, Event, Failure, Order};
use crate::post::Post;
use runner::error::Error;
use runner::run::outcome::{Outcome, Status};
use runner::run::{Listener, LiveView, Prompt, Reply};

/// The note of a run that a cut has interrupted.
const CUT: &str = "the connection to the target was cut while the command ran, and nothing of it was lost";
/// The note of a run that was aborted while the link was down.
const ABORTED_WHILE_DOWN: &str = "the target cannot be reached: the command may run there until the connection is back, or the target gives up waiting";
/// Exit code after an abort.
const ABORTED: i32 = 130;
/// Time beyond its grace that an abort may take while the link is down.
const ABORT_BOUND: Duration = Duration::from_secs(1);

/// How a run on a target ended.
pub enum Distant {
    /// It has an outcome.
    Outcome(Box<Outcome>),
    /// Nothing was run.
    Failed(Error),
    /// The target cannot be reached, and nothing was started.
    Unreachable(TargetError),
}

impl Target {
    /// Runs a command there. `judged`: the outcome of the command if it was not started, with notes from its judgement.
    /// `grace`: its time between SIGTERM and SIGKILL.
    pub async fn run(
        self: &Arc<Self>,
        order: Order,
        judged: Outcome,
        grace: Duration,
        listener: impl Listener,
        mut replies: UnboundedReceiver<Reply>,
    ) -> Distant {
        let mut early = Vec::new();
        let ready = tokio::select! {
            biased;
            () = aborted(&mut replies, &mut early) => return Distant::Outcome(Box::new(judged)),
            ready = self.ready() => ready,
        };
        match ready {
            Ok(()) => {}
            Err(NotReady::Closed) => return Distant::Failed(closed(self.id())),
            Err(NotReady::Unreachable(error)) => return Distant::Unreachable(error),
        }
        let (run, happened) = self.add_run();
        let post = Arc::clone(&self.instance().post);
        let guard = Registered { target: Arc::clone(self), run };
        if post.send(run, &Call::Run(Box::new(order))).is_err() {
            return Distant::Failed(Error::InvalidArg("the command with its input is too large for a target".into()));
        }
        for call in early.into_iter().filter_map(|reply| call_of(reply, &mut 0)) {
            let _full = post.send(run, &call);
        }
        let ended = Running { target: self, post, run, grace }.drive(happened, &listener, &mut replies).await;
        drop(guard);
        match ended {
            Ended::Outcome(mut outcome, was_cut) => {
                let mut notes = judged.notes;
                notes.append(&mut outcome.notes);
                notes.extend(was_cut.then(|| CUT.to_owned()));
                outcome.notes = notes;
                Distant::Outcome(outcome)
            }
            Ended::Failed(failure) => Distant::Failed(error_of(failure)),
            Ended::Lost(why) => Distant::Outcome(Box::new(lost(judged, why))),
            Ended::AbortedWhileDown => {
                let notes = judged.notes.iter().cloned().chain([ABORTED_WHILE_DOWN.to_owned()]).collect();
                Distant::Outcome(Box::new(Outcome { notes, exit_code: Some(ABORTED), ..judged }))
            }
        }
    }
}

/// Waits until the caller aborts. Keeps what else it says.
async fn aborted(replies: &mut UnboundedReceiver<Reply>, early: &mut Vec<Reply>) {
    loop {
        match replies.recv().await {
            Some(Reply::Abort) => return,
            Some(reply) => early.push(reply),
            None => std::future::pending().await,
        }
    }
}

/// Returns the outcome of a command whose end is not known.
fn lost(judged: Outcome, why: &str) -> Outcome {
    let notes = judged.notes.iter().cloned().chain([format!("the command is lost: {why}")]).collect();
    Outcome { status: Status::Lost, exit_code: None, ended_by: None, receipt: None, evidence: None, notes, ..judged }
}

fn closed(id: &str) -> Error {
    Error::There { code: "ERR_BASH_CLOSED", message: format!("the target {id} was closed"), errno: None }
}

/// Returns the error that the program reports. A code that no program of ours has is a fault there.
fn error_of(Failure { code, message, errno, missing }: Failure) -> Error {
    if !missing.is_empty() {
        return Error::Confinement(missing);
    }
    let known = Error::CODES.into_iter().find(|known| *known == code);
    Error::There { code: known.unwrap_or("ERR_BASH_SPAWN"), message, errno }
}

/// Forgets a run that has ended or was given up.
struct Registered {
    target: Arc<Target>,
    run: u64,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.target.remove_run(self.run);
    }
}

struct Running<'a> {
    target: &'a Arc<Target>,
    post: Arc<Post>,
    run: u64,
    grace: Duration,
}

enum Ended {
    /// The outcome, and whether the run saw a cut.
    Outcome(Box<Outcome>, bool),
    Failed(Failure),
    Lost(&'static str),
    AbortedWhileDown,
}

impl Running<'_> {
    /// Passes events to the listener and replies to the program until the run has ended.
    async fn drive(
        self,
        mut happened: UnboundedReceiver<Happened>,
        listener: &impl Listener,
        replies: &mut UnboundedReceiver<Reply>,
    ) -> Ended {
        let mut state = self.target.state.subscribe();
        let mut was_cut = false;
        let mut abort_by: Option<Instant> = None;
        // Output that the listener was given and has not taken, in bytes.
        let mut given = 0;
        loop {
            let down = *state.borrow_and_update() == State::Disconnected;
            was_cut |= down;
            tokio::select! {
                biased;
                next = happened.recv() => match next {
                    Some(Happened::Event(Event::Ended(outcome))) => return Ended::Outcome(outcome, was_cut),
                    Some(Happened::Event(Event::Failed(failure))) => return Ended::Failed(failure),
                    Some(Happened::Event(event)) => given += pass(event, listener),
                    Some(Happened::Lost(why)) => return Ended::Lost(why),
                    None => return Ended::Lost("the target was closed"),
                },
                Some(reply) = replies.recv() => {
                    if matches!(reply, Reply::Abort) && abort_by.is_none() {
                        abort_by = Some(Instant::now() + self.grace + ABORT_BOUND);
                    }
                    if let Some(call) = call_of(reply, &mut given) {
                        // A mailbox that is full is that of a link that is down. The run ends with its lease.
                        let _full = self.post.send(self.run, &call);
                    }
                }
                changed = state.changed() => if changed.is_err() || self.target.state() == State::Closed {
                    return Ended::Lost("the target was closed");
                },
                () = sleep_until(abort_by.unwrap_or_else(Instant::now)), if abort_by.is_some() && down => {
                    return Ended::AbortedWhileDown;
                }
            }
        }
    }
}

/// Passes an event to the listener. Returns the bytes of output that it was given.
fn pass(event: Event, listener: &impl Listener) -> u64 {
    match event {
        Event::Output(stream, text) => {
            let bytes = text.len() as u64;
            listener.output(stream, text);
            return bytes;
        }
        Event::Started(pid, cwd) => listener.started(pid, Path::new(&cwd)),
        Event::Exited => listener.exited(),
        Event::InputTaken(open) => listener.input_taken(open),
        Event::View { pid, stdout, stderr, elapsed_ms } => {
            listener.live_view(LiveView { pid, stdout, stderr, elapsed: Duration::from_millis(elapsed_ms) });
        }
        Event::Prompt { pid, command, text } => listener.prompt(Prompt { pid, command, text }),
        Event::Ended(_) | Event::Failed(_) => {}
    }
    0
}

/// Returns what a reply is for the program. `given`: the output that the listener has and has not taken.
fn call_of(reply: Reply, given: &mut u64) -> Option<Call> {
    Some(match reply {
        Reply::Abort => Call::Abort,
        Reply::OutputTaken(None) => Call::OutputTaken(std::mem::take(given)),
        Reply::OutputTaken(Some(error)) => Call::ListenerFailed(error),
        Reply::Input(bytes) => Call::Input(bytes),
        Reply::Signal(signal) => Call::Signal(signal),
        Reply::ViewTaken(failure) => Call::ViewTaken(failure),
        Reply::PromptTaken(failure) => Call::PromptTaken(failure),
        Reply::DataChanged | Reply::Allocated(..) | Reply::Order(_) => return None,
    })
}
