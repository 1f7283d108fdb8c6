//! Looks at all runs of this process while a client watches, once for all clients.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use runner::live::{
    self, ApprovalRequest, LiveRun, PoolDescription, RunDescription, RunEndReport, RunUsageSample, TaskChanges,
    TaskSource, runs,
};

/// Shortest time between two looks, and between two batches for a client: 30 in a second.
pub const BATCH: Duration = Duration::from_millis(34);
/// Time between two samples of processor time, memory, ports and last lines.
const SAMPLE: Duration = Duration::from_secs(1);
/// Least ratio of the time between two samples to the time that one took.
const SHARE: u32 = 10;
/// Most ends kept for slow clients, and most bytes of them in JSON.
const ENDS: (usize, usize) = (512, 8 * 1024 * 1024);

/// A run that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberedRunEnd {
    /// Counts the ends.
    pub number: u64,
    /// The run before its end.
    pub run: Arc<RunDescription>,
    /// Its end.
    pub end: Arc<RunEndReport>,
    /// Bytes of the end in JSON.
    pub bytes: usize,
}

impl NumberedRunEnd {
    /// Returns a run with its end.
    pub fn new(number: u64, run: Arc<RunDescription>, end: RunEndReport) -> Self {
        let bytes = serde_json::to_vec(&end).map_or(0, |json| json.len());
        Self { number, run, end: Arc::new(end), bytes }
    }
}

/// All that lives in this process at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostSnapshot {
    /// Whether this is one: the first value of a publisher is none yet.
    pub is_made: bool,
    /// Runs that go on, the oldest first.
    pub runs: Vec<Arc<RunDescription>>,
    /// The last runs that have ended.
    pub gone: VecDeque<Arc<NumberedRunEnd>>,
    /// The number of ends so far.
    pub ends: u64,
    /// Questions that wait.
    pub asks: Vec<Arc<ApprovalRequest>>,
    /// Pools that have reported themselves.
    pub pools: Vec<Arc<PoolDescription>>,
}

type SnapshotSender = watch::Sender<Arc<HostSnapshot>>;

/// The sender of the task that looks, while there is one.
static PUBLISHER: Mutex<Option<SnapshotSender>> = Mutex::new(None);

fn publisher() -> MutexGuard<'static, Option<SnapshotSender>> {
    PUBLISHER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a receiver of all looks, and begins to look if there is no other one. The looks end with the last receiver.
pub fn subscribe() -> watch::Receiver<Arc<HostSnapshot>> {
    let mut publisher = publisher();
    if let Some(sender) = &*publisher {
        return sender.subscribe();
    }
    let (sender, receiver) = watch::channel(Arc::default());
    *publisher = Some(sender.clone());
    tokio::spawn(publish(sender));
    receiver
}

async fn publish(sender: SnapshotSender) {
    let _end = EndOfPublisher(sender.clone());
    let _watching = runs().watch();
    live::pools().ask();
    let mut look = SnapshotTaker::default();
    let mut next_sample = Instant::now();
    loop {
        let began = Instant::now();
        let samples = began >= next_sample;
        let looked = spawn_blocking(move || {
            let snapshot = look.take_snapshot(samples);
            (look, snapshot)
        });
        // Only a fault of ours can end it, and clients see that no more comes.
        let Ok((again, snapshot)) = looked.await else { return };
        look = again;
        if samples {
            next_sample = Instant::now() + SAMPLE.max(began.elapsed() * SHARE);
        }
        sender.send_if_modified(|known| {
            let differs = **known != snapshot;
            if differs {
                *known = Arc::new(snapshot);
            }
            differs
        });
        tokio::select! {
            () = runs().changed() => sleep_until(began + BATCH).await,
            () = sleep_until(next_sample) => {}
            () = sender.closed() => {}
        }
        let mut publisher = publisher();
        if sender.receiver_count() == 0 {
            *publisher = None;
            return;
        }
    }
}

/// Forgets a publisher that ends by a fault, so that the next client gets another one.
struct EndOfPublisher(SnapshotSender);

impl Drop for EndOfPublisher {
    fn drop(&mut self) {
        let mut publisher = publisher();
        if publisher.as_ref().is_some_and(|known| known.same_channel(&self.0)) {
            *publisher = None;
        }
    }
}

/// The state that one snapshot passes to the next.
#[derive(Default)]
struct SnapshotTaker {
    usage: HashMap<String, RunUsageSample>,
    /// The runs of the last snapshot, by key.
    shapes: HashMap<String, Arc<RunDescription>>,
    /// Where each running task was found.
    sources: HashMap<String, Arc<dyn TaskSource>>,
    gone: VecDeque<Arc<NumberedRunEnd>>,
    /// Bytes of all ends in `gone`, in JSON.
    gone_bytes: usize,
    ends: u64,
}

