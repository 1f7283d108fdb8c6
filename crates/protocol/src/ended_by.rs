//! The cause of the end of a command.

use serde::{Deserialize, Serialize};

/// The cause of the end of a command that neither exited by itself nor died of a signal from elsewhere.
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
    /// The limit on the changes of its draft.
    Space,
    /// An abort.
    Abort,
    /// A person on the page.
    Page,
    /// The exit of the host.
    Host,
    /// The exit of a helper process.
    Helper,
}
