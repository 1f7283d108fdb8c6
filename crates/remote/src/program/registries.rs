//! The registries of the host.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

use super::sessions::Answering;
use crate::flow::Untaken;
use crate::messages::{Answer, Call, Event, Opening, RegistryAnswer, RegistryAsk, RegistryEvent, Until};
use crate::post::{Packed, Post};
use evidence::Evidence;
use protocol::task::Task;
use receipt::recording::RunRecord;
use runner::error::Error;
use runner::pattern::Pattern;
use runner::registry::{Check, Registry, RegistryError, RegistryOptions, WaitOptions, Watcher};

/// The registries, by the numbers that the host gave them. When the program ends, its supervisor ends their tasks and
/// removes their files, unless they outlive the host.
#[derive(Default)]
pub struct Registries(Mutex<HashMap<u64, Opened>>);

/// A registry that is open.
struct Opened {
    registry: Arc<Registry>,
    teller: Arc<Teller>,
    /// Dropped once the registry is closed.
    closing: oneshot::Sender<()>,
}

/// The run of a question, with what the host says to it further.
pub struct Asked {
    pub post: Arc<Post>,
    pub run: u64,
    pub further: UnboundedReceiver<Call>,
}

impl Registries {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, Opened>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a registry.
    ///
    /// # Errors
    /// If it was closed.
    pub fn get(&self, number: u64) -> Result<Arc<Registry>, Error> {
        let all = self.all();
        all.get(&number).map(|opened| Arc::clone(&opened.registry)).ok_or_else(|| RegistryError::Closed.into())
    }

    /// Does what a host asks of a registry.
    pub fn ask(&self, number: u64, ask: RegistryAsk, asked: Asked) -> Answering {
        match ask {
            RegistryAsk::Open(opening) => self.open(number, opening, asked),
            RegistryAsk::Close => self.close(number),
            RegistryAsk::Watch { output } => answer(self.watch(number, output)),
            RegistryAsk::List => answer(self.get(number).and_then(|registry| list(&registry))),
            RegistryAsk::Check { task, cursor } => {
                self.look(number, |registry| async move { registry.check(&task, cursor).await })
            }
            RegistryAsk::Kill(task) => self.look(number, |registry| async move { registry.kill(&task).await }),
            RegistryAsk::Wait { task, until } => {
                self.look(number, |registry| wait(registry, task, until, asked.further))
            }
        }
    }

    fn open(&self, number: u64, opening: Opening, Asked { post, run, mut further }: Asked) -> Answering {
        let Opening { dir, max_tasks, max_log_bytes, retention, output } = opening;
        let max_tasks = usize::try_from(max_tasks).unwrap_or(usize::MAX);
        let options = RegistryOptions { dir, temp: std::env::temp_dir(), max_tasks, max_log_bytes, retention };
        let registry = match Registry::open(options) {
            Ok(registry) => registry,
            Err(error) => return answer(Err(error.into())),
        };
        let (closing, mut closed) = oneshot::channel();
        let teller = Arc::new(Teller { post, run, queue: Mutex::default() });
        // Tasks that have ended by now are told as such, and by no event.
        let tasks = registry.list().unwrap_or_default();
        teller.tell(RegistryEvent::Opened(tasks, registry.store().clone()));
        let opened = Opened { registry: Arc::clone(&registry), teller: Arc::clone(&teller), closing };
        opened.watch(output);
        if let Some(earlier) = self.all().insert(number, opened) {
            earlier.registry.shut();
        }
        Box::pin(async move {
            loop {
                tokio::select! {
                    Some(call) = further.recv() => match call {
                        Call::TaskOutputTaken(task) => registry.took(&task),
                        Call::OutputTaken(cost) => teller.taken(cost),
                        _ => {}
                    },
                    _ = &mut closed => return Ok(Answer::Registry(RegistryAnswer::Done)),
                }
            }
        })
    }

