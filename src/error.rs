//! Why nothing could be run. A command that ran is never an error.

use std::path::PathBuf;

use crate::background::StoreError;
use crate::plan::{EnvironmentError, ShellNotFound};
use crate::pty::TerminalError;
use crate::safety::Finding;
use crate::supervise::HelperError;

/// Why nothing could be run; each has a stable code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option has a value that it cannot have.
    #[error("{0}")]
    InvalidArg(String),
    /// The caller's `env` holds what no environment can hold.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The folder to start in is not there.
    #[error("Working directory does not exist: {}", .0.display())]
    CwdNotFound(PathBuf),
    /// The folder to start in is something else.
    #[error("Working directory is not a directory: {}", .0.display())]
    CwdNotDirectory(PathBuf),
    /// There is no shell to run the command.
    #[error(transparent)]
    ShellNotFound(#[from] ShellNotFound),
    /// This system cannot do what was asked for.
    #[error("{0}")]
    Unsupported(String),
    /// The system refused to start the command.
    #[error("could not start the command ({what}{}): {command}", .errno.map(|errno| format!(": {errno}")).unwrap_or_default())]
    Spawn {
        /// What was tried.
        what: String,
        /// What the system answered.
        errno: Option<nix::errno::Errno>,
        /// The first 80 characters of the command.
        command: String,
    },
    /// No task of the registry has this pid or id.
    #[error("there is no task {task} in {}", folder.display())]
    UnknownTask {
        /// As it was asked for.
        task: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// The registry has as many running tasks as it may.
    #[error("{0} tasks run already, which is the most that this registry may have (maxTasks); end one first")]
    TooManyTasks(usize),
    /// The registry was closed.
    #[error("the registry was closed")]
    Closed,
    /// The session was closed.
    #[error("the session was closed")]
    SessionClosed,
    /// A terminal is not, or no longer, what was thought.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// The folder of a registry cannot be used, or a file in it.
    #[error("dir: {0}")]
    Store(#[from] StoreError),
    /// It is not let through.
    #[error("{message}")]
    Blocked {
        /// Of the strictest finding.
        message: String,
        /// All of them.
        findings: Vec<Finding>,
    },
    /// The caller gave it up before it began.
    #[error("the start was aborted")]
    Aborted,
}

impl Error {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidArg(_) | Self::Environment(_) | Self::ShellNotFound(ShellNotFound::NotAName(_)) => {
                "ERR_BASH_INVALID_ARG"
            }
            Self::CwdNotFound(_) => "ERR_BASH_CWD_NOT_FOUND",
            Self::CwdNotDirectory(_) => "ERR_BASH_CWD_NOT_DIRECTORY",
            Self::ShellNotFound(_) => "ERR_BASH_SHELL_NOT_FOUND",
            Self::Unsupported(_) | Self::Terminal(TerminalError::None(_)) => "ERR_BASH_UNSUPPORTED",
            Self::Terminal(TerminalError::Used | TerminalError::NotStarted) => "ERR_BASH_INVALID_ARG",
            Self::Terminal(TerminalError::Ended) => "ERR_BASH_CLOSED",
            Self::Spawn { .. } => "ERR_BASH_SPAWN",
            Self::UnknownTask { .. } => "ERR_BASH_UNKNOWN_TASK",
            Self::TooManyTasks(_) => "ERR_BASH_TOO_MANY_TASKS",
            Self::Closed | Self::SessionClosed => "ERR_BASH_CLOSED",
            Self::Store(_) => "ERR_BASH_INVALID_ARG",
            Self::Blocked { .. } => "ERR_BASH_BLOCKED",
            Self::Aborted => "ABORT_ERR",
        }
    }

    /// The name of the system's error (`EAGAIN`), where there is one.
    pub fn errno(&self) -> Option<String> {
        match self {
            Self::Spawn { errno: Some(errno), .. } => Some(format!("{errno:?}")),
            _ => None,
        }
    }

    /// The system refused, with as much of the command as helps to recognise it.
    pub fn spawn(what: impl Into<String>, errno: Option<i32>, command: &str) -> Self {
        Self::Spawn {
            what: what.into(),
            errno: errno.map(nix::errno::Errno::from_raw),
            command: command.chars().take(80).collect(),
        }
    }

    /// No helper process could be had.
    pub fn helper(error: &HelperError, command: &str) -> Self {
        Self::spawn(error.to_string(), error.errno(), command)
    }
}
