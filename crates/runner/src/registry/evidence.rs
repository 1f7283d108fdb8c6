//! What the command of a task proved, as far as this process knows it.

use std::sync::Arc;

use crate::supervise::Watched;
use evidence::{End, Evidence};
use protocol::task::{Task, TaskState};
use sys::Signal;

/// The evidence of a task.
#[derive(Default)]
pub(super) enum EvidenceState {
    /// It is not wanted, or another process has started the task.
    #[default]
    Off,
    /// The task goes on.
    Going(Watched),
    /// The task has ended.
    Done(Arc<Evidence>),
}

impl EvidenceState {
    /// Reads the evidence of a task that has ended, once.
    pub fn on_end(&mut self, task: &Task) {
        if let Self::Going(watched) = self {
            let evidence = watched.prove((&task.mark, &task.command), end_of(task), |_| Vec::new());
            *self = Self::Done(Arc::new(evidence));
        }
    }

    /// Returns the evidence of a task that has ended.
    pub fn known(&self) -> Option<Arc<Evidence>> {
        match self {
            Self::Done(evidence) => Some(Arc::clone(evidence)),
            Self::Off | Self::Going(_) => None,
        }
    }
}

fn end_of(task: &Task) -> End {
    let signal = task.signal.as_deref().and_then(|name| Signal::from_name(name).ok()).map(Signal::number);
    let code = task.exit_code.filter(|_| task.signal.is_none());
    End { code, signal, by_itself: task.ended_by.is_none() && task.state != TaskState::Lost }
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
            (task(TaskState::Exited, Some(3), None, None), End { code: Some(3), signal: None, by_itself: true }),
            (
                task(TaskState::Killed, Some(137), Some("SIGKILL"), None),
                End { code: None, signal: Some(9), by_itself: true },
            ),
            (
                task(TaskState::Killed, Some(124), Some("SIGTERM"), Some(EndedBy::Timeout)),
                End { code: None, signal: Some(15), by_itself: false },
            ),
            (task(TaskState::Lost, None, None, None), End { code: None, signal: None, by_itself: false }),
        ];
        for (task, end) in rows {
            assert_eq!(end_of(&task), end, "{task:?}");
        }
    }

    #[test]
    fn evidence_is_read_once_at_the_end() {
        let ended = task(TaskState::Exited, Some(0), None, None);
        let mut state = EvidenceState::Going(Watched::default());
        assert!(state.known().is_none());
        state.on_end(&ended);
        let first = state.known().expect("read");
        state.on_end(&ended);
        assert!(Arc::ptr_eq(&first, &state.known().expect("kept")));
        let mut off = EvidenceState::Off;
        off.on_end(&ended);
        assert!(off.known().is_none());
    }
}
