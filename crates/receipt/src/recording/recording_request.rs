//! The wishes of a caller.

use std::path::PathBuf;

use undo::UndoLimits;

/// The wishes of a caller: a receipt of a run, and an undo. At least one of both is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingRequest {
    /// The receipt. `None`: only runs that can be undone have one.
    pub receipt: Option<ReceiptSource>,
    /// The runs that can be undone. `None`: no run.
    pub undo: Option<RequestedUndo>,
    /// The directory of the undo store. `None`: no directory is known, or none is needed.
    pub store: Option<PathBuf>,
}

/// Source of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptSource {
    /// From the system's reports about a tree of directories.
    Watch,
    /// From every change of the run's own processes.
    Exact,
}

/// The undo of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestedUndo {
    /// The runs for which an undo is wanted.
    pub when: UndoCondition,
    /// Whether a run is refused that its undo would not cover in full.
    pub require: bool,
    /// Limits on kept files.
    pub limits: UndoLimits,
}

/// The runs for which an undo is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoCondition {
    /// Runs that a person would be warned of or asked about, and runs that delete or overwrite existing files.
    Risky,
    /// All runs.
    Always,
}

impl RecordingRequest {
    /// Returns whether the command's words have to be analysed before it runs.
    pub fn needs_analysis(&self) -> bool {
        self.undo.is_some() || self.receipt == Some(ReceiptSource::Exact)
    }
}
