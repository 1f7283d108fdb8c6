//! The request for an undo, and its answer.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::store::UndoStoreError;
use protocol::plan::bytes;

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// There is no point that can be used.
    #[error(transparent)]
    Store(#[from] UndoStoreError),
    /// A path to undo is not absolute.
    #[error("{} is not an absolute path", .0.display())]
    Relative(PathBuf),
    /// Neither the option, the environment nor the user's home gives a directory.
    #[error("there is no directory for undo points: set XDG_STATE_HOME or HOME, or give `dir`")]
    NoStore,
    /// A test has stopped the undo.
    #[error("stopped")]
    Stopped,
}

/// The effect of an undo, or of a dry run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoOutcome {
    /// Things that are as before the run again.
    #[serde(with = "bytes::paths")]
    pub restored: Vec<PathBuf>,
    /// Things that the run made.
    #[serde(with = "bytes::paths")]
    pub removed: Vec<PathBuf>,
    /// Things that stay as they are.
    pub conflicts: Vec<ReportedConflict>,
    /// Effects that no undo takes back, as sentences.
    pub not_covered: Vec<String>,
    /// The run by which this undo is undone. Empty if nothing changed.
    pub undo: String,
}

/// A thing that stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedConflict {
    #[expect(missing_docs, reason = "where it is")]
    #[serde(with = "bytes::path")]
    pub path: PathBuf,
    #[expect(missing_docs, reason = "the reason, as a sentence")]
    pub why: String,
    /// The place that keeps the earlier thing, if it is kept.
    #[serde(with = "bytes::maybe_path")]
    pub kept_at: Option<PathBuf>,
}

/// The extent of an undo.
#[derive(Debug, Clone, Copy, Default)]
pub struct UndoRequest<'a> {
    /// Only reports what an undo would do.
    pub dry_run: bool,
    /// Limits the undo to these absolute paths and everything below them. Empty: no limit.
    pub paths: &'a [PathBuf],
}
