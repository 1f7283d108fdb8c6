//! The numbers of owners of worlds.

use std::sync::atomic::{AtomicU64, Ordering};

use super::client::HelperProcesses;

/// Number of the next owner in this process, over all threads. 0 is the host with its plain calls.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Returns a number that no other owner of this process has.
pub fn next_owner() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Ends the worlds of an owner, given by its number.
pub fn end_worlds(owner: u64) {
    confine_policy::forget_owner(owner);
    if let Some(helpers) = HelperProcesses::if_made() {
        helpers.end_worlds(owner);
    }
}
