//! What a task is, as its state file has it.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::capture::Sanitize;
use crate::sys;

/// What a shim is told of a task that it is to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Names the task and its files.
    pub id: String,
    /// The registry's folder.
    pub folder: PathBuf,
    /// As it was given, for people.
    pub command: String,
    /// The folder it was started in.
    pub cwd: String,
    /// The most its log may hold, bytes.
    pub max_log_bytes: u64,
    /// How its output is cleaned; `None`: only decoded.
    pub sanitize: Option<Sanitize>,
    /// It outlives the host.
    pub detached: bool,
    /// Its time limit from the start of its process, ms.
    pub limit_ms: u64,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It runs.
    Running,
    /// It ended by itself, with an exit code.
    Exited,
    /// It was ended: by a signal, by `kill`, at a limit.
    Killed,
    /// Nobody saw its end.
    Lost,
}

/// A task. The state file is this as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Of the file's format.
    pub version: u32,
    /// Names the task and its files.
    pub id: String,
    /// The process whose end is the task's.
    pub pid: i32,
    /// Its process group.
    pub pgid: i32,
    /// As it was given.
    pub command: String,
    /// The folder it was started in.
    pub cwd: String,
    /// Unix time, ms.
    pub started_at: u64,
    #[expect(missing_docs, reason = "see its type")]
    pub state: State,
    /// As in a result; `None` while it runs and when it was lost.
    pub exit_code: Option<i32>,
    /// The strongest that was sent, or that ended it.
    pub signal: Option<String>,
    /// Unix time, ms.
    pub ended_at: Option<u64>,
    /// Bytes of output in its log, known at the end: what follows is the closing line.
    pub output_bytes: Option<u64>,
    /// It outlives the host.
    pub detached: bool,
    /// Which start of the machine it belongs to.
    pub boot: String,
    /// The mark that its processes carry.
    pub mark: String,
    /// What went wrong with its files, and which limit it broke.
    pub notes: Vec<String>,
}

/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Code(i32),
    /// By this signal, whatever its handler did, with this exit code.
    Signal(String, i32),
    /// Nobody saw it.
    Lost(Loss),
}

/// Why nobody saw a task's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The machine was restarted.
    Restart,
    /// Its shim was killed.
    Helper,
    /// The system does not tell: it was no child of its shim.
    Unseen,
}

impl Task {
    /// One that has just begun.
    pub fn begin(order: &Order, pid: i32, pgid: i32, mark: &str, started_at: u64) -> Self {
        Self {
            version: VERSION,
            id: order.id.clone(),
            pid,
            pgid,
            command: order.command.clone(),
            cwd: order.cwd.clone(),
            started_at,
            state: State::Running,
            exit_code: None,
            signal: None,
            ended_at: None,
            output_bytes: None,
            detached: order.detached,
            boot: sys::boot_id(),
            mark: mark.to_owned(),
            notes: Vec::new(),
        }
    }

    /// Whether it runs, as far as this copy knows.
    pub fn is_running(&self) -> bool {
        self.state == State::Running
    }

    /// Takes its end down.
    pub fn end(&mut self, end: End, output_bytes: u64) {
        (self.state, self.exit_code, self.signal) = match end {
            End::Code(code) => (State::Exited, Some(code), None),
            End::Signal(name, code) => (State::Killed, Some(code), Some(name)),
            End::Lost(loss) => {
                self.notes.push(loss.reason().to_owned());
                (State::Lost, None, None)
            }
        };
        self.ended_at = Some(now_ms());
        self.output_bytes = Some(output_bytes);
    }

    /// As it was while it ran.
    pub fn before_its_end(self) -> Self {
        Self { state: State::Running, exit_code: None, signal: None, ended_at: None, output_bytes: None, ..self }
    }

    /// Why it was lost, should it now turn out that nobody keeps it.
    pub fn loss(&self) -> Loss {
        if self.boot == sys::boot_id() { Loss::Helper } else { Loss::Restart }
    }

    /// The last line of its log, with its newline.
    pub fn closing_line(&self) -> String {
        let how = match (self.state, self.exit_code, &self.signal) {
            (State::Exited, Some(0), _) => "completed".to_owned(),
            (State::Exited, Some(code), _) => format!("failed: exit code {code}"),
            (State::Killed, _, Some(signal)) => format!("killed: {signal}"),
            (State::Lost, ..) => format!("lost: {}", self.notes.last().map_or("", String::as_str)),
            _ => "ended".to_owned(),
        };
        format!("[background process {how}]\n")
    }
}

impl Loss {
    /// For people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Restart => "the machine was restarted",
            Self::Helper => "its helper process was killed",
            Self::Unseen => "this system does not tell how it ended",
        }
    }
}

/// Unix time, ms.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
