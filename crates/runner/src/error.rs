//! Why no command could be run. A command that ran is never an error.

use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::drafts::DraftFault;
use crate::pattern::JsPatternError;
use crate::pty::TerminalError;
use crate::registry::RegistryError;
use crate::request::RequestError;
use crate::supervise::HelperError;
use confine_policy::{MissingPart, PolicyError};
use protocol::plan::{EnvironmentError, ShellNotFound};
use safety::RuleFinding;
use undo::UndoError;

/// Why no command could be run. Each variant has a stable code.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An option has an impossible value.
    #[error("{0}")]
    InvalidArg(String),
    /// Options that cannot be run as they are.
    #[error(transparent)]
    Request(RequestError),
    /// Required parts of a confinement cannot be held.
    #[error("{}", MissingPart::describe_all(.0))]
    Confinement(Vec<MissingPart>),
    /// The caller's `env` has an entry that no environment can hold.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A pattern is no regular expression.
    #[error(transparent)]
    Pattern(#[from] JsPatternError),
    /// The directory to start in does not exist.
    #[error("Working directory does not exist: {}{}", .0.display(), tilde(.0))]
    CwdNotFound(PathBuf),
    /// The directory to start in is a file.
    #[error("Working directory is not a directory: {}", .0.display())]
    CwdNotDirectory(PathBuf),
    /// There is no shell to run the command.
    #[error(transparent)]
    ShellNotFound(#[from] ShellNotFound),
    /// The command could not be started.
    #[error("could not start the command ({what}{}): {command}", suffix(.source.as_ref()))]
    Spawn {
        /// The step that failed.
        what: String,
        /// Why the step failed, if anything reports a reason.
        source: Option<SpawnCause>,
        /// The first 80 characters of the command.
        command: String,
    },
    /// A registry refuses a request.
    #[error(transparent)]
    Registry(RegistryError),
    /// The session was closed.
    #[error("the session was closed")]
    SessionClosed,
    /// No run can be undone.
    #[error("nothing was undone: {0}")]
    Undo(#[from] UndoError),
    /// A draft cannot be used.
    #[error(transparent)]
    Draft(#[from] DraftFault),
    /// An undo of the command is required, and is impossible.
    #[error("the command cannot be undone as required, and nothing was started: {0}")]
    NotUndoable(String),
    /// The terminal is not in the state that was expected.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// The safety engine refuses the command.
    #[error("{message}")]
    Blocked {
        /// The message of the strictest finding.
        message: String,
        /// All findings.
        findings: Vec<RuleFinding>,
    },
    /// The caller gave the command up before it began.
    #[error("the start was aborted")]
    Aborted,
    /// The program on another machine reports an error of its own.
    #[error("{message}")]
    FromTarget {
        /// The stable code, one of [`Self::CODES`].
        code: &'static str,
        /// The problem, the value, and a remedy.
        message: String,
        /// The error of the system there (`EAGAIN`), if there is one.
        errno: Option<String>,
    },
}

/// Why a step of a start failed.
#[derive(Debug, thiserror::Error)]
pub enum SpawnCause {
    /// The system refused the step.
    #[error(transparent)]
    System(#[from] io::Error),
    /// No helper process was available.
    #[error(transparent)]
    Helper(#[from] HelperError),
}

impl SpawnCause {
    fn errno(&self) -> Option<Errno> {
        let errno = match self {
            Self::System(error) => error.raw_os_error(),
            Self::Helper(error) => error.errno(),
        };
        errno.map(Errno::from_raw)
    }
}

fn tilde(path: &Path) -> &'static str {
    if path.iter().any(|name| name == "~") { " (`~` is not expanded: use os.homedir())" } else { "" }
}

fn suffix(source: Option<&SpawnCause>) -> String {
    source.and_then(SpawnCause::errno).map(|errno| format!(": {errno}")).unwrap_or_default()
}

impl RunError {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Request(RequestError::TreeLimits)
            | Self::Terminal(TerminalError::Unavailable(_))
            | Self::Registry(RegistryError::Elsewhere { .. } | RegistryError::NoTempDirectory(_)) => {
                "ERR_BASH_UNSUPPORTED"
            }
            Self::InvalidArg(_)
            | Self::Request(_)
            | Self::Environment(_)
            | Self::Pattern(_)
            | Self::ShellNotFound(ShellNotFound::NotAName(_))
            | Self::Terminal(TerminalError::Used | TerminalError::NotStarted)
            | Self::Registry(RegistryError::Store(_)) => "ERR_BASH_INVALID_ARG",
            Self::CwdNotFound(_) => "ERR_BASH_CWD_NOT_FOUND",
            Self::CwdNotDirectory(_) => "ERR_BASH_CWD_NOT_DIRECTORY",
            Self::ShellNotFound(_) => "ERR_BASH_SHELL_NOT_FOUND",
            Self::Spawn { .. } | Self::Registry(RegistryError::Helper(_)) => "ERR_BASH_SPAWN",
            Self::Registry(RegistryError::UnknownTask { .. }) => "ERR_BASH_UNKNOWN_TASK",
            Self::Registry(RegistryError::TooManyTasks(_)) => "ERR_BASH_TOO_MANY_TASKS",
            Self::Terminal(TerminalError::Ended) | Self::Registry(RegistryError::Closed) | Self::SessionClosed => {
                "ERR_BASH_CLOSED"
            }
            Self::Confinement(_) => "ERR_BASH_CONFINEMENT",
            Self::Undo(UndoError::Relative(_)) => "ERR_BASH_INVALID_ARG",
            Self::Undo(_) | Self::NotUndoable(_) => "ERR_BASH_UNDO",
            Self::Draft(_) => "ERR_BASH_DRAFT",
            Self::Blocked { .. } => "ERR_BASH_BLOCKED",
            Self::Aborted => "ABORT_ERR",
            Self::FromTarget { code, .. } => code,
        }
    }

    /// Codes of errors that a program on another machine may report as its own.
    pub const CODES: [&str; 11] = [
        "ERR_BASH_UNSUPPORTED",
        "ERR_BASH_INVALID_ARG",
        "ERR_BASH_CWD_NOT_FOUND",
        "ERR_BASH_CWD_NOT_DIRECTORY",
        "ERR_BASH_SHELL_NOT_FOUND",
        "ERR_BASH_SPAWN",
        "ERR_BASH_UNKNOWN_TASK",
        "ERR_BASH_TOO_MANY_TASKS",
        "ERR_BASH_CLOSED",
        "ERR_BASH_UNDO",
        "ABORT_ERR",
    ];

    /// Returns the name of the system's error (`EAGAIN`), if the system refused the step.
    pub fn errno(&self) -> Option<String> {
        match self {
            Self::Spawn { source: Some(source), .. } => source.errno().map(|errno| format!("{errno:?}")),
            Self::FromTarget { errno, .. } => errno.clone(),
            _ => None,
        }
    }

    /// Returns the error of a start that failed at this step, with as much of the command as helps to recognise it.
    pub fn spawn(what: impl Into<String>, command: &str) -> Self {
        Self::failed(what.into(), None, command)
    }

    /// Like [`Self::spawn`], with the answer of the system.
    pub fn system(what: impl Into<String>, error: io::Error, command: &str) -> Self {
        Self::failed(what.into(), Some(error.into()), command)
    }

    /// Returns the error of a start for which there was no helper process.
    pub fn helper(error: HelperError, command: &str) -> Self {
        Self::failed(error.to_string(), Some(error.into()), command)
    }

    fn failed(what: String, source: Option<SpawnCause>, command: &str) -> Self {
        Self::Spawn { what, source, command: command.chars().take(80).collect() }
    }
}

impl From<RequestError> for RunError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Confine(PolicyError::Missing(missing)) => Self::Confinement(missing),
            RequestError::Confine(PolicyError::RootNotFound(root)) => Self::CwdNotFound(root),
            RequestError::Confine(PolicyError::RootNotDirectory(root)) => Self::CwdNotDirectory(root),
            RequestError::Draft(fault) => Self::Draft(fault),
            other => Self::Request(other),
        }
    }
}

