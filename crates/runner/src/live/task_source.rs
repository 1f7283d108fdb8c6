//! The tasks of a registry, as watchers see them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::live_run::{MAX_LINE_BYTES, RunRegistration};
use super::run_description::{LiveRunState, RunDescription, RunKind, cut, shown_command, shown_directory};
use super::run_ending::{RunChanges, RunDenials, RunEndReport, RunEnding, RunResourceUsage};
use super::run_usage::RunUsageSample;
use ledger::in_milliseconds;
use protocol::EndedBy;
use protocol::task::{Task, TaskState, now_ms};
use receipt::recording::RunRecord;

/// Bytes at the end of a log that are searched for its last line.
const END: u64 = 4 * 1024;

/// A registry, as far as watchers need it.
pub trait TaskSource: Send + Sync {
    /// Returns the id of the target that has its tasks. `None`: this machine has them.
    fn target(&self) -> Option<&str> {
        None
    }
    /// Returns the tasks of that machine that run. `fresh`: the directory is read, too, for those of other processes.
    fn running(&self, fresh: bool) -> Vec<Task>;
    /// Returns the last known state of a task.
    fn task(&self, id: &str) -> Option<Task>;
    /// Returns the state of a task, its log, and the end of its output there. `None`: it cannot be read here.
    fn readable(&self, id: &str) -> Option<(Task, File, u64)>;
    /// Returns the path of a task's log.
    fn log_path(&self, id: &str) -> PathBuf;
    /// Returns the changes of a task that has ended.
    fn changes(&self, id: &str) -> TaskChanges;
    /// Terminates a task with its whole tree.
    fn stop(&self, id: &str);
}

/// The changes of a task.
#[derive(Debug, Clone)]
pub enum TaskChanges {
    /// The task was not recorded.
    Unrecorded,
    /// The record is being read. Watchers are notified when it is known.
    Pending,
    /// The record.
    Known(Arc<RunRecord>),
}

/// Returns the description of a task that runs. `before`: an earlier description of it.
pub fn describe_task(
    task: &Task,
    source: &dyn TaskSource,
    usage: Option<&RunUsageSample>,
    before: Option<&RunDescription>,
) -> RunDescription {
    let command = || shown_command(&RunRegistration::beginning_of(&task.command));
    RunDescription {
        key: task.id.clone(),
        run_id: task.mark.clone(),
        kind: RunKind::Task,
        command: before.map_or_else(command, |before| before.command.clone()),
        cwd: shown_directory(task.cwd.clone()),
        target: source.target().map(str::to_owned),
        actor: None,
        started_at: task.started_at,
        state: LiveRunState::Running,
        waiting: None,
        last_line: last_line(source, &task.id).unwrap_or_default(),
        limit_ms: task.limit_ms,
        idle_ms: task.idle_ms,
        confinement: task.confinement.as_ref().map(|confinement| confinement.profile.name()),
        size: None,
        processes: usage.map(|usage| usage.processes),
        cpu_ms: usage.map(|usage| usage.cpu_ms),
        memory: usage.map(|usage| usage.memory),
        pid: source.target().is_none().then_some(task.pid),
        task_id: Some(task.id.clone()),
        ports: usage.map(|usage| usage.ports.clone()).unwrap_or_default(),
        undo: task.record.as_ref().is_some_and(|record| !record.store.as_os_str().is_empty()),
        stdin: false,
    }
}

/// Returns the end of a task that no longer runs. `task` is `None` if its files are gone.
pub fn task_end_report(id: &str, task: Option<Task>, log: &Path, record: Option<&RunRecord>) -> RunEndReport {
    let Some(task) = task else {
        return RunEnding::with_state_only(ledger::LedgerRunState::Lost).into_report(id.to_owned());
    };
    let ended_at = task.ended_at.unwrap_or_else(now_ms);
    let state = ledger_state_of(&task);
    let (receipt, undo) = record.map(|record| (record.receipt.as_ref(), record.undo.as_ref())).unwrap_or_default();
    let duration = Duration::from_millis(ended_at.saturating_sub(task.started_at));
    let end = RunEnding {
        state,
        exit_code: task.exit_code,
        signal: task.signal,
        cause: task.ended_by,
        limit_ms: if task.ended_by == Some(EndedBy::Silence) { task.idle_ms } else { task.limit_ms },
        duration_ms: (state != ledger::LedgerRunState::Lost).then(|| in_milliseconds(duration)),
        usage: task.usage.map(RunResourceUsage::from),
        output_path: Some(log.to_string_lossy().into_owned()),
        task_id: None,
        denied: task.confinement.map(|confinement| RunDenials::from(&confinement.denials)).unwrap_or_default(),
        changed: RunChanges::from_receipt(receipt, undo),
    };
    RunEndReport { key: task.id, ended_at, end }
}

/// Returns the state that the ledger has for the end of a task.
fn ledger_state_of(task: &Task) -> ledger::LedgerRunState {
    match (task.state, task.ended_by) {
        (TaskState::Exited, _) => ledger::LedgerRunState::Exited,
        (TaskState::Killed, Some(EndedBy::Timeout | EndedBy::Silence)) => ledger::LedgerRunState::TimedOut,
        (TaskState::Killed, Some(EndedBy::Abort | EndedBy::Page | EndedBy::Host)) => ledger::LedgerRunState::Aborted,
        (TaskState::Killed, _) => ledger::LedgerRunState::Signaled,
        (TaskState::Lost | TaskState::Running, _) => ledger::LedgerRunState::Lost,
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
    Some(cut(last_line_of(&text), MAX_LINE_BYTES))
}

/// Returns the last line that is not blank, without control characters.
pub fn last_line_of(text: &str) -> String {
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
            assert_eq!(last_line_of(text), line, "{text:?}");
        }
    }
}
