//! One bridge a JavaScript thread: starts commands for it and tells it of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::Function;
use napi::{Env, Result};
use napi_derive::napi;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

use super::events::{Dispatch, NativeEvent, Teller};
use super::request::{NativeOptions, NativeRequest};
use crate::capture::Stream;
use crate::error::Error;
use crate::request::Request;
use crate::run::{Reply, Run};

/// The commands of one thread that have not ended yet.
type Running = Arc<Mutex<HashMap<u32, Command>>>;

struct Command {
    replies: UnboundedSender<Reply>,
    task: AbortHandle,
}

/// One JavaScript thread's way to the core. The process stays alive while a command of it runs, and not longer.
#[napi]
pub struct Bridge {
    dispatch: Arc<Mutex<Dispatch>>,
    running: Running,
    next: u32,
}

#[napi]
impl Bridge {
    /// `dispatch` hears every event of every command of this thread.
    ///
    /// # Errors
    /// When Node refuses to make the means to call it.
    #[napi(constructor)]
    pub fn new(env: Env, dispatch: Function<'_, NativeEvent, ()>) -> Result<Self> {
        let dispatch = dispatch
            .build_threadsafe_function::<NativeEvent>()
            .weak::<true>()
            .build_callback(|context| Ok(context.value))?;
        let running = Running::default();
        // The thread ends: its commands end with it. Dropping one closes its socket, which is what its shim goes by.
        env.add_env_cleanup_hook(Arc::clone(&running), |running| {
            for (_, command) in running.lock().unwrap_or_else(PoisonError::into_inner).drain() {
                command.task.abort();
            }
        })?;
        Ok(Self { dispatch: Arc::new(Mutex::new(dispatch)), running, next: 0 })
    }

    /// Starts a command and returns its number. `cwd` is an absolute path, `host_env` `process.env` of the thread as
    /// `NAME=VALUE`, each ended by a NUL, `umask` that of the process. Everything else, errors too, comes as events; one with `result` or
    /// `error` is the last.
    #[napi]
    pub fn start(
        &mut self,
        command: String,
        cwd: String,
        host_env: String,
        umask: u32,
        options: Option<NativeOptions>,
    ) -> u32 {
        self.next = self.next.wrapping_add(1);
        let id = self.next;
        let teller = Teller { id, dispatch: Arc::clone(&self.dispatch) };
        let raw = NativeRequest { command, cwd, host_env, umask, options: options.unwrap_or_default() };
        let run = match Request::check(raw.into()).and_then(Run::begin) {
            Ok(run) => run,
            Err(error) => {
                teller.tell(failed(error));
                return id;
            }
        };
        let (replies, inbox) = unbounded_channel();
        let last = LastWord {
            teller: Some(Teller { id, dispatch: Arc::clone(&self.dispatch) }),
            running: Arc::clone(&self.running),
        };
        // Held until the command is listed, so that one that ends at once finds itself in the list.
        let mut listed = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let task = run.runtime().spawn(async move {
            let event = match run.finish(teller, inbox).await {
                Ok(outcome) => NativeEvent { result: Some(outcome.into()), ..NativeEvent::default() },
                Err(error) => failed(error),
            };
            last.say(event);
        });
        listed.insert(id, Command { replies, task: task.abort_handle() });
        id
    }

    /// Ends a command's tree. One that has ended already is left alone.
    #[napi]
    pub fn abort(&self, id: u32) {
        self.reply(id, Reply::Abort);
    }

    /// The listener has taken the last output, or has failed with this error.
    #[napi]
    pub fn heard(&self, id: u32, failure: Option<String>) {
        self.reply(id, Reply::Heard(failure));
    }

    /// The listener has taken the last snapshot, or has failed with this error.
    #[napi]
    pub fn seen(&self, id: u32, failure: Option<String>) {
        self.reply(id, Reply::Seen(failure));
    }

    /// A stream goes to `path`, known as `artifact`, or nowhere because of `failure`.
    #[napi]
    pub fn allocated(
        &self,
        id: u32,
        stream: String,
        artifact: Option<String>,
        path: Option<String>,
        failure: Option<String>,
    ) {
        let stream = if stream == Stream::Stderr.name() { Stream::Stderr } else { Stream::Stdout };
        let answer = match (artifact, path) {
            (Some(artifact), Some(path)) => Ok((artifact, path)),
            _ => Err(failure.unwrap_or_else(|| "no place was allocated".to_owned())),
        };
        self.reply(id, Reply::Allocated(stream, answer));
    }

    /// Keeps the process alive while commands run.
    ///
    /// # Errors
    /// When the thread is ending.
    #[napi]
    pub fn hold(&self, env: Env, on: bool) -> Result<()> {
        let mut dispatch = self.dispatch.lock().unwrap_or_else(PoisonError::into_inner);
        #[expect(
            deprecated,
            reason = "there is no other way to hold the event loop by a function that is called from outside"
        )]
        if on { dispatch.refer(&env) } else { dispatch.unref(&env) }
    }

    fn reply(&self, id: u32, reply: Reply) {
        if let Some(command) = self.running.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            // A command that has just ended needs no answer any more.
            let _ = command.replies.send(reply);
        }
    }
}

/// The last event of a command. It is said in any case: a fault of ours must not leave a promise that never settles.
struct LastWord {
    teller: Option<Teller>,
    running: Running,
}

impl LastWord {
    fn say(mut self, event: NativeEvent) {
        self.settle(event);
    }

    fn settle(&mut self, event: NativeEvent) {
        if let Some(teller) = self.teller.take() {
            self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&teller.id);
            teller.tell(event);
        }
    }
}

impl Drop for LastWord {
    fn drop(&mut self) {
        let fault = "a fault of agent-bash itself; the command was ended. Please report it";
        self.settle(failed(Error::spawn(fault, None, "")));
    }
}

fn failed(error: Error) -> NativeEvent {
    NativeEvent { error: Some(error.into()), ..NativeEvent::default() }
}
