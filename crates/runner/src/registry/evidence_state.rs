//! What the command of a task proved, as far as this process knows it.

use std::sync::Arc;

use crate::supervise::EvidenceWatch;
use evidence::{CommandEnd, CommandEvidence};
use protocol::task::{Task, TaskState};
use sys::Signal;

/// The evidence of a task.
#[derive(Default)]
pub(super) enum TaskEvidenceState {
    /// It is not wanted, or another process has started the task.
    #[default]
    Off,
    /// The task goes on.
    Going(EvidenceWatch),
    /// The task has ended, and its evidence is being read.
    Ending,
    /// The evidence is complete.
    Done(Arc<CommandEvidence>),
}

impl TaskEvidenceState {
    /// Returns whether the evidence is still to come.
    pub fn is_pending(&self) -> bool {
        matches!(self, Self::Going(_) | Self::Ending)
    }

    /// Returns the evidence of a task that has ended.
    pub fn known(&self) -> Option<Arc<CommandEvidence>> {
        match self {
            Self::Done(evidence) => Some(Arc::clone(evidence)),
            Self::Off | Self::Going(_) | Self::Ending => None,
        }
    }
}

/// Returns how the command of a task ended, in the terms of evidence.
pub(super) fn end_of(task: &Task) -> CommandEnd {
    let signal = task.signal.as_deref().and_then(|name| Signal::from_name(name).ok()).map(Signal::number);
    let code = task.exit_code.filter(|_| task.signal.is_none());
    CommandEnd { code, signal, by_itself: task.ended_by.is_none() && task.state != TaskState::Lost }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::EndedBy;
    use protocol::task::TaskSpec;

    fn task(state: TaskState, exit_code: Option<i32>, signal: Option<&str>, ended_by: Option<EndedBy>) -> Task {
        let task = Task::begin(&TaskSpec::sample("t1"), 7, 7, "mark", 0);
        Task { state, exit_code, signal: signal.map(str::to_owned), ended_by, ..task }
    }

    #[test]
    fn the_end_of_a_task_is_that_of_its_command() {
        let rows = [
            (task(TaskState::Exited, Some(3), None, None), CommandEnd { code: Some(3), signal: None, by_itself: true }),
            (
                task(TaskState::Killed, Some(137), Some("SIGKILL"), None),
                CommandEnd { code: None, signal: Some(9), by_itself: true },
            ),
            (
                task(TaskState::Killed, Some(124), Some("SIGTERM"), Some(EndedBy::Timeout)),
                CommandEnd { code: None, signal: Some(15), by_itself: false },
            ),
            (task(TaskState::Lost, None, None, None), CommandEnd { code: None, signal: None, by_itself: false }),
        ];
        for (task, end) in rows {
            assert_eq!(end_of(&task), end, "{task:?}");
        }
    }
}
