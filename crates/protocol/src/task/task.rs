//! A task, as its state file describes it.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::machine_identity::{MachineIdentity, TaskWhereabouts};
use crate::SurvivingProcess;
use crate::ended_by::EndedBy;
use crate::plan::ChangeJournalOutcome;
use capture::SanitizeRules;
use confine_policy::ConfinementReport;
use sys::{ResourceUsage, Signal};

/// The description of a task for its shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// Name of the task and of its files.
    pub id: String,
    /// The registry's directory.
    #[serde(with = "crate::plan::bytes::path")]
    pub folder: PathBuf,
    /// The command as the caller gave it, for people.
    pub command: String,
    /// The directory in which the command was started.
    pub cwd: String,
    /// Limit on the log, in bytes.
    pub max_log_bytes: u64,
    /// How the output is cleaned. `None`: it is only decoded.
    pub sanitize: Option<SanitizeRules>,
    /// Whether the task outlives the host.
    pub detached: bool,
    /// Time limit from the start of the process, in ms.
    pub limit_ms: u64,
    /// The longest silence that is allowed, in ms. `None`: no limit.
    pub idle_ms: Option<u64>,
    /// Confinement of the task, without denials. `None`: the task is not confined.
    pub confinement: Option<ConfinementReport>,
    /// The draft in which the task runs. `None`: it runs in none.
    pub draft: Option<String>,
    /// Whether a registry of another host that opens the directory joins the world of the task.
    pub joins: bool,
}

#[cfg(any(test, debug_assertions))]
impl TaskSpec {
    /// Returns a task that outlives its host, for unit tests.
    pub fn sample(id: &str) -> Self {
        Self {
            id: id.into(),
            folder: "/".into(),
            command: "x".into(),
            cwd: "/".into(),
            max_log_bytes: 1,
            sanitize: None,
            detached: true,
            limit_ms: 1,
            idle_ms: None,
            confinement: None,
            draft: None,
            joins: false,
        }
    }
}

/// Encodes a path in a text: as it is, or as a list of bytes if it is no text.
mod path {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum PathForm {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        let form = match path.to_str() {
            Some(text) => PathForm::Text(text.to_owned()),
            None => PathForm::Bytes(path.as_os_str().as_bytes().to_owned()),
        };
        form.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match PathForm::deserialize(deserializer)? {
            PathForm::Text(text) => text.into(),
            PathForm::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}

/// Reads the name of a signal. Any other text is refused: people see it, and a command may have written the file.
fn signal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    match &name {
        Some(other) if Signal::from_name(other).is_err() => Err(D::Error::custom(format!("{other:?} is no signal"))),
        _ => Ok(name),
    }
}

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// The task runs.
    Running,
    /// The task exited by itself, with an exit code.
    Exited,
    /// The task was ended by a signal, by `kill` or at a limit.
    Killed,
    /// The end was not observed.
    Lost,
}

/// A task. The state file holds this as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The version of the file's format.
    pub version: u32,
    /// Name of the task and of its files.
    pub id: String,
    /// The process whose exit ends the task.
    pub pid: i32,
    /// The process group.
    pub pgid: i32,
    /// The command as the caller gave it.
    pub command: String,
    /// The directory in which the command was started.
    pub cwd: String,
    /// Unix time, ms.
    pub started_at: u64,
    #[expect(missing_docs, reason = "see its type")]
    pub state: TaskState,
    /// The exit code as in a result, or `None` while the task runs and after it was lost.
    pub exit_code: Option<i32>,
    /// The strongest signal that was sent, or the signal that ended the task.
    #[serde(default, deserialize_with = "signal")]
    pub signal: Option<String>,
    /// Unix time, ms.
    pub ended_at: Option<u64>,
    /// Bytes of output in the log, known at the end. The closing line follows them.
    pub output_bytes: Option<u64>,
    /// Whether the task outlives the host.
    pub detached: bool,
    /// The machine and the container in which the task runs.
    #[serde(flatten)]
    pub machine: MachineIdentity,
    /// The mark in the environment of the task's processes.
    pub mark: String,
    /// The cgroup in which the task's processes start, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<PathBuf>,
    /// The directory by which a registry of another host joins the task's world, if one does. Without namespaces the
    /// directory names the servers of the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<PathBuf>,
    /// Confinement of the task with the denials so far. `None`: the task is not confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<ConfinementReport>,
    /// The draft in which the task runs. `None`: it runs in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
    /// The record of the task's changes. `None`: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<TaskChangeJournal>,
    /// The time limit from the start of the command, ms. `None`: an earlier version wrote the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    /// The limit on silence, ms. `None`: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<u64>,
    /// The cause of the end. `None`: the task exited, died of a signal from elsewhere, or still runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<EndedBy>,
    /// Resources that the task used, known at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ResourceUsage>,
    /// Errors with the task's files, and the limit that it exceeded.
    pub notes: Vec<String>,
    /// The processes that it left running, known at its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<SurvivingProcess>,
}

