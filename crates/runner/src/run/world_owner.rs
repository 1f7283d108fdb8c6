//! Owners of worlds: tools, sessions and registries whose confined commands belong together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::launch_plan::plan_in;
use super::warm_up::warm_up_as;
use crate::error::RunError;
use crate::request::PlannedRun;
use crate::supervise::{HelperProcesses, end_worlds, next_owner};

/// An owner of worlds. Its worlds end with it.
#[derive(Debug)]
pub struct WorldOwner {
    number: u64,
    has_ended: AtomicBool,
}

impl WorldOwner {
    /// Makes an owner, without worlds so far.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { number: next_owner(), has_ended: AtomicBool::new(false) })
    }

    /// Returns the owner's number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns whether the owner has ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }

    /// Ends the owner's worlds, and the world that is being begun. May be called again.
    pub fn end(&self) {
        self.has_ended.store(true, Ordering::SeqCst);
        end_worlds(self.number);
    }

    /// Begins the world of the first command in the background, with a warm shell. `first` returns the request of a
    /// command like it, and may look up files. A failure is the error of that command, which tries again.
    pub fn begin_world(self: &Arc<Self>, first: impl FnOnce() -> Result<PlannedRun, RunError> + Send + 'static) {
        let Ok(helpers) = HelperProcesses::shared() else { return };
        let owner = Arc::clone(self);
        // One after another: owners that are made and dropped in a loop have one world at a time, and of two that want
        // the same port the first one gets it.
        helpers.begin_in_turn(async move {
            if !owner.has_ended() {
                owner.make_first(first, helpers).await;
            }
            if owner.has_ended() {
                confine_policy::forget_owner(owner.number);
            }
        });
    }

    /// Makes the world of the first command, unless a command has made it. `None`: it was not made.
    async fn make_first(
        &self,
        first: impl FnOnce() -> Result<PlannedRun, RunError> + Send + 'static,
        helpers: &'static HelperProcesses,
    ) -> Option<()> {
        let mut request = helpers.runtime().spawn_blocking(first).await.ok()?.ok()?;
        let world = helpers.begin_world(request.confine.as_ref()?, || self.has_ended())?;
        let plan = plan_in(&request, || Some(world)).ok()?;
        let _ = helpers.world_made(world).await;
        // The command starts its shell itself, and needs the shim. A recorded one needs a store, which no owner makes.
        if !helpers.waits_for_command(world) || request.record.is_some() {
            return None;
        }
        warm_up_as(&mut request, plan, helpers).await.map(drop).ok()
    }
}
