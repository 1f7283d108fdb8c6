//! Makes room in undo stores before new points, no more often than needed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use undo::{Limits, Store, StoreError};

/// Time after which a store is scanned again, though this process has added nothing to it.
const AGAIN: Duration = Duration::from_secs(60);

/// The state of a store, as far as this process knows it.
struct Room {
    looked: Instant,
    limits: Limits,
    /// Bytes of the points: existing points, and points that this process has added.
    bytes: u64,
}

static ROOMS: LazyLock<Mutex<HashMap<PathBuf, Room>>> = LazyLock::new(Mutex::default);

/// Evicts points, if there may be too many. A scan takes some microseconds for each point.
///
/// # Errors
/// If the store cannot be read or written.
pub fn make_room(store: &Store, limits: Limits) -> Result<(), StoreError> {
    let rooms = || ROOMS.lock().unwrap_or_else(PoisonError::into_inner);
    let has_room = |room: &Room| {
        room.limits == limits && room.looked.elapsed() < AGAIN && room.bytes <= limits.store_bytes && store.has_room()
    };
    if rooms().get(store.path()).is_some_and(has_room) {
        return Ok(());
    }
    let looked = Instant::now();
    let evicted = store.evict(limits, SystemTime::now())?;
    match evicted.left {
        Some(bytes) => rooms().insert(store.path().to_owned(), Room { looked, limits, bytes }),
        None => rooms().remove(store.path()),
    };
    Ok(())
}

/// Adds bytes that a run has kept in a store.
pub fn use_room(store: &Path, bytes: u64) {
    if let Some(room) = ROOMS.lock().unwrap_or_else(PoisonError::into_inner).get_mut(store) {
        room.bytes = room.bytes.saturating_add(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_looked_through_again_once_it_may_hold_too_much() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path()).expect("opened");
        let looked = || ROOMS.lock().expect("no panic").get(store.path()).map(|room| room.looked);
        make_room(&store, Limits::DEFAULT).expect("read");
        let first = looked();
        make_room(&store, Limits::DEFAULT).expect("read");
        assert_eq!(looked(), first);
        use_room(store.path(), Limits::DEFAULT.store_bytes);
        make_room(&store, Limits::DEFAULT).expect("read");
        assert_eq!(looked(), first, "it is full, and holds no more than it may");
        use_room(store.path(), 1);
        make_room(&store, Limits::DEFAULT).expect("read");
        let second = looked();
        assert_ne!(second, first);
        make_room(&store, Limits::NONE).expect("read");
        assert_ne!(looked(), second, "another limit");
    }
}
