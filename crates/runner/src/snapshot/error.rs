//! Why a command runs without the snapshot that it asked for.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::task::JoinError;

use crate::error::RunError;

/// Why there is no snapshot. The text ends a note: `the command ran without the snapshot of the user's shell: …`.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The command's shell cannot read the snapshot.
    #[error("only bash can read it, and the shell is {shell}")]
    OtherShell {
        /// The basename of the command's shell.
        shell: String,
    },
    /// The command's environment makes bash read other files.
    #[error("with {variable} in its environment bash reads other files first, or none")]
    OtherFiles {
        /// The variable.
        variable: &'static str,
    },
    /// Confined commands may change the sources of the snapshot, and it is read outside of their confinement.
    #[error("the command is confined, and such commands may change {}", path.display())]
    Changeable {
        /// The rc file, the home or the shell.
        path: PathBuf,
    },
    /// An rc file is a directory.
    #[error("{} is a directory", path.display())]
    Directory {
        /// The path.
        path: PathBuf,
    },
    /// An rc file cannot be opened.
    #[error("{} could not be read ({source})", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system gave no files to exchange data with the shell.
    #[error("no files could be made for it ({0})")]
    Files(#[source] io::Error),
    /// The shell that reads the rc files did not start.
    #[error("the shell to read them in could not be started ({0})")]
    Reader(#[source] RunError),
    /// An rc file took too long.
    #[error("{file} did not end within {} s", limit.as_secs())]
    Slow {
        /// The file, or a description of it.
        file: String,
        /// The time limit.
        limit: Duration,
    },
    /// bash cannot parse an rc file.
    #[error("{file} has a syntax error")]
    Syntax {
        /// The file, or a description of it.
        file: String,
    },
    /// The shell exited before its state was written.
    #[error("{file} ended the shell that read it, or took its place{}", exit_code.map(|code| format!(" (exit code {code})")).unwrap_or_default())]
    Exited {
        /// The file, or a description of it.
        file: String,
        /// The exit code of the shell, if it was reported.
        exit_code: Option<i32>,
    },
    /// The state is too large to be read before every command.
    #[error("its functions and aliases take {} KB; at most 1 MB can be used", bytes / 1000)]
    TooLarge {
        /// Size of the state.
        bytes: usize,
    },
    /// No file could be made for the trial in a fresh shell.
    #[error("{0}")]
    TrialFile(#[source] io::Error),
    /// The trial shell did not start.
    #[error("a shell to try it in could not be started")]
    Trial(#[source] RunError),
    /// The trial shell printed something: a part of the state was refused.
    #[error("a fresh shell could not take all of it over")]
    Partial,
    /// The trial took too long.
    #[error("a fresh shell took more than {} s to take it over", limit.as_secs())]
    SlowTrial {
        /// The time limit.
        limit: Duration,
    },
    /// The trial shell failed.
    #[error("a fresh shell failed as it took it over")]
    FailedTrial,
    /// An internal fault while the files on disk were searched.
    #[error("agent-bash failed as it looked for it; please report it")]
    SearchFault(#[source] JoinError),
    /// An internal fault while the rc files were read.
    #[error("agent-bash failed as it took it; please report it")]
    ReadFault(#[source] JoinError),
}
