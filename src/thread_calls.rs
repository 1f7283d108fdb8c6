//! The calls of one JavaScript thread that have not settled.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::any_task_registry::AnyTaskRegistry;
use super::event_emitter::{CallEventEmitter, EventDispatcher};
use super::native_event::NativeEvent;
use super::request::NativeRequest;
use super::result::BackgroundTask;
use ledger::wait_for_pending;
use remote::client::{PortForward, RemoteTarget};
use runner::error::RunError;
use runner::registry::{RegistryError, TaskRegistry};
use runner::request::RawOptions;
use runner::run::{CallerReply, SubmittedCommand, request_of, runtime, warm_up};
use runner::snapshot::SnapshotRequest;

/// Time a thread that exits may wait for records of the ledger.
const LAST_RECORDS: Duration = Duration::from_millis(100);

/// The commands, calls and registries of one thread.
pub struct ThreadCalls {
    dispatcher: EventDispatcher,
    pending: Mutex<HashMap<u32, PendingCall>>,
    /// Registries stay here until they are closed or the thread ends, even if JavaScript has dropped them.
    registries: Mutex<HashMap<u32, AnyTaskRegistry>>,
    /// Targets stay here until they are closed or the thread ends.
    targets: Mutex<HashMap<u32, Arc<RemoteTarget>>>,
    /// Ports of targets that are ports of this machine, by the numbers of the calls that opened them.
    forwards: Mutex<HashMap<u32, PortForward>>,
    next: AtomicU32,
}

/// A call that has not settled.
struct PendingCall {
    reply: Option<UnboundedSender<CallerReply>>,
    give_up: Option<oneshot::Sender<()>>,
    task: AbortHandle,
}

impl ThreadCalls {
    pub fn new(dispatcher: EventDispatcher) -> Arc<Self> {
        let (pending, registries, targets, forwards) = Default::default();
        Arc::new(Self { dispatcher, pending, registries, targets, forwards, next: AtomicU32::new(1) })
    }

