//! All commands of this process that have not ended, and their watchers.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::live_run::{LiveRun, RunRegistration};
use super::run_ending::{RunEndReport, RunEnding};
use super::task_source::TaskSource;
use ledger::LedgerRunState;

/// Most ends kept for the watchers between two calls of [`LiveRuns::take_changes`].
const MAX_KEPT_ENDS: usize = 1024;

/// Most ended runs that can still be followed, and the time for which they can.
const FOLLOWABLE_ENDED_RUNS: (usize, Duration) = (64, Duration::from_secs(5 * 60));

/// A run with its end.
pub type EndedRun = (Arc<LiveRun>, RunEndReport);

/// The commands of this process.
#[derive(Default)]
pub struct LiveRuns {
    next: AtomicU64,
    lists: Mutex<LiveRunLists>,
    sources: Mutex<Vec<Weak<dyn TaskSource>>>,
    watchers: AtomicUsize,
    /// The number of runs that keep a tail of their output.
    tails: AtomicUsize,
    changed: Notify,
}

#[derive(Default)]
struct LiveRunLists {
    running: HashMap<u64, Arc<LiveRun>>,
    /// Runs that ended since the last [`LiveRuns::take_changes`], while there is a watcher.
    ended: Vec<EndedRun>,
    /// The last runs that ended while there was a watcher, the oldest first.
    recent: VecDeque<(Instant, Arc<LiveRun>)>,
}

impl LiveRunLists {
    fn forget(&mut self) {
        let (most, time) = FOLLOWABLE_ENDED_RUNS;
        while self.recent.front().is_some_and(|(ended, _)| self.recent.len() > most || ended.elapsed() > time) {
            self.recent.pop_front().iter().for_each(|(_, run)| run.drop_tail());
        }
    }
}

/// Returns the runs of this process.
pub fn runs() -> &'static LiveRuns {
    static RUNS: LazyLock<LiveRuns> = LazyLock::new(LiveRuns::default);
    &RUNS
}

impl LiveRuns {
    fn lists(&self) -> MutexGuard<'_, LiveRunLists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sources(&self) -> MutexGuard<'_, Vec<Weak<dyn TaskSource>>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a command until the guard is dropped.
    pub fn register(&'static self, facts: RunRegistration) -> RegisteredRun {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let run = LiveRun::new(number, facts);
        {
            // The last watcher drops all tails under the same lock.
            let mut lists = self.lists();
            if self.is_watched() {
                run.keep_tail(&self.tails);
            }
            lists.running.insert(number, Arc::clone(&run));
        }
        self.on_change();
        RegisteredRun { runs: self, run, has_ended: false }
    }

    /// Registers the tasks of a registry for as long as it lives.
    pub fn add_source(&self, source: Weak<dyn TaskSource>) {
        let mut sources = self.sources();
        sources.retain(|known| known.strong_count() > 0);
        sources.push(source);
    }

    /// Returns the registries that live.
    pub fn task_sources(&self) -> Vec<Arc<dyn TaskSource>> {
        self.sources().iter().filter_map(Weak::upgrade).collect()
    }

    /// Returns whether a command or task of this machine runs in a directory or below, besides the run with this
    /// number.
    pub fn has_run_in(&self, directory: &Path, but: Option<u64>) -> bool {
        let is_in = |cwd: &str| Path::new(cwd).canonicalize().is_ok_and(|cwd| cwd.starts_with(directory));
        let others: Vec<_> = self.lists().running.values().filter(|run| Some(run.number()) != but).cloned().collect();
        let sources = self.task_sources();
        let mut local = sources.iter().filter(|source| source.target().is_none());
        others.iter().any(|run| run.local_cwd().is_some_and(is_in))
            || local.any(|source| source.running(false).iter().any(|task| is_in(&task.cwd)))
    }

    /// Returns the run with this key.
    pub fn find(&self, key: &str) -> Option<Arc<LiveRun>> {
        let number = key.strip_prefix('c')?.parse().ok()?;
        self.lists().running.get(&number).cloned()
    }

    /// Returns the run with this key if it ended a moment ago, while there was a watcher.
    pub fn find_recent(&self, key: &str) -> Option<Arc<LiveRun>> {
        self.lists().recent.iter().map(|(_, run)| run).find(|run| run.key() == key).cloned()
    }

    /// Returns the runs that go on, the oldest first, and those that ended since the last call.
    pub fn take_changes(&self) -> (Vec<Arc<LiveRun>>, Vec<EndedRun>) {
        let (mut running, ended) = {
            let mut lists = self.lists();
            lists.forget();
            (lists.running.values().cloned().collect::<Vec<_>>(), std::mem::take(&mut lists.ended))
        };
        running.sort_unstable_by_key(|run| run.number());
        (running, ended)
    }

    /// Returns whether someone watches.
    pub fn is_watched(&self) -> bool {
        self.watchers.load(Ordering::Relaxed) > 0
    }

    /// Tells the watchers of a change that they see.
    pub fn on_change(&self) {
        if self.is_watched() {
            self.changed.notify_one();
        }
    }

    /// Waits for a change.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Keeps what watchers need, until the guard is dropped.
    pub fn watch(&'static self) -> RunWatchGuard {
        self.watchers.fetch_add(1, Ordering::Relaxed);
        RunWatchGuard(self)
    }

    /// Removes a run. Its end is only made while there is a watcher.
    fn end(&self, run: &Arc<LiveRun>, ending: impl Fn() -> RunEnding) {
        run.end();
        let made = self.is_watched().then(&ending);
        let mut lists = self.lists();
        lists.running.remove(&run.number());
        // A watcher may have come since, and may have seen the run.
        if self.is_watched() {
            if lists.ended.len() < MAX_KEPT_ENDS {
                let ended = made.unwrap_or_else(ending).into_report(run.key());
                lists.ended.push((Arc::clone(run), ended));
            }
            lists.recent.push_back((Instant::now(), Arc::clone(run)));
            lists.forget();
        } else {
            run.drop_tail();
        }
        drop(lists);
        self.on_change();
    }
}

/// A watcher of the runs.
pub struct RunWatchGuard(&'static LiveRuns);

impl Drop for RunWatchGuard {
    fn drop(&mut self) {
        if self.0.watchers.fetch_sub(1, Ordering::Relaxed) == 1 {
            let mut lists = self.0.lists();
            // Another watcher may have come since.
            if self.0.is_watched() {
                return;
            }
            lists.running.values().chain(lists.recent.iter().map(|(_, run)| run)).for_each(|run| run.drop_tail());
            (lists.ended, lists.recent) = (Vec::new(), VecDeque::new());
        }
    }
}

/// A registered command.
pub struct RegisteredRun {
    runs: &'static LiveRuns,
    run: Arc<LiveRun>,
    has_ended: bool,
}

impl RegisteredRun {
    /// Returns the run.
    pub fn run(&self) -> &Arc<LiveRun> {
        &self.run
    }

    /// Ends the run with what `ending` returns. A run that is dropped instead counts as aborted.
    pub fn end(mut self, ending: impl Fn() -> RunEnding) {
        self.has_ended = true;
        self.runs.end(&self.run, ending);
    }
}

impl Drop for RegisteredRun {
    fn drop(&mut self) {
        if !self.has_ended {
            self.runs.end(&self.run, || RunEnding::with_state_only(LedgerRunState::Aborted));
        }
    }
}

#[cfg(test)]
#[path = "runs_tests.rs"]
mod tests;
