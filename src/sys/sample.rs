//! What a process uses while it runs.

use nix::unistd::Pid;

use super::Usage;

/// What a process uses at one moment, or has used when it has ended and nobody has waited for it yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Its parent.
    pub parent: Pid,
    /// Of itself and of all that it has waited for; the largest size is its own of this moment.
    pub usage: Usage,
    /// Memory that it has in use, bytes: what several processes share counts for each of them (on macOS for none).
    pub resident: u64,
}

/// How the memory of a process is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// From its lowest to its highest address, as the system writes it.
    pub range: String,
    /// In use, bytes.
    pub resident: u64,
    /// The same, where what n processes share counts an nth, bytes.
    pub proportional: u64,
    /// What no other memory shares, bytes.
    pub private: u64,
}

impl Memory {
    /// Whether this is, in all likelihood, the very memory of the other: the same figures, and nearly all of it not
    /// shared with any other memory, as a copy would share it.
    pub fn is_same(&self, other: &Self) -> bool {
        self.private > self.proportional / 2 && self == other
    }
}
