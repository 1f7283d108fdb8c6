//! The shells that wait for a command.

use napi_derive::napi;

use crate::supervise::Helpers;

/// Shells of this process that wait for a command, and what became of others. Counts are of all its threads.
#[napi(object, object_from_js = false)]
pub struct WarmShells {
    /// They wait now.
    pub waiting: u32,
    /// Commands that were given to a waiting shell, so far.
    pub used: u32,
    /// Of the shells that waited, those that could not be used after all: ended meanwhile, or their folder was another one
    /// by then. The command started cold.
    pub stale: u32,
}

/// Tells how many shells wait for a command, and how many commands had one, in this process. Starts nothing.
#[napi]
#[must_use]
pub fn warm_shells() -> WarmShells {
    let count = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let shells = Helpers::shared().map(Helpers::shells).unwrap_or_default();
    WarmShells { waiting: count(shells.waiting as u64), used: count(shells.used), stale: count(shells.stale) }
}
