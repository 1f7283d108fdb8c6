//! The record of the changes of a child: the request for it, and its outcome.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The record of the files that a child and its tree change. The run has the child's mark as its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeJournalPlan {
    /// Purpose of the record.
    pub purpose: ChangeJournalPurpose,
    /// The directory of the undo store, absolute.
    #[serde(with = "super::bytes::path")]
    pub store: PathBuf,
    /// Limits on kept files.
    pub limits: ChangeJournalLimits,
    /// Whether changes that cannot be kept are refused: such a change fails with `EDQUOT`, and without a record nothing
    /// starts.
    pub require: bool,
    /// The command as the caller gave it.
    pub command: String,
    /// Start of the command, in ms since 1970.
    pub at: u64,
    /// Effects that an undo does not cover, as far as they are known before the run, as sentences.
    pub beyond: Vec<String>,
    /// The tree for a snapshot, absolute. Empty: there is no snapshot if the changes cannot be recorded.
    #[serde(with = "super::bytes::path")]
    pub tree: PathBuf,
    /// Whether the changes cannot be recorded, as far as that is known before the run.
    pub only_tree: bool,
}

/// The purpose of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangeJournalPurpose {
    /// The run can be undone.
    Undo,
    /// Only a receipt is wanted. No contents are kept.
    Receipt,
}

/// Limits on the files that a record keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeJournalLimits {
    /// The largest file that is copied, in bytes.
    pub file_bytes: u64,
    /// Bytes of all files of the run.
    pub run_bytes: u64,
    /// Bytes of all runs.
    pub store_bytes: u64,
}

/// The outcome of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeJournalOutcome {
    /// No record was wanted.
    #[default]
    Off,
    /// Nothing was changed, and the store has no record: only a receipt was wanted.
    Nothing,
    /// The record is complete, and in the store.
    Done,
    /// The record is missing, or has no end. The reason is a sentence without a period.
    Failed(String),
}
