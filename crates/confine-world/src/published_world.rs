//! Facts for another supervisor that joins a world.

use serde::{Deserialize, Serialize};

use confine_policy::{ConfinementPolicy, WorldFacts};
use sys::DeviceInode;

/// Facts about a world that another supervisor needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedWorld {
    /// The reach of the world's commands.
    pub policy: ConfinementPolicy,
    /// The write roots of the policy as they were when the world was made.
    pub roots: Vec<Option<DeviceInode>>,
    /// The facts of the world.
    pub facts: WorldFacts,
}

impl PublishedWorld {
    /// Describes a world that is made now.
    pub fn describe_world(policy: &ConfinementPolicy, facts: &WorldFacts) -> Self {
        Self { policy: policy.clone(), roots: roots_of(policy), facts: facts.clone() }
    }
}

/// Returns the write roots of a policy as they are now.
pub(super) fn roots_of(policy: &ConfinementPolicy) -> Vec<Option<DeviceInode>> {
    policy.write.iter().map(|root| DeviceInode::of(root).ok()).collect()
}
