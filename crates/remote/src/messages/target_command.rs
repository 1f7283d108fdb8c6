//! Commands, as a host orders them.

use serde::{Deserialize, Serialize};

/// A command, as the host's JavaScript gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetCommand {
    /// The name of the run, as the host has given it.
    pub mark: String,
    /// The command.
    pub command: String,
    /// The absolute directory to start in.
    pub cwd: String,
    /// The options as JSON, as `RawOptions` has them.
    pub options: String,
    /// Bytes for standard input.
    pub stdin: Option<Vec<u8>>,
    /// What runs the command.
    pub place: TargetCommandPlace,
    /// The registry of its tasks, by the number that the host gave it. That of the options has no meaning here.
    pub registry: Option<u64>,
    /// Whether it is a task from its start.
    pub background: bool,
}

/// What runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetCommandPlace {
    /// A shell of its own.
    Shell,
    /// A shell of its own, in a terminal of this size.
    Terminal {
        /// Columns.
        cols: u16,
        /// Rows.
        rows: u16,
        /// Whether somebody draws it.
        drawn: bool,
    },
    /// A session, by the number that the host gave it. An empty directory is the session's own.
    Session(u64),
}
