//! Bounds on the watches of a host.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Number of entries from which an ignored directory is summed up.
pub const SUMMED_UP_ENTRIES: usize = 1000;
/// The most files of a tree that are remembered.
pub const MAX_TREE_FILES: usize = 400_000;
/// The most files with names in other places that are watched individually.
pub const MAX_LINK_WATCHES: usize = 1000;
/// The most directories of a repository's `.git` that are watched.
pub const MAX_GIT_DIRECTORIES: usize = 2000;
/// The most trees that a host watches at once. The least recently used tree makes room.
pub const MAX_WATCHED_TREES: usize = 8;
/// Time that the first command in a tree waits until the tree is watched. A larger tree is watched from the next
/// command on.
pub const FIRST_READ_WAIT: Duration = Duration::from_millis(25);
/// Time that changes may gather before the reader wakes up.
pub const GATHER_TIME: Duration = Duration::from_millis(10);
/// Time that a comparison of the whole tree may take after the kernel's queue overflowed.
pub const COMPARE_BOUND: Duration = Duration::from_millis(150);
/// The most files that are compared after a file was written to by a name that is gone.
pub const MAX_COMPARED_FILES: usize = 10_000;
/// Time after which a tree that could not be watched is tried again.
pub const RETRY_AFTER: Duration = Duration::from_mins(10);

/// The watches that a host may have, and the watches that it has.
#[derive(Debug, Clone)]
pub struct WatchBudget {
    used: Arc<AtomicUsize>,
    /// The most watches.
    pub most: usize,
}

impl WatchBudget {
    /// Returns a quarter of the user's limit, because editors and builds need the rest.
    pub fn new() -> Self {
        Self::of(sys::most_watches().map_or(usize::MAX, |most| most / 4))
    }

    /// Returns a budget of this many watches.
    pub fn of(most: usize) -> Self {
        Self { used: Arc::default(), most }
    }

    /// Takes a watch, if one is left.
    pub fn take(&self) -> bool {
        let more = |used| (used < self.most).then_some(used + 1);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Gives watches back.
    pub fn give(&self, count: usize) {
        self.used.fetch_sub(count, Ordering::Relaxed);
    }

    /// Returns the number of watches in use.
    #[cfg(test)]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}
