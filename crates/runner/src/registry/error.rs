//! Why a registry refuses a request.

use std::path::PathBuf;

use crate::supervise::HelperError;
use protocol::task::TaskStoreError;

/// Why a registry refuses a request.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// No task of the registry has this pid or id.
    #[error("there is no task {task} in {}", directory.display())]
    UnknownTask {
        /// The pid or id.
        task: String,
        /// The directory of the registry.
        directory: PathBuf,
    },
    /// The task runs on another machine or in another container.
    #[error(
        "task {task} runs elsewhere, on another machine or in another container{}: it can be ended only there",
        host_in_brackets(host_name.as_deref())
    )]
    Elsewhere {
        /// The id.
        task: String,
        /// The name of the machine or container.
        host_name: Option<String>,
    },
    /// The registry has its maximum of running tasks.
    #[error("{0} tasks run already, which is the most that this registry may have (maxTasks); end one first")]
    TooManyTasks(usize),
    /// The registry was closed.
    #[error("the registry was closed")]
    Closed,
    /// The directory of the registry, or a file in it, cannot be used.
    #[error("dir: {0}")]
    Store(#[from] TaskStoreError),
    /// No directory for temporary files can be used.
    #[error("tasks need a directory for temporary files, and {0}: set TMPDIR to a writable directory, or give `dir`")]
    NoTempDirectory(#[source] TaskStoreError),
    /// No helper process was available.
    #[error(transparent)]
    Helper(#[from] HelperError),
}

/// Returns the name of a machine in brackets, for the end of a phrase.
pub(super) fn host_in_brackets(host_name: Option<&str>) -> String {
    host_name.map(|name| format!(" ({name})")).unwrap_or_default()
}
