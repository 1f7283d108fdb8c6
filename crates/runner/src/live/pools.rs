//! The pools of targets of this process, as they last reported themselves. They live in JavaScript, which reports only
//! while someone watches.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use serde::{Deserialize, Serialize};

use super::live_runs::runs;
use super::run_description::cut;
use protocol::task::now_ms;

/// Most pools that are shown.
const POOLS: usize = 20;
/// Most places of a pool that are shown.
const PLACES: usize = 200;
/// Longest name that is shown, bytes.
const NAME: usize = 100;

/// A pool, as it reports itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolReport {
    /// Most runs on a place at once.
    pub per_target: u64,
    /// Calls that wait for any place.
    pub waiting: u64,
    /// The first places.
    pub places: Vec<PlaceReport>,
    /// Number of all places.
    pub count: u64,
}

/// A place of a pool, as in `PlaceStats`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceReport {
    /// The name of the target.
    pub id: String,
    /// The state of the target, `new` or `draining`.
    pub state: String,
    /// Runs on it.
    pub running: u64,
    /// Calls that wait for it.
    pub queued: u64,
    /// The load there. 0: not known.
    pub load: f64,
    /// Free memory there, bytes. 0: not known.
    pub memory_free: u64,
    /// Unix time at which it is tried again, ms. `None`: it is not avoided.
    pub broken_until: Option<u64>,
}

/// A pool with its last report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolDescription {
    /// Names it among all of this process.
    pub key: String,
    /// Unix time of the report, ms.
    pub reported_at: u64,
    /// The report.
    #[serde(flatten)]
    pub report: PoolReport,
}

/// A pool of this process.
pub struct LivePool {
    number: u64,
    /// Asks it for reports.
    ask: Box<dyn Fn() + Send + Sync>,
    last: Mutex<Option<Arc<PoolDescription>>>,
}

/// The pools of this process.
#[derive(Default)]
pub struct LivePools {
    next: AtomicU64,
    all: Mutex<Vec<Weak<LivePool>>>,
}

/// Returns the pools of this process.
pub fn pools() -> &'static LivePools {
    static POOLS: LazyLock<LivePools> = LazyLock::new(LivePools::default);
    &POOLS
}

impl LivePools {
    fn all(&self) -> MutexGuard<'_, Vec<Weak<LivePool>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn living(&self) -> Vec<Arc<LivePool>> {
        let mut all = self.all();
        all.retain(|pool| pool.strong_count() > 0);
        all.iter().filter_map(Weak::upgrade).collect()
    }

    /// Adds a pool for as long as it lives. `ask` is called when someone begins to watch, and at once if someone does.
    pub fn add(&self, ask: impl Fn() + Send + Sync + 'static) -> Arc<LivePool> {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let pool = Arc::new(LivePool { number, ask: Box::new(ask), last: Mutex::default() });
        self.all().push(Arc::downgrade(&pool));
        if runs().is_watched() {
            (pool.ask)();
        }
        pool
    }

    /// Asks all pools for reports: someone begins to watch.
    pub fn ask(&self) {
        self.living().iter().for_each(|pool| (pool.ask)());
    }

    /// Returns the pools that have reported themselves, the oldest first.
    pub fn list(&self) -> Vec<Arc<PoolDescription>> {
        let last = |pool: Arc<LivePool>| pool.last().clone();
        self.living().into_iter().filter_map(last).take(POOLS).collect()
    }
}

impl LivePool {
    fn last(&self) -> MutexGuard<'_, Option<Arc<PoolDescription>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a report. Returns whether someone watches, and wants the next one.
    pub fn report(&self, mut report: PoolReport) -> bool {
        let is_watched = runs().is_watched();
        report.places.truncate(PLACES);
        for place in &mut report.places {
            (place.id, place.state) =
                (cut(std::mem::take(&mut place.id), NAME), cut(std::mem::take(&mut place.state), NAME));
        }
        let description = PoolDescription { key: format!("p{}", self.number), reported_at: now_ms(), report };
        *self.last() = is_watched.then(|| Arc::new(description));
        runs().on_change();
        is_watched
    }
}

impl Drop for LivePool {
    fn drop(&mut self) {
        runs().on_change();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_pool_is_asked_when_someone_watches_and_shown_in_bounds() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let pool = pools().add(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let place = PlaceReport { id: "x".repeat(1000), ..PlaceReport::default() };
        let report = PoolReport { places: vec![place; 1000], count: 1000, ..PoolReport::default() };
        let _watching = runs().watch();
        pools().ask();
        assert!(asked.load(Ordering::Relaxed) > 0);
        assert!(pool.report(report));
        let key = format!("p{}", pool.number);
        let shown = |key: &str| pools().list().into_iter().find(|pool| pool.key == key);
        let description = shown(&key).expect("the pool");
        assert_eq!((description.report.places.len(), description.report.count), (PLACES, 1000));
        assert!(description.report.places.iter().all(|place| place.id.len() <= NAME));
        assert!(serde_json::to_vec(&*description).expect("JSON").len() < 200 * 1024);
        drop(pool);
        assert_eq!(shown(&key), None);
    }
}
