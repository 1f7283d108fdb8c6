//! The warm shells.

use napi_derive::napi;

use runner::supervise::HelperProcesses;

/// The numbers of this process's warm shells, over all its threads.
#[napi(object, object_from_js = false)]
pub struct WarmShells {
    /// Shells that are warm now.
    pub waiting: u32,
    /// Commands that ran in a warm shell so far.
    pub used: u32,
    /// Warm shells that could not be used, because they had exited or their directory had been replaced. Their command
    /// started cold.
    pub stale: u32,
}

/// Returns the numbers of this process's warm shells. Starts nothing.
#[napi]
#[must_use]
pub fn warm_shells() -> WarmShells {
    let count = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let shells = HelperProcesses::shared().map(HelperProcesses::warm_shell_counts).unwrap_or_default();
    WarmShells { waiting: count(shells.waiting as u64), used: count(shells.used), stale: count(shells.stale) }
}
