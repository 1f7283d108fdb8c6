//! The registries of the host.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

use super::session_table::ResponseFuture;
use crate::flow_control::TransferWindow;
use crate::link_mailbox::{LinkMailbox, PackedRunMessage};
use crate::messages::{
    RegistryEvent, RegistryOpening, TargetCall, TargetEvent, TargetRegistryRequest, TargetRegistryResponse,
    TargetResponse, TaskWaitConditions,
};
use evidence::CommandEvidence;
use protocol::task::Task;
use receipt::recording::RunRecord;
use runner::error::RunError;
use runner::pattern::JsPattern;
use runner::registry::{RegistryError, RegistryOptions, TaskCheck, TaskRegistry, TaskWaitOptions, TaskWatcher};

/// The registries, by the numbers that the host gave them. When the program ends, its supervisor ends their tasks and
/// removes their files, unless they outlive the host.
#[derive(Default)]
pub struct RegistryTable(Mutex<HashMap<u64, OpenTaskRegistry>>);

/// A registry that is open.
struct OpenTaskRegistry {
    registry: Arc<TaskRegistry>,
    teller: Arc<RegistryEventSender>,
    /// Dropped once the registry is closed.
    closing: oneshot::Sender<()>,
}

/// The run of a question, with what the host says to it further.
pub struct ReceivedRequest {
    pub post: Arc<LinkMailbox>,
    pub run: u64,
    pub further: UnboundedReceiver<TargetCall>,
}

impl RegistryTable {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, OpenTaskRegistry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a registry.
    ///
    /// # Errors
    /// If it was closed.
    pub fn get(&self, number: u64) -> Result<Arc<TaskRegistry>, RunError> {
        let all = self.all();
        all.get(&number).map(|opened| Arc::clone(&opened.registry)).ok_or_else(|| RegistryError::Closed.into())
    }

    /// Does what a host asks of a registry.
    pub fn handle_request(&self, number: u64, ask: TargetRegistryRequest, asked: ReceivedRequest) -> ResponseFuture {
        match ask {
            TargetRegistryRequest::Open(opening) => self.open(number, opening, asked),
            TargetRegistryRequest::Close => self.close(number),
            TargetRegistryRequest::Watch { output } => ready_response(self.watch(number, output)),
            TargetRegistryRequest::List => ready_response(self.get(number).and_then(|registry| list(&registry))),
            TargetRegistryRequest::Check { task, cursor } => {
                self.run_check(number, |registry| async move { registry.check(&task, cursor).await })
            }
            TargetRegistryRequest::Kill(task) => {
                self.run_check(number, |registry| async move { registry.kill(&task).await })
            }
            TargetRegistryRequest::Wait { task, until } => {
                self.run_check(number, |registry| wait(registry, task, until, asked.further))
            }
        }
    }

    fn open(
        &self,
        number: u64,
        opening: RegistryOpening,
        ReceivedRequest { post, run, mut further }: ReceivedRequest,
    ) -> ResponseFuture {
        let RegistryOpening { dir, max_tasks, max_log_bytes, retention, output } = opening;
        let max_tasks = usize::try_from(max_tasks).unwrap_or(usize::MAX);
        let options = RegistryOptions { dir, temp: std::env::temp_dir(), max_tasks, max_log_bytes, retention };
        let registry = match TaskRegistry::open(options) {
            Ok(registry) => registry,
            Err(error) => return ready_response(Err(error.into())),
        };
        let (closing, mut closed) = oneshot::channel();
        let teller = Arc::new(RegistryEventSender { post, run, queue: Mutex::default() });
        // Tasks that have ended by now are told as such, and by no event.
        let tasks = registry.list().unwrap_or_default();
        teller.queue_event(RegistryEvent::Opened(tasks, registry.store().clone()));
        let opened = OpenTaskRegistry { registry: Arc::clone(&registry), teller: Arc::clone(&teller), closing };
        opened.watch(output);
        if let Some(earlier) = self.all().insert(number, opened) {
            earlier.registry.close_without_waiting();
        }
        Box::pin(async move {
            loop {
                tokio::select! {
                    Some(call) = further.recv() => match call {
                        TargetCall::TaskOutputTaken(task) => registry.on_output_taken(&task),
                        TargetCall::OutputTaken(cost) => teller.on_taken(cost),
                        _ => {}
                    },
                    _ = &mut closed => return Ok(TargetResponse::Registry(TargetRegistryResponse::Done)),
                }
            }
        })
    }

