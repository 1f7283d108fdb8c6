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
    /// Whether it has waited for children, of which only the system's last word tells how much memory they have used.
    pub waited: bool,
    /// Memory that it has in use, bytes: what several processes share counts for each of them (on macOS for none).
    pub resident: u64,
}
