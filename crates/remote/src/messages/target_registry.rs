//! Registries of tasks: what a host asks of one, and what happens in it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use evidence::CommandEvidence;
use protocol::task::{Task, TaskStore};
use receipt::recording::RunRecord;
use runner::registry::TaskCheck;

/// What a host asks of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetRegistryRequest {
    /// Open it. The run of this question is the registry's own: it carries [`RegistryEvent`]s, and is answered when the
    /// registry is closed. [`super::TargetCall::TaskOutputTaken`] goes to this run, and
    /// [`super::TargetCall::OutputTaken`] answers each event.
    Open(RegistryOpening),
    /// Set whether the output of tasks is sent. Their ends are in any case.
    Watch {
        #[expect(missing_docs, reason = "see above")]
        output: bool,
    },
    /// List the tasks.
    List,
    /// Read the new output of a task, or what follows a cursor.
    Check {
        /// Its id or pid.
        task: String,
        /// The offset in its log, bytes.
        cursor: Option<u64>,
    },
    /// Wait for a task. [`super::TargetCall::Abort`] gives the wait up.
    Wait {
        /// Its id or pid.
        task: String,
        /// What ends the wait besides the end of the task.
        until: TaskWaitConditions,
    },
    /// End the tree of a task, named by its id or pid.
    Kill(String),
    /// End tasks that do not outlive the host, and release the others.
    Close,
}

/// The options of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryOpening {
    /// The absolute directory of tasks that outlive the host. `None`: a temporary one.
    pub dir: Option<PathBuf>,
    /// The most tasks that may run.
    pub max_tasks: u64,
    /// The most bytes of a log.
    pub max_log_bytes: u64,
    /// Time that an ended task is kept.
    pub retention: Duration,
    /// Whether the output of tasks is sent. Their ends are in any case.
    pub output: bool,
}

/// What ends a wait besides the end of its task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskWaitConditions {
    /// This time is up.
    pub timeout: Option<Duration>,
    /// Unread output matches this ECMAScript regular expression with these flags.
    pub pattern: Option<(String, String)>,
    /// This port accepts a connection there.
    pub port: Option<u16>,
}

/// The answer of a registry, each with the directory of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetRegistryResponse {
    /// Its tasks, the oldest first, and problems with its files.
    Listed(#[serde(with = "runner::as_json")] Vec<Task>, Vec<String>, TaskStore),
    /// A task with its new output.
    Checked(Box<TaskCheck>, TaskStore),
    /// It is done.
    Done,
}

/// What happens in a registry.
#[expect(clippy::large_enum_variant, reason = "events are boxed as a whole")]
#[derive(Debug, Serialize, Deserialize)]
pub enum RegistryEvent {
    /// It is open, with these tasks and its files in this directory. The ends of tasks that run are told later.
    Opened(#[serde(with = "runner::as_json")] Vec<Task>, TaskStore),
    /// A task has written output, answered by [`super::TargetCall::TaskOutputTaken`].
    Output(#[serde(with = "runner::as_json")] Task, String),
    /// A task has ended, with its record and its evidence.
    Exited(
        #[serde(with = "runner::as_json")] Task,
        Option<RunRecord>,
        #[serde(with = "runner::as_json")] Option<CommandEvidence>,
    ),
}
