//! What has ended a command, in the words that people read.

use serde::{Deserialize, Serialize};

/// What has ended a command, unless it exited by itself or by a signal of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndedBy {
    /// The time limit.
    Timeout,
    /// The limit on silence.
    Silence,
    /// The limit on CPU time.
    Cpu,
    /// The limit on memory.
    Memory,
    /// The limit on processes.
    Processes,
    /// An abort.
    Abort,
    /// A person, on the page.
    Page,
    /// The end of its host.
    Host,
    /// The end of a helper process.
    Helper,
}
