//! The facts of a world that its listeners need.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use confine_policy::ConfinementPolicy;
use confine_world::ListenerHeldWorld;

/// The facts of a world that a listener needs.
#[derive(Debug, Clone)]
pub struct ListenerSettings {
    /// The policy.
    pub policy: ConfinementPolicy,
    /// Whether mounts bound changes. Otherwise the listener does, or Landlock does, and creations are only recorded.
    pub mounts: bool,
    /// Whether the commands obey Landlock.
    pub landlock: bool,
    /// The files of a world without mounts whose listener performs what opens, changes or names a file.
    pub held: Option<ListenerHeldWorld>,
    /// Whether the world has a network of its own, and with it abstract names.
    pub own_network: bool,
    /// The address of a world without namespaces that has no network of this machine.
    pub loopback: Option<Ipv4Addr>,
    /// The socket of the world's ssh agent.
    pub agent: Option<PathBuf>,
    /// Whether a gate decides about connections, and counts the refused ones.
    pub gate: bool,
    /// When the world was made, as the time of a file, seconds and nanoseconds.
    pub begun: (i64, u32),
}

#[cfg(test)]
impl ListenerSettings {
    /// Returns the facts of a world with namespaces.
    pub fn sample(policy: ConfinementPolicy) -> Self {
        Self {
            policy,
            mounts: true,
            landlock: true,
            held: None,
            own_network: true,
            loopback: None,
            agent: None,
            gate: false,
            begun: (0, 0),
        }
    }
}