impl SnapshotTaker {
    fn take_snapshot(&mut self, samples: bool) -> HostSnapshot {
        let (commands, ended) = runs().take_changes();
        let sources = runs().task_sources();
        if samples {
            commands.iter().for_each(|run| run.request_status());
            self.sample(&commands, &sources);
        }
        let mut shapes = HashMap::new();
        let mut list = Vec::new();
        for run in &commands {
            let shape = run.describe(self.usage.get(&run.key()));
            list.push(self.reuse_if_equal(&mut shapes, shape));
        }
        self.add_tasks(&sources, samples, &mut shapes, &mut list);
        for (run, end) in ended {
            let shape = match self.shapes.get(&end.key) {
                Some(shape) => Arc::clone(shape),
                None => Arc::new(run.describe(self.usage.get(&end.key))),
            };
            self.add_end(shape, end);
        }
        list.sort_by_key(|run| run.started_at);
        self.shapes = shapes;
        self.usage.retain(|key, _| self.shapes.contains_key(key));
        let asks = live::asks().list();
        let pools = live::pools().list();
        HostSnapshot { is_made: true, runs: list, gone: self.gone.clone(), ends: self.ends, asks, pools }
    }

    /// Returns the shape, or the one of the last snapshot if they are equal.
    fn reuse_if_equal(
        &self,
        shapes: &mut HashMap<String, Arc<RunDescription>>,
        shape: RunDescription,
    ) -> Arc<RunDescription> {
        let shape = match self.shapes.get(&shape.key) {
            Some(known) if **known == shape => Arc::clone(known),
            _ => Arc::new(shape),
        };
        shapes.insert(shape.key.clone(), Arc::clone(&shape));
        shape
    }

    fn add_tasks(
        &mut self,
        sources: &[Arc<dyn TaskSource>],
        samples: bool,
        shapes: &mut HashMap<String, Arc<RunDescription>>,
        list: &mut Vec<Arc<RunDescription>>,
    ) {
        let before = mem::take(&mut self.sources);
        for source in sources {
            for task in source.running(samples) {
                if shapes.contains_key(&task.id) {
                    continue;
                }
                // The last line is read from the log, and therefore only with a sample.
                let before = self.shapes.get(&task.id).map(Arc::as_ref);
                let shape = match before {
                    Some(known) if !samples => RunDescription::clone(known),
                    _ => live::describe_task(&task, source.as_ref(), self.usage.get(&task.id), before),
                };
                list.push(self.reuse_if_equal(shapes, shape));
                self.sources.insert(task.id, Arc::clone(source));
            }
        }
        for (id, source) in before {
            let Some(shape) = self.shapes.get(&id).cloned().filter(|_| !shapes.contains_key(&id)) else { continue };
            let record = match source.changes(&id) {
                // The task counts as running until its changes are known, because they are part of its end.
                TaskChanges::Pending => {
                    list.push(Arc::clone(&shape));
                    shapes.insert(id.clone(), shape);
                    self.sources.insert(id, source);
                    continue;
                }
                TaskChanges::Known(record) => Some(record),
                TaskChanges::Unrecorded => None,
            };
            let end = live::task_end_report(&id, source.task(&id), &source.log_path(&id), record.as_deref());
            self.add_end(shape, end);
        }
    }

    fn add_end(&mut self, run: Arc<RunDescription>, end: RunEndReport) {
        self.ends += 1;
        let gone = NumberedRunEnd::new(self.ends, run, end);
        self.gone_bytes += gone.bytes;
        self.gone.push_back(Arc::new(gone));
        let (most, bytes) = ENDS;
        while (self.gone.len() > most || self.gone_bytes > bytes)
            && let Some(first) = self.gone.pop_front()
        {
            self.gone_bytes -= first.bytes;
        }
    }

    fn sample(&mut self, commands: &[Arc<LiveRun>], sources: &[Arc<dyn TaskSource>]) {
        let commands = commands.iter().filter_map(|run| Some((run.key(), run.pid()?)));
        let local = sources.iter().filter(|source| source.target().is_none());
        let tasks = local.flat_map(|source| source.running(false)).map(|task| (task.id, task.pid));
        let shells: Vec<(String, i32)> = commands.chain(tasks).collect();
        let before = mem::replace(&mut self.usage, live::sample(&shells));
        for (key, usage) in &mut self.usage {
            // The time of a process that no parent waits for is lost with it.
            usage.cpu_ms = usage.cpu_ms.max(before.get(key).map_or(0, |before| before.cpu_ms));
        }
    }
}