/// The record of a task's changes. Its run is the mark of the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskChangeJournal {
    /// The undo store, empty if nothing was recorded.
    #[serde(with = "path")]
    pub store: PathBuf,
    /// Outcome of the record. `None` while the task runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<ChangeJournalOutcome>,
}

/// The version that is written, and the only version that is read.
pub const VERSION: u32 = 1;

/// The end of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskEnd {
    /// The task exited by itself.
    Code(i32),
    /// The task was ended by this signal, whatever its handler did, with this exit code.
    Signal(String, i32),
    /// The end was not observed.
    Lost(TaskLoss),
}

/// The reason why a task's end was not observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskLoss {
    /// The machine was restarted.
    Restart,
    /// The shim was killed.
    Helper,
    /// The system does not report the end, because the process was not a child of its shim.
    Unseen,
}

impl Task {
    /// Returns a task that has just started.
    pub fn begin(order: &TaskSpec, pid: i32, pgid: i32, mark: &str, started_at: u64) -> Self {
        Self {
            version: VERSION,
            id: order.id.clone(),
            pid,
            pgid,
            command: order.command.clone(),
            cwd: order.cwd.clone(),
            started_at,
            state: TaskState::Running,
            exit_code: None,
            signal: None,
            ended_at: None,
            output_bytes: None,
            detached: order.detached,
            machine: MachineIdentity::here().clone(),
            mark: mark.to_owned(),
            cgroup: None,
            world: None,
            confinement: order.confinement.clone(),
            draft: order.draft.clone(),
            record: None,
            limit_ms: Some(order.limit_ms),
            idle_ms: order.idle_ms,
            ended_by: None,
            usage: None,
            notes: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Returns whether the task runs, as far as this copy knows.
    pub fn is_running(&self) -> bool {
        self.state == TaskState::Running
    }

    /// Records the end of the task.
    pub fn end(&mut self, end: TaskEnd, output_bytes: u64) {
        (self.state, self.exit_code, self.signal) = match end {
            TaskEnd::Code(code) => (TaskState::Exited, Some(code), None),
            TaskEnd::Signal(name, code) => (TaskState::Killed, Some(code), Some(name)),
            TaskEnd::Lost(loss) => {
                self.notes.push(loss.reason().to_owned());
                (TaskState::Lost, None, None)
            }
        };
        self.ended_at = Some(now_ms());
        self.output_bytes = Some(output_bytes);
    }

    /// Records the outcome of the record of the task's changes.
    pub fn end_record(&mut self, end: ChangeJournalOutcome) {
        match (&mut self.record, end) {
            (_, ChangeJournalOutcome::Off) => {}
            (Some(record), end) => record.end = Some(end),
            (none, end) => *none = Some(TaskChangeJournal { store: PathBuf::new(), end: Some(end) }),
        }
    }

    /// Returns the task as it was while it ran.
    pub fn before_its_end(self) -> Self {
        Self { state: TaskState::Running, exit_code: None, signal: None, ended_at: None, output_bytes: None, ..self }
    }

    /// Returns where the task runs, as this process sees it.
    pub fn whereabouts(&self) -> TaskWhereabouts {
        self.machine.seen_from(MachineIdentity::here())
    }

    /// Returns whether the task runs on another machine or in another container. This process then cannot see the
    /// task's processes, and does not decide on the task.
    pub fn is_elsewhere(&self) -> bool {
        self.whereabouts() == TaskWhereabouts::Elsewhere
    }

    /// Returns the time until which an ended task is kept, Unix time in ms. `None`: it runs, or it is elsewhere,
    /// and the registries there remove it.
    pub fn kept_until(&self, retention: Duration) -> Option<u64> {
        let retention = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
        self.ended_at.filter(|_| !self.is_elsewhere()).map(|at| at.saturating_add(retention))
    }

    /// Returns the reason of the loss of a task that turns out to have no shim. `None` if the reason cannot be known
    /// from here.
    pub fn loss(&self) -> Option<TaskLoss> {
        match self.whereabouts() {
            TaskWhereabouts::Here => Some(TaskLoss::Helper),
            TaskWhereabouts::BeforeRestart => Some(TaskLoss::Restart),
            TaskWhereabouts::Elsewhere => None,
        }
    }

    /// Returns the last line of the log, with its newline.
    pub fn closing_line(&self) -> String {
        let how = match (self.state, self.exit_code, &self.signal) {
            (TaskState::Exited, Some(0), _) => "completed".to_owned(),
            (TaskState::Exited, Some(code), _) => format!("failed: exit code {code}"),
            (TaskState::Killed, _, Some(signal)) => format!("killed: {signal}"),
            (TaskState::Lost, ..) => format!("lost: {}", self.notes.last().map_or("", String::as_str)),
            _ => "ended".to_owned(),
        };
        format!("[background process {how}]\n")
    }
}

impl TaskLoss {
    /// All reasons, in the order of the type.
    pub const ALL: [Self; 3] = [Self::Restart, Self::Helper, Self::Unseen];

    /// Returns the reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Restart => "the machine was restarted",
            Self::Helper => "its helper process was killed",
            Self::Unseen => "this system does not tell how it ended",
        }
    }
}

/// Returns the current Unix time, in ms.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
