//! Why a draft cannot be used.

use std::io;

use draft::draft_commit::CommitError;
use draft::draft_error::DraftError;

/// The kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftReason {
    /// This system cannot do it.
    Unsupported,
    /// There is no such draft.
    Unknown,
    /// A command runs in it, or another process commits, forks or discards it.
    Busy,
    /// The disk is full.
    Space,
    /// The directory cannot be drafted.
    Root,
}

impl DraftReason {
    /// Returns the public name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::Unknown => "unknown",
            Self::Busy => "busy",
            Self::Space => "space",
            Self::Root => "root",
        }
    }
}

/// Why a draft cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct DraftFault {
    #[expect(missing_docs, reason = "see its type")]
    pub reason: DraftReason,
    /// The problem, the value, and a remedy.
    pub message: String,
}

impl DraftFault {
    /// Makes a fault.
    pub fn new(reason: DraftReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

impl From<DraftError> for DraftFault {
    fn from(error: DraftError) -> Self {
        let reason = match &error {
            DraftError::Unknown(_) => DraftReason::Unknown,
            DraftError::Busy(_) => DraftReason::Busy,
            DraftError::Root { .. } => DraftReason::Root,
            DraftError::System { source, .. } if source.kind() == io::ErrorKind::StorageFull => DraftReason::Space,
            DraftError::System { .. } => DraftReason::Unsupported,
        };
        Self { reason, message: error.to_string() }
    }
}

impl From<CommitError> for DraftFault {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Draft(error) => error.into(),
            error => Self::new(DraftReason::Unsupported, error.to_string()),
        }
    }
}
