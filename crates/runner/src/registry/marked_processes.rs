//! The processes of a task whose shim was killed.

use crate::supervise::ProcessTraces;
use protocol::task::Task;

/// Kills all processes of a task that can be found. The shim is gone, and perhaps also the supervisor, which would have
/// killed them.
pub async fn kill_marked(task: &Task) {
    ProcessTraces::of_task(task).kill().await;
}
