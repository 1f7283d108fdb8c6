//! A process that outlives its command.

use serde::{Deserialize, Serialize};

/// A process that a command left running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurvivingProcess {
    /// The pid of the process.
    pub pid: i32,
    /// The command line of the process.
    pub command: String,
    /// Whether the process holds a pipe of the command.
    pub holds: bool,
}