    fn watch(&self, number: u64, output: bool) -> Result<RegistryAnswer, Error> {
        let all = self.all();
        all.get(&number).ok_or(RegistryError::Closed)?.watch(output);
        Ok(RegistryAnswer::Done)
    }

    fn close(&self, number: u64) -> Answering {
        let closed = self.all().remove(&number);
        Box::pin(async move {
            if let Some(Opened { registry, closing, .. }) = closed {
                registry.close().await;
                drop(closing);
            }
            Ok(Answer::Registry(RegistryAnswer::Done))
        })
    }

    fn look<W, E>(&self, number: u64, work: impl FnOnce(Arc<Registry>) -> W) -> Answering
    where
        W: Future<Output = Result<Check, E>> + Send + 'static,
        E: Into<Error>,
    {
        let registry = match self.get(number) {
            Ok(registry) => registry,
            Err(error) => return answer(Err(error)),
        };
        let store = registry.store().clone();
        let work = work(registry);
        Box::pin(async move {
            let check = work.await.map_err(Into::into)?;
            Ok(Answer::Registry(RegistryAnswer::Checked(Box::new(check), store)))
        })
    }
}

impl Opened {
    fn watch(&self, output: bool) {
        self.registry.watch(Arc::clone(&self.teller) as Arc<dyn Watcher>, true, output);
    }
}

fn answer(answer: Result<RegistryAnswer, Error>) -> Answering {
    Box::pin(async { answer.map(Answer::Registry) })
}

fn list(registry: &Registry) -> Result<RegistryAnswer, Error> {
    Ok(RegistryAnswer::Listed(registry.list()?, registry.notes(), registry.store().clone()))
}

async fn wait(
    registry: Arc<Registry>,
    task: String,
    Until { timeout, pattern, port }: Until,
    mut further: UnboundedReceiver<Call>,
) -> Result<Check, Error> {
    let pattern = pattern.map(|(source, flags)| Pattern::new(&source, &flags)).transpose()?;
    let (give_up, given_up) = oneshot::channel::<()>();
    let aborted = async {
        while !matches!(further.recv().await, Some(Call::Abort) | None) {}
        drop(give_up);
        std::future::pending().await
    };
    tokio::select! {
        check = registry.wait(&task, WaitOptions { timeout, pattern, port }, given_up) => Ok(check?),
        check = aborted => check,
    }
}

/// Sends the events of a registry to its host, as the host takes them.
struct Teller {
    post: Arc<Post>,
    /// The run of the registry.
    run: u64,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    untaken: Untaken,
    /// Events that wait for credit: the ends of tasks, and one output of each task at most.
    waiting: VecDeque<RegistryEvent>,
}

impl Teller {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: RegistryEvent) {
        let mut queue = self.queue();
        queue.waiting.push_back(event);
        self.send(&mut queue);
    }

    /// Counts events that the host has taken, and sends what waits.
    fn taken(&self, cost: u64) {
        let mut queue = self.queue();
        queue.untaken.taken(cost);
        self.send(&mut queue);
    }

    fn send(&self, Queue { untaken, waiting }: &mut Queue) {
        while untaken.has_room()
            && let Some(event) = waiting.pop_front()
        {
            // A path that is no text cannot be told.
            let Ok(message) = Packed::of(&Event::Registry(Box::new(event))) else { continue };
            // More waits for a link than a host ever leaves there. A task is not asked for more output then.
            if self.post.post(self.run, &message).is_ok() {
                untaken.sent_event(message.len());
            }
        }
    }
}

impl Watcher for Teller {
    fn exit(&self, task: Task, record: Option<Arc<RunRecord>>, evidence: Option<Arc<Evidence>>) {
        let (record, evidence) = (record.map(Arc::unwrap_or_clone), evidence.map(Arc::unwrap_or_clone));
        self.tell(RegistryEvent::Exited(task, record, evidence));
    }

    fn output(&self, task: Task, text: String) {
        self.tell(RegistryEvent::Output(task, text));
    }
}