impl From<RegistryError> for RunError {
    fn from(error: RegistryError) -> Self {
        match error {
            RegistryError::Helper(error) => Self::helper(error, ""),
            other => Self::Registry(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn a_refusal_of_the_system_keeps_its_source_and_shows_its_name() {
        let error = RunError::system("no pipe", io::Error::from_raw_os_error(libc::EMFILE), &"x".repeat(100));
        let command = "x".repeat(80);
        assert_eq!(error.to_string(), format!("could not start the command (no pipe: {}): {command}", Errno::EMFILE));
        assert_eq!((error.code(), error.errno().as_deref()), ("ERR_BASH_SPAWN", Some("EMFILE")));
        assert!(error.source().is_some());
        let error = RunError::spawn("no place", "x");
        assert_eq!(error.to_string(), "could not start the command (no place): x");
        assert!(error.errno().is_none() && error.source().is_none());
    }

    #[test]
    fn a_missing_helper_is_a_start_that_failed_for_a_registry_too() {
        let error = RunError::from(RegistryError::Helper(HelperError::Lost));
        assert_eq!(error.to_string(), "could not start the command (the agent-bash supervisor was killed): ");
        assert_eq!(error.code(), "ERR_BASH_SPAWN");
    }

    #[test]
    fn a_confinement_that_cannot_be_held_names_the_part_and_a_missing_root_is_that_of_any_command() {
        let of = |error: PolicyError| RunError::from(RequestError::from(error));
        let error = of(PolicyError::no_write_root("/none".as_ref(), &io::Error::from_raw_os_error(libc::ENOENT)));
        let message = "the command cannot be confined as required, and nothing was started: files: the write root /none \
                       does not exist (create it before the command starts, or leave it out of confine.write)";
        assert_eq!((error.code(), error.to_string().as_str()), ("ERR_BASH_CONFINEMENT", message));
        assert!(matches!(error, RunError::Confinement(missing) if missing.len() == 1));
        assert_eq!(of(PolicyError::RootNotFound("/none".into())).code(), "ERR_BASH_CWD_NOT_FOUND");
        let tilde = RunError::CwdNotFound("/work/~/x".into()).to_string();
        assert_eq!(tilde, "Working directory does not exist: /work/~/x (`~` is not expanded: use os.homedir())");
        assert_eq!(of(PolicyError::RootNotDirectory("/file".into())).code(), "ERR_BASH_CWD_NOT_DIRECTORY");
        assert_eq!(of(PolicyError::AllowMissing).code(), "ERR_BASH_INVALID_ARG");
    }

    #[test]
    fn each_layer_has_its_codes() {
        let unknown = RegistryError::UnknownTask { task: "t1".into(), directory: "/d".into() };
        for (error, code, message) in [
            (RunError::from(unknown), "ERR_BASH_UNKNOWN_TASK", "there is no task t1 in /d"),
            (RegistryError::Closed.into(), "ERR_BASH_CLOSED", "the registry was closed"),
            (TerminalError::Ended.into(), "ERR_BASH_CLOSED", "the program in this terminal has ended"),
            (
                TerminalError::NotStarted.into(),
                "ERR_BASH_INVALID_ARG",
                "nothing was started in this terminal yet: call start() first",
            ),
            (
                RequestError::NulInCommand.into(),
                "ERR_BASH_INVALID_ARG",
                "the command holds a NUL character, which no \
                                                                         shell can be given",
            ),
            (RunError::Aborted, "ABORT_ERR", "the start was aborted"),
        ] {
            assert_eq!((error.code(), error.to_string().as_str()), (code, message));
        }
    }
}