    /// Returns a number that no other call or registry of this thread has.
    pub fn next_number(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub fn dispatcher(&self) -> &EventDispatcher {
        &self.dispatcher
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<u32, PendingCall>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn registries(&self) -> MutexGuard<'_, HashMap<u32, AnyTaskRegistry>> {
        self.registries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn targets(&self) -> MutexGuard<'_, HashMap<u32, Arc<RemoteTarget>>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn forwards(&self) -> MutexGuard<'_, HashMap<u32, PortForward>> {
        self.forwards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a target. Returns its number.
    pub fn add_target(&self, target: Arc<RemoteTarget>) -> u32 {
        let number = self.next_number();
        self.targets().insert(number, target);
        number
    }

    /// Returns a target, or an error if it was closed.
    pub fn target(&self, number: u32) -> Result<Arc<RemoteTarget>, RunError> {
        let closed =
            || RunError::FromTarget { code: "ERR_BASH_CLOSED", message: "the target was closed".into(), errno: None };
        self.targets().get(&number).cloned().ok_or_else(closed)
    }

    /// Takes a target, which is used no more.
    pub fn take_target(&self, number: u32) -> Option<Arc<RemoteTarget>> {
        self.targets().remove(&number)
    }

    pub fn emitter(&self, id: u32) -> CallEventEmitter {
        self.dispatcher.emitter(id)
    }

    /// Ends all commands, and the tasks that do not outlive the host, when the thread ends. Dropping a command closes
    /// its socket, and its shim terminates the tree. Records of the ledger that are on their way are awaited.
    pub fn end(&self) {
        for (_, call) in self.pending().drain() {
            call.task.abort();
        }
        for (_, registry) in self.registries().drain() {
            registry.shut();
        }
        for (_, target) in self.targets().drain() {
            target.close();
        }
        wait_for_pending(LAST_RECORDS);
    }

    pub fn reply(&self, id: u32, reply: CallerReply) {
        if let Some(sender) = self.pending().get(&id).and_then(|call| call.reply.as_ref()) {
            // The command may have just ended.
            let _ = sender.send(reply);
        }
    }

    /// Aborts a command or a wait.
    pub fn abort(&self, id: u32) {
        if let Some(call) = self.pending().get_mut(&id) {
            if let Some(sender) = &call.reply {
                let _ = sender.send(CallerReply::Abort);
            }
            if let Some(give_up) = call.give_up.take() {
                let _ = give_up.send(());
            }
        }
    }

    /// Returns the value of a call that could be started. An error is the last event of the call.
    pub fn start_or_report<T>(&self, id: u32, started: Result<T, RunError>) -> Option<T> {
        started.map_err(|error| self.emitter(id).emit(error.into())).ok()
    }

    /// Returns the registry that a command names, or an error if it was closed.
    pub fn registry_of(&self, raw: &RawOptions) -> Result<Option<Arc<TaskRegistry>>, RunError> {
        let Some(number) = raw.registry_number else { return Ok(None) };
        match self.registries().get(&number) {
            Some(AnyTaskRegistry::Local(registry)) => Ok(Some(Arc::clone(registry))),
            Some(AnyTaskRegistry::Distant { target, .. }) => {
                Err(RunError::InvalidArg(format!("registry: it is one of the target {target}")))
            }
            None => Err(RegistryError::Closed.into()),
        }
    }

    /// Returns the options of a command, with the registry that it names.
    pub fn read_options(&self, native: NativeRequest) -> Result<RawOptions, RunError> {
        let raw = native.read()?;
        Ok(RawOptions { registry: self.registry_of(&raw)?, ..raw })
    }

    /// Starts a command. With a registry the answer is the command's task there.
    pub fn run(self: &Arc<Self>, native: NativeRequest, task_of: Option<u32>) -> u32 {
        let id = self.next_number();
        let as_task = task_of.is_some();
        let started = native.read().map_err(RunError::from).and_then(|mut raw| {
            raw.registry_number = task_of.or(raw.registry_number);
            let registry = self.registry_of(&raw)?;
            let command =
                SubmittedCommand::<SnapshotRequest>::start(RawOptions { registry, background: as_task, ..raw })?;
            Ok((runtime()?, command))
        });
        let Some((runtime, command)) = self.start_or_report(id, started) else { return id };
        let (reply, inbox) = unbounded_channel();
        let emitter = self.emitter(id);
        self.run_call(id, runtime, Some(reply), None, async move {
            match command.finish(emitter, inbox).await.map(|ran| ran.outcome) {
                Ok(outcome) if !as_task => NativeEvent::result(outcome, None, None),
                Ok(outcome) => match outcome.background {
                    Some((task, store)) => NativeEvent::Task { task: BackgroundTask::of(task, &store, None) },
                    None => RunError::Aborted.into(),
                },
                Err(error) => error.into(),
            }
        });
        id
    }

    /// Starts a warm shell for commands like this one. The answer says whether a warm shell is ready.
    pub fn warm_up(self: &Arc<Self>, native: NativeRequest) -> u32 {
        let id = self.next_number();
        let started = native.read().map_err(RunError::from).and_then(|raw| Ok((runtime()?, raw)));
        let Some((runtime, raw)) = self.start_or_report(id, started) else { return id };
        self.run_call(id, runtime, None, None, async move {
            let ready = match request_of::<SnapshotRequest>(raw).await {
                Ok(request) => warm_up(request).await,
                Err(error) => Err(error),
            };
            ready.map_or_else(NativeEvent::from, |ready| NativeEvent::Warm { ready })
        });
        id
    }

    /// Runs `work`. Its event is the last event of this call. A call with a `reply` is a command, from the first of
    /// which on people may watch this process.
    pub fn run_call(
        self: &Arc<Self>,
        id: u32,
        runtime: &tokio::runtime::Handle,
        reply: Option<UnboundedSender<CallerReply>>,
        give_up: Option<oneshot::Sender<()>>,
        work: impl Future<Output = NativeEvent> + Send + 'static,
    ) {
        if reply.is_some() {
            host::keep_listening(runtime);
        }
        let last = LastEvent { id, calls: Some(Arc::clone(self)) };
        // The lock is held until the call is listed, so that a call that settles at once is in the list.
        let mut pending = self.pending();
        let task = runtime.spawn(async move { last.emit(work.await) }).abort_handle();
        pending.insert(id, PendingCall { reply, give_up, task });
    }
}

/// Emits the last event of a call in any case, because a fault in the addon must not leave a promise that never
/// settles.
struct LastEvent {
    id: u32,
    /// `None` once the event has been emitted.
    calls: Option<Arc<ThreadCalls>>,
}

impl LastEvent {
    fn emit(mut self, event: NativeEvent) {
        self.settle(event);
    }

    fn settle(&mut self, event: NativeEvent) {
        if let Some(calls) = self.calls.take() {
            calls.pending().remove(&self.id);
            calls.emitter(self.id).emit(event);
        }
    }
}

impl Drop for LastEvent {
    fn drop(&mut self) {
        if self.calls.is_some() {
            let fault = "a fault of agent-bash itself; the command was ended. Please report it";
            self.settle(RunError::spawn(fault, "").into());
        }
    }
}
