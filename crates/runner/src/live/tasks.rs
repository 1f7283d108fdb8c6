//! The tasks of a registry, as watchers see them.

use std::fs::File;

use super::run::{Facts, LINE};
use super::shape::{Ended, Ending, Kind, Run, State, cut, shown_command, shown_directory};
use super::usage::Usage;
use protocol::task::{Task, TaskState, now_ms};

/// Bytes at the end of a log that are searched for its last line.
const END: u64 = 4 * 1024;

/// A registry, as far as watchers need it.
pub trait TaskSource: Send + Sync {
    /// Returns the tasks of this machine that run. `fresh`: the directory is read, too, for those of other processes.
    fn running(&self, fresh: bool) -> Vec<Task>;
    /// Returns the last known state of a task.
    fn task(&self, id: &str) -> Option<Task>;
    /// Returns the state of a task, its log, and the end of its output there.
    fn readable(&self, id: &str) -> Option<(Task, File, u64)>;
    /// Terminates a task with its whole tree.
    fn stop(&self, id: &str);
}

/// Returns the description of a task that runs. `before`: an earlier one.
pub fn run_of_task(task: &Task, source: &dyn TaskSource, usage: Option<&Usage>, before: Option<&Run>) -> Run {
    let usage = usage.cloned().unwrap_or_default();
    let command = || shown_command(&Facts::beginning_of(&task.command));
    Run {
        key: task.id.clone(),
        run_id: task.mark.clone(),
        kind: Kind::Task,
        command: before.map_or_else(command, |before| before.command.clone()),
        cwd: shown_directory(task.cwd.clone()),
        actor: None,
        started_at: task.started_at,
        state: State::Running,
        waiting: None,
        last_line: last_line(source, &task.id).unwrap_or_default(),
        cpu_ms: usage.cpu_ms,
        memory: usage.memory,
        pid: Some(task.pid),
        task_id: Some(task.id.clone()),
        ports: usage.ports,
        undo: task.record.as_ref().is_some_and(|record| !record.store.as_os_str().is_empty()),
        stdin: false,
    }
}

/// Returns the end of a task that runs no more. `task` is `None` if its files are gone.
pub fn ended_task(id: &str, task: Option<Task>) -> Ended {
    let Some(task) = task else { return Ending::without_exit(ledger::State::Lost).of(id.to_owned()) };
    let state = match task.state {
        TaskState::Exited => ledger::State::Exited,
        TaskState::Killed => ledger::State::Signaled,
        TaskState::Lost | TaskState::Running => ledger::State::Lost,
    };
    Ended {
        key: task.id,
        state,
        exit_code: task.exit_code,
        signal: task.signal,
        ended_at: task.ended_at.unwrap_or_else(now_ms),
        receipt: None,
    }
}

/// Returns the last line of a log that is not blank.
fn last_line(source: &dyn TaskSource, id: &str) -> Option<String> {
    use std::os::unix::fs::FileExt;
    let (_, log, end) = source.readable(id)?;
    let from = end.saturating_sub(END);
    let mut bytes = vec![0; usize::try_from(end - from).ok()?];
    log.read_exact_at(&mut bytes, from).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(cut(last_of(&text), LINE))
}

/// Returns the last line that is not blank, without control characters.
pub fn last_of(text: &str) -> String {
    let line = text.trim_end().rsplit('\n').next().unwrap_or_default();
    let line = line.rsplit('\r').next().unwrap_or_default();
    line.chars().filter(|character| !character.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_is_not_blank() {
        for (text, line) in [
            ("a\nb\n", "b"),
            ("a\nb", "b"),
            ("a\n\n  \n", "a"),
            ("", ""),
            ("\n", ""),
            ("10%\r20%", "20%"),
            ("x\x07y\n", "xy"),
        ] {
            assert_eq!(last_of(text), line, "{text:?}");
        }
    }
}
