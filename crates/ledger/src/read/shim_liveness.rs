//! Whether a run without an end can still get one: whether its shim lives.

use std::collections::{HashMap, HashSet};

use nix::unistd::Pid;

use crate::ledger_record::ShimId;
use protocol::task::{MachineIdentity, TaskWhereabouts};

/// Facts about the shims of runs without an end.
#[derive(Debug, Default)]
pub struct ShimLiveness {
    alive: HashMap<(i32, u64), bool>,
    /// Shims that have begun a later run, and so have ended all runs before it.
    moved_on: HashSet<(i32, u64)>,
}

impl ShimLiveness {
    /// Records that a shim has begun a run. Called with the later run first.
    pub fn has_begun(&mut self, shim: &ShimId<'_>) {
        self.moved_on.insert((shim.0, shim.1));
    }

    /// Returns whether a shim can still write the end of a run that began before all runs that were recorded here.
    pub fn may_end(&mut self, shim: &ShimId<'_>) -> bool {
        let key = (shim.0, shim.1);
        !self.moved_on.contains(&key) && *self.alive.entry(key).or_insert_with(|| shim_lives(shim))
    }
}

/// Returns whether a shim lives. A shim of another machine or container cannot be seen, and may live.
pub fn shim_lives(shim: &ShimId<'_>) -> bool {
    match MachineIdentity::here().whereabouts_of(&shim.2) {
        Some(TaskWhereabouts::Here) => {
            sys::identity(Pid::from_raw(shim.0)).is_some_and(|now| now.started == shim.1 && !now.zombie)
        }
        Some(TaskWhereabouts::BeforeRestart) => false,
        Some(TaskWhereabouts::Elsewhere) | None => true,
    }
}
