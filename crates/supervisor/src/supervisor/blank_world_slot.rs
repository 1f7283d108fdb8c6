//! The blank world that a supervisor keeps for the next world.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use confine_gate::GateControl;
use confine_policy::ConfinementPolicy;
use confine_world::{BlankWorld, overlaid_caches};

/// Time a blank world waits for its policy.
const KEPT: Duration = Duration::from_secs(60);

/// The gate of a blank world. It knows no hosts and opens nothing, and its world can only have such a policy.
pub type BlankGate = (Pid, GateControl);

/// A blank world with its gate. It ends when this value is dropped.
pub struct GatedBlankWorld {
    begun: BlankWorld,
    gate: Option<BlankGate>,
    until: Instant,
}

/// The place for a blank world.
#[derive(Default)]
pub struct BlankWorldSlot {
    blank: Option<GatedBlankWorld>,
    /// The needs of the last world, which are likely those of the next one: the caches that it overlays, and whether
    /// its gate knows no hosts and opens nothing.
    caches: Vec<PathBuf>,
    is_isolated: bool,
}

impl BlankWorldSlot {
    /// Keeps the blank world for another minute, or begins one. `open_gate` starts its gate, if it gets one. Returns
    /// the init of a world that was begun.
    pub fn keep(
        &mut self,
        state: &Path,
        now: Instant,
        open_gate: impl FnOnce(&BlankWorld) -> Option<BlankGate>,
    ) -> Option<Pid> {
        let until = now + KEPT;
        if let Some(blank) = &mut self.blank {
            blank.until = until;
            return None;
        }
        let begun = BlankWorld::begin_ahead(state, &self.caches)?;
        let init = begun.init;
        let gate = if self.is_isolated { open_gate(&begun) } else { None };
        self.blank = Some(GatedBlankWorld { begun, gate, until });
        Some(init)
    }

    /// Takes the blank world, with its gate, if it can become a world with this policy. `is_isolated`: whether the gate
    /// of the policy knows no hosts and opens nothing.
    pub fn claim(
        &mut self,
        policy: &ConfinementPolicy,
        state: &Path,
        is_isolated: bool,
    ) -> Option<(BlankWorld, Option<BlankGate>)> {
        (self.caches, self.is_isolated) = (overlaid_caches(policy).to_vec(), is_isolated);
        let has_gate = |blank: &GatedBlankWorld| blank.gate.is_none() || is_isolated;
        let GatedBlankWorld { begun, gate, .. } =
            self.blank.take_if(|blank| has_gate(blank) && blank.begun.fits(policy, state))?;
        Some((begun, gate))
    }

    /// Ends a blank world that has waited for too long.
    pub fn expire(&mut self, now: Instant) {
        self.blank.take_if(|blank| now >= blank.until);
    }

    /// Returns the time until [`BlankPlace::expire`] has to be called.
    pub fn time_left(&self, now: Instant) -> Option<Duration> {
        self.blank.as_ref().map(|blank| blank.until.saturating_duration_since(now))
    }

    /// Ends the blank world if this process belongs to it and has exited.
    pub fn on_exit(&mut self, pid: Pid) {
        self.blank.take_if(|blank| blank.begun.init == pid || blank.gate.as_ref().is_some_and(|gate| gate.0 == pid));
    }

    /// Returns whether this process is the init of the blank world.
    pub fn has_init(&self, pid: Pid) -> bool {
        self.blank.as_ref().is_some_and(|blank| blank.begun.init == pid)
    }

    /// Ends the blank world, or closes this process's copies of it.
    pub fn clear(&mut self) {
        self.blank = None;
    }
}
