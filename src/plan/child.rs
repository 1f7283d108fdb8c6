//! The plan of a child: one place turns it into a process.

use std::time::Duration;

use super::Limits;

/// What a child reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: `/dev/null`.
    Null,
    /// A pipe that travels with the plan.
    Pipe,
}

/// A child to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The program's path.
    pub program: Vec<u8>,
    /// Its arguments, the name first.
    pub argv: Vec<Vec<u8>>,
    /// Where in `argv` the path of the script goes that travels with the plan, if one does.
    pub script_at: Option<u32>,
    /// Its whole environment, `NAME=VALUE`, each ended by a NUL.
    pub env: Vec<u8>,
    /// The folder it starts in, absolute.
    pub cwd: Vec<u8>,
    /// Its file mode creation mask.
    pub umask: u32,
    /// What it reads.
    pub stdin: Stdin,
    /// Both output streams go to one pipe.
    pub merge: bool,
    /// The time limit, from the start of the process.
    pub limit: Option<Duration>,
    /// From SIGTERM to SIGKILL when its tree is ended.
    pub grace: Duration,
    /// What it may use.
    pub limits: Limits,
}
