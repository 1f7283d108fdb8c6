//! What one JavaScript thread has asked for and not heard the end of.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::events::{Dispatch, NativeEvent, Teller};
use super::request::NativeRequest;
use super::result::BackgroundTask;
use super::safety;
use crate::background::Registry;
use crate::error::Error;
use crate::request::RawOptions;
use crate::run::{Reply, Run, warm_up};
use crate::snapshot::{Start, request_of};

/// The commands, calls and registries of one thread.
pub struct Calls {
    dispatch: Mutex<Dispatch>,
    pending: Mutex<HashMap<u32, Call>>,
    /// Until they are closed, or the thread ends: their tasks are theirs though nobody holds them.
    registries: Mutex<HashMap<u32, Arc<Registry>>>,
    next: AtomicU32,
}

/// One of them.
struct Call {
    reply: Option<UnboundedSender<Reply>>,
    give_up: Option<oneshot::Sender<()>>,
    task: AbortHandle,
}

impl Calls {
    pub fn new(dispatch: Dispatch) -> Arc<Self> {
        Arc::new(Self {
            dispatch: Mutex::new(dispatch),
            pending: Mutex::default(),
            registries: Mutex::default(),
            next: AtomicU32::new(1),
        })
    }

    /// A number that nothing else of this thread has.
    pub fn number(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub fn dispatch(&self) -> MutexGuard<'_, Dispatch> {
        self.dispatch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<u32, Call>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn registries(&self) -> MutexGuard<'_, HashMap<u32, Arc<Registry>>> {
        self.registries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn teller(self: &Arc<Self>, id: u32) -> Teller {
        Teller { id, calls: Arc::clone(self) }
    }

    /// The thread ends: its commands end with it, and so do tasks that outlive nobody. Dropping a command closes its
    /// socket, which is what its shim goes by.
    pub fn end(&self) {
        for (_, call) in self.pending().drain() {
            call.task.abort();
        }
        for (_, registry) in self.registries().drain() {
            registry.shut();
        }
    }

    pub fn reply(&self, id: u32, reply: Reply) {
        if let Some(sender) = self.pending().get(&id).and_then(|call| call.reply.as_ref()) {
            // A command that has just ended needs no answer any more.
            let _ = sender.send(reply);
        }
    }

    /// Gives a command or a wait up.
    pub fn abort(&self, id: u32) {
        if let Some(call) = self.pending().get_mut(&id) {
            if let Some(sender) = &call.reply {
                let _ = sender.send(Reply::Abort);
            }
            if let Some(give_up) = call.give_up.take() {
                let _ = give_up.send(());
            }
        }
    }

    /// What has begun; why it could not is the last word on it.
    pub fn begun<T>(self: &Arc<Self>, id: u32, begun: Result<T, Error>) -> Option<T> {
        begun.map_err(|error| self.teller(id).tell(failed(error))).ok()
    }

    /// The registry that a command is to use; an error when it was closed.
    pub fn registry_of(&self, native: &NativeRequest) -> Result<Option<Arc<Registry>>, Error> {
        let Some(number) = native.options.registry else { return Ok(None) };
        self.registries().get(&number).cloned().map(Some).ok_or(Error::Closed)
    }

    /// Starts a command; with `as_task` the answer is the task that it is from then on.
    pub fn run(self: &Arc<Self>, native: NativeRequest, as_task: bool) -> u32 {
        let id = self.number();
        let begun = self.registry_of(&native).and_then(|registry| {
            let guard = safety::guard(native.options.safety.as_ref()).map_err(Error::InvalidArg)?;
            let raw = RawOptions { registry, background: as_task, guard, ..native.into() };
            let start = Start::begin(raw)?;
            Ok((start.runtime()?, start))
        });
        let Some((runtime, run)) = self.begun(id, begun) else { return id };
        let (reply, inbox) = unbounded_channel();
        let teller = self.teller(id);
        self.call(id, runtime, Some(reply), None, async move {
            match run.finish(teller, inbox).await.map(|ran| ran.outcome) {
                Ok(outcome) if !as_task => NativeEvent { result: Some(outcome.into()), ..NativeEvent::default() },
                Ok(outcome) => match outcome.background {
                    Some((task, store)) => {
                        NativeEvent { task: Some(BackgroundTask::of(task, &store)), ..NativeEvent::default() }
                    }
                    None => failed(Error::Aborted),
                },
                Err(error) => failed(error),
            }
        });
        id
    }

    /// Has a shell wait for commands like this one; the answer is whether one does.
    pub fn warm_up(self: &Arc<Self>, native: NativeRequest) -> u32 {
        let id = self.number();
        let Some(runtime) = self.begun(id, Run::anywhere()) else { return id };
        self.call(id, runtime, None, None, async move {
            let waits = match request_of(native.into()).await {
                Ok(request) => warm_up(request).await,
                Err(error) => Err(error),
            };
            match waits {
                Ok(waits) => NativeEvent { waits: Some(waits), ..NativeEvent::default() },
                Err(error) => failed(error),
            }
        });
        id
    }

    /// Has something done whose last word is an event.
    pub fn call(
        self: &Arc<Self>,
        id: u32,
        runtime: &tokio::runtime::Handle,
        reply: Option<UnboundedSender<Reply>>,
        give_up: Option<oneshot::Sender<()>>,
        work: impl Future<Output = NativeEvent> + Send + 'static,
    ) {
        let last = LastWord(Some(self.teller(id)));
        // Held until the call is listed, so that one that ends at once finds itself in the list.
        let mut pending = self.pending();
        let task = runtime.spawn(async move { last.say(work.await) }).abort_handle();
        pending.insert(id, Call { reply, give_up, task });
    }
}

/// The last event of a call. It is said in any case: a fault of ours must not leave a promise that never settles.
struct LastWord(Option<Teller>);

impl LastWord {
    fn say(mut self, event: NativeEvent) {
        self.settle(event);
    }

    fn settle(&mut self, event: NativeEvent) {
        if let Some(teller) = self.0.take() {
            teller.calls.pending().remove(&teller.id);
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

/// The event of an error.
pub fn failed(error: Error) -> NativeEvent {
    NativeEvent { error: Some(error.into()), ..NativeEvent::default() }
}
