//! Messages between a task server and the processes that follow its task: the host, and other processes that opened the
//! registry's directory.

use serde::{Deserialize, Serialize};

use super::TASK_PROTOCOL;
use super::frames::ProtocolMessage;
use crate::task::Task;

/// Longest part of an unfinished line that is reported, counted from its end, bytes.
pub const MAX_PENDING: usize = 8 * 1024;

/// From any process to a task server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToTask {
    /// Asks for one [`FromTask::Grew`].
    Watch {
        /// The answer is sent once the log has more output bytes than this.
        from: u64,
        /// Whether a change of an unfinished line is answered, too.
        pending: bool,
    },
    /// Writes unfinished lines to the log.
    Settle,
    /// Terminates the task: SIGTERM, grace, SIGKILL.
    End,
}

/// From a task server to any process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromTask {
    /// The first message: the task that this shim serves from now on.
    Task(#[serde(with = "json")] Box<Task>),
    /// The last state of the task.
    Ended(#[serde(with = "json")] Box<Task>),
    /// The log has grown.
    Grew {
        /// Number of output bytes in the log.
        bytes: u64,
        /// The unfinished lines, if the request asked for them.
        pending: Vec<String>,
    },
}

impl ProtocolMessage for ToTask {
    const PROTOCOL: u32 = TASK_PROTOCOL;
}

impl ProtocolMessage for FromTask {
    const PROTOCOL: u32 = TASK_PROTOCOL;
}

/// Encodes a task as the JSON of its state file, with the version of that file.
mod json {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserializer, Serializer};

    use crate::plan::bytes;
    use crate::task::Task;

    pub fn serialize<S: Serializer>(task: &Task, serializer: S) -> Result<S::Ok, S::Error> {
        bytes::serialize(&serde_json::to_vec(task).map_err(S::Error::custom)?, serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<Task>, D::Error> {
        let json: Vec<u8> = bytes::deserialize(deserializer)?;
        serde_json::from_slice(&json).map(Box::new).map_err(D::Error::custom)
    }
}
