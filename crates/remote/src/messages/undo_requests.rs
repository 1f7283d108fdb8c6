//! The undo of runs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a host wants undone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetUndoRequest {
    /// The run.
    pub run: String,
    /// Only report the effect.
    pub dry_run: bool,
    /// Absolute paths. Only these and everything below them are undone. Empty: no limit.
    pub paths: Vec<PathBuf>,
    /// The absolute directory of the store. `None`: the user's store there.
    pub dir: Option<String>,
}

/// Where a host looks for the newest run that an undo would take back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewestUndoRequest {
    /// The absolute directory in which it ran, or above.
    pub cwd: PathBuf,
    /// Absolute paths. Only what an undo for these would take back counts. Empty: no limit.
    pub paths: Vec<PathBuf>,
    /// The absolute directory of the store. `None`: the user's store there.
    pub dir: Option<String>,
}

/// Which undo points a host asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoPointsRequest {
    /// Only those of commands that ran in this absolute directory or below.
    pub cwd: Option<PathBuf>,
    /// The absolute directory of the store. `None`: the user's store there.
    pub dir: Option<String>,
}