    fn watch(&self, number: u64, output: bool) -> Result<TargetRegistryResponse, RunError> {
        let all = self.all();
        all.get(&number).ok_or(RegistryError::Closed)?.watch(output);
        Ok(TargetRegistryResponse::Done)
    }

    fn close(&self, number: u64) -> ResponseFuture {
        let closed = self.all().remove(&number);
        Box::pin(async move {
            if let Some(OpenTaskRegistry { registry, closing, .. }) = closed {
                registry.close().await;
                drop(closing);
            }
            Ok(TargetResponse::Registry(TargetRegistryResponse::Done))
        })
    }

    fn run_check<W, E>(&self, number: u64, work: impl FnOnce(Arc<TaskRegistry>) -> W) -> ResponseFuture
    where
        W: Future<Output = Result<TaskCheck, E>> + Send + 'static,
        E: Into<RunError>,
    {
        let registry = match self.get(number) {
            Ok(registry) => registry,
            Err(error) => return ready_response(Err(error)),
        };
        let store = registry.store().clone();
        let work = work(registry);
        Box::pin(async move {
            let check = work.await.map_err(Into::into)?;
            Ok(TargetResponse::Registry(TargetRegistryResponse::Checked(Box::new(check), store)))
        })
    }
}

impl OpenTaskRegistry {
    fn watch(&self, output: bool) {
        self.registry.watch(Arc::clone(&self.teller) as Arc<dyn TaskWatcher>, true, output);
    }
}

fn ready_response(answer: Result<TargetRegistryResponse, RunError>) -> ResponseFuture {
    Box::pin(async { answer.map(TargetResponse::Registry) })
}

fn list(registry: &TaskRegistry) -> Result<TargetRegistryResponse, RunError> {
    Ok(TargetRegistryResponse::Listed(registry.list()?, registry.notes(), registry.store().clone()))
}

async fn wait(
    registry: Arc<TaskRegistry>,
    task: String,
    TaskWaitConditions { timeout, pattern, port }: TaskWaitConditions,
    mut further: UnboundedReceiver<TargetCall>,
) -> Result<TaskCheck, RunError> {
    let pattern = pattern.map(|(source, flags)| JsPattern::new(&source, &flags)).transpose()?;
    let (give_up, given_up) = oneshot::channel::<()>();
    let aborted = async {
        while !matches!(further.recv().await, Some(TargetCall::Abort) | None) {}
        drop(give_up);
        std::future::pending().await
    };
    tokio::select! {
        check = registry.wait(&task, TaskWaitOptions { timeout, pattern, port }, given_up) => Ok(check?),
        check = aborted => check,
    }
}

/// Sends the events of a registry to its host, as the host takes them.
struct RegistryEventSender {
    post: Arc<LinkMailbox>,
    /// The run of the registry.
    run: u64,
    queue: Mutex<RegistryEventQueue>,
}

#[derive(Default)]
struct RegistryEventQueue {
    untaken: TransferWindow,
    /// Events that wait for credit: the ends of tasks, and one output of each task at most.
    waiting: VecDeque<RegistryEvent>,
}

impl RegistryEventSender {
    fn queue(&self) -> MutexGuard<'_, RegistryEventQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue_event(&self, event: RegistryEvent) {
        let mut queue = self.queue();
        queue.waiting.push_back(event);
        self.send(&mut queue);
    }

    /// Counts events that the host has taken, and sends what waits.
    fn on_taken(&self, cost: u64) {
        let mut queue = self.queue();
        queue.untaken.count_taken(cost);
        self.send(&mut queue);
    }

    fn send(&self, RegistryEventQueue { untaken, waiting }: &mut RegistryEventQueue) {
        while untaken.has_room()
            && let Some(event) = waiting.pop_front()
        {
            // A path that is no text cannot be told.
            let Ok(message) = PackedRunMessage::pack(&TargetEvent::Registry(Box::new(event))) else { continue };
            // More waits for a link than a host ever leaves there. A task is not asked for more output then.
            if self.post.post(self.run, &message).is_ok() {
                untaken.count_sent_event(message.len());
            }
        }
    }
}

impl TaskWatcher for RegistryEventSender {
    fn exit(&self, task: Task, record: Option<Arc<RunRecord>>, evidence: Option<Arc<CommandEvidence>>) {
        let (record, evidence) = (record.map(Arc::unwrap_or_clone), evidence.map(Arc::unwrap_or_clone));
        self.queue_event(RegistryEvent::Exited(task, record, evidence));
    }

    fn output(&self, task: Task, text: String) {
        self.queue_event(RegistryEvent::Output(task, text));
    }
}
