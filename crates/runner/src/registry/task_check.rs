//! New output in a task's log.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use super::error::RegistryError;
use super::foreign_port_owner::ForeignPortOwner;
use super::task_registry::{KILL_BOUND, RegisteredTask, SCAN_EVERY, TaskRegistry};
use capture::{SanitizeRules, StreamCapture, StreamTruncation, TruncationPolicy};
use evidence::CommandEvidence;
use protocol::task::Task;
use protocol::task::TaskLogReader;
use receipt::recording::RunRecord;

/// The most bytes that are read on the thread of the caller. More bytes are read on a thread that may block.
const AT_ONCE: u64 = 256 * 1024;
/// Time a shim has to write the closing line.
const CLOSED: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(1);

/// A task and its new output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCheck {
    /// The task at that time.
    #[serde(with = "crate::as_json")]
    pub task: Task,
    /// The new output, cut like a result.
    pub output: String,
    /// Lines of the new output before the cut.
    pub new_lines: u64,
    /// The offset up to which the log was read, bytes.
    pub cursor: u64,
    /// How the new output was cut.
    pub truncation: Option<StreamTruncation>,
    /// Whether the wait has found its pattern or port.
    pub matched: bool,
    /// The process that has the port, if it does not belong to the task.
    pub stranger: Option<ForeignPortOwner>,
    /// Record of the task. `None`: nothing was recorded, or the task runs.
    #[serde(with = "crate::as_json::shared")]
    pub recorded: Option<Arc<RunRecord>>,
    /// What the task proved. `None`: that was not wanted, another process has started the task, or the task runs.
    #[serde(with = "crate::as_json::shared")]
    pub evidence: Option<Arc<CommandEvidence>>,
}

/// A part of a task's log, with the task at the same time.
struct TaskOutputRange {
    task: Task,
    file: File,
    start: u64,
    end: u64,
}

impl TaskRegistry {
    /// Returns the output since the last check, or since a cursor of the caller, which leaves the shared cursor
    /// unchanged.
    ///
    /// # Errors
    /// [`RegistryError::UnknownTask`], [`RegistryError::Closed`], [`RegistryError::Store`]
    pub async fn check(self: &Arc<Self>, named: &str, cursor: Option<u64>) -> Result<TaskCheck, RegistryError> {
        let (task, _reading) = self.find(named)?;
        self.read_new_output(&task.id, cursor, false).await
    }

    /// Like [`Self::check`], for a known task.
    pub(super) async fn read_new_output(
        self: &Arc<Self>,
        id: &str,
        cursor: Option<u64>,
        matched: bool,
    ) -> Result<TaskCheck, RegistryError> {
        self.wait_until_closed(id).await;
        let TaskOutputRange { task, file, start, end } = self.take_range(id, cursor)?;
        let evidence = if task.is_running() { None } else { self.wait_for_evidence(id).await };
        let recorded = if task.is_running() { None } else { self.wait_for_record(id).await };
        let log = self.store.log_path(id);
        let read = move || -> std::io::Result<TaskCheck> {
            let captured = capture_range(file, start, end, log)?;
            let (output, new_lines, truncation) = (captured.text, captured.total_lines, captured.truncation);
            let stranger = None;
            Ok(TaskCheck { task, output, new_lines, cursor: end, truncation, matched, stranger, recorded, evidence })
        };
        let read = if end - start <= AT_ONCE {
            read()
        } else {
            tokio::task::spawn_blocking(read).await.unwrap_or_else(|error| Err(std::io::Error::other(error)))
        };
        read.map_err(|source| {
            RegistryError::Store(protocol::task::TaskStoreError::Folder { path: self.store.log_path(id), source })
        })
    }

    /// Waits for the closing line of a task that has ended.
    async fn wait_until_closed(&self, id: &str) {
        let until = Instant::now() + CLOSED;
        while self.store.read(id).is_ok_and(|task| task.is_some_and(|task| self.is_closing(&task))) {
            if Instant::now() >= until {
                return;
            }
            sleep(POLL).await;
        }
    }

    /// Returns the part of the log to read. With the shared cursor, no two checks get the same part.
    fn take_range(&self, id: &str, cursor: Option<u64>) -> Result<TaskOutputRange, RegistryError> {
        let unknown = || RegistryError::UnknownTask { task: id.to_owned(), directory: self.store.path().to_owned() };
        let mut inner = self.open_inner()?;
        let (task, file, end) = self.store.read_with_log(id)?.ok_or_else(unknown)?;
        self.update_task(&mut inner, task, None);
        let entry = inner.entries.get_mut(id).ok_or_else(unknown)?;
        let start = match cursor {
            Some(cursor) => cursor.min(end),
            None => std::mem::replace(&mut entry.cursor, end).min(end),
        };
        Ok(TaskOutputRange { task: entry.task.clone(), file, start, end })
    }

    /// Terminates the tree of a task, and waits for its end. No-op for a task that has ended or runs elsewhere.
    pub(super) async fn terminate_and_wait(self: &Arc<Self>, id: &str) {
        let entry = |entry: &RegisteredTask| (!entry.task.is_elsewhere()).then(|| entry.progress.subscribe());
        let Some(mut progress) = self.lock_state().entries.get(id).and_then(entry) else { return };
        match self.link_to_task(id) {
            Some(sender) => sender.end(),
            // The shim does not answer. The processes with its mark are killed, and the shim notices their end.
            None => {
                let task = self.lock_state().entries.get(id).map(|entry| entry.task.clone());
                if let Some(task) = task.filter(|task| task.is_running() && self.store.has_shim(id)) {
                    super::marked_processes::kill_marked(&task).await;
                }
            }
        }
        let until = Instant::now() + KILL_BOUND;
        while !progress.borrow_and_update().ended {
            let woken = tokio::time::timeout(SCAN_EVERY, progress.changed()).await;
            if Instant::now() >= until {
                return;
            }
            if woken.is_err() {
                self.scan(&mut self.lock_state());
            }
        }
    }

    /// Terminates the tree of a task: SIGTERM, grace, SIGKILL. Returns the final output.
    ///
    /// # Errors
    /// [`RegistryError::UnknownTask`], [`RegistryError::Elsewhere`], [`RegistryError::Closed`],
    /// [`RegistryError::Store`]
    pub async fn kill(self: &Arc<Self>, named: &str) -> Result<TaskCheck, RegistryError> {
        let (task, _reading) = self.find(named)?;
        if task.is_running() && task.is_elsewhere() {
            return Err(RegistryError::Elsewhere { task: task.id, host_name: task.machine.host_name });
        }
        let id = task.id;
        self.terminate_and_wait(&id).await;
        self.read_new_output(&id, None, false).await
    }
}

fn capture_range(
    file: File,
    start: u64,
    end: u64,
    log: std::path::PathBuf,
) -> std::io::Result<capture::CapturedStream> {
    // The log is clean text already.
    let mut capture = StreamCapture::new("output", TruncationPolicy::default(), SanitizeRules::off(), false);
    capture.spill_elsewhere(log);
    let mut text = TaskLogReader::of(file, start, end)?;
    while let Some(piece) = text.piece()? {
        capture.push(piece.as_bytes());
    }
    Ok(capture.finish())
}
