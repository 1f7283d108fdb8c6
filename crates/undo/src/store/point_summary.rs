//! The part of a point that lists and evictions need.

use serde::{Deserialize, Serialize};

use crate::manifest::{CoverageExtent, ManifestEnd, ManifestHeader, ManifestPurpose};
use crate::run_images::StoredSize;

/// A point in lists, including evicted points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PointSummary {
    #[expect(missing_docs, reason = "the run")]
    pub run: String,
    #[expect(missing_docs, reason = "its command")]
    pub command: String,
    /// Directory of the command, as text.
    pub cwd: String,
    /// Start of the run, in ms since 1970.
    pub at: u64,
    /// Bytes of the kept files, or of those that the eviction removed.
    pub bytes: u64,
    /// Bytes of disk that the point takes.
    pub cost: u64,
    /// Whether the point covered everything.
    pub all: bool,
    /// Whether the run can be undone.
    pub undoable: bool,
    /// Number of paths that the run may have changed. 0: an undo does nothing.
    pub changes: u64,
    /// The run that this run has undone, if it is an undo.
    pub of: Option<String>,
    /// The reason of the eviction. Empty if the point is there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl PointSummary {
    /// Returns the summary of a run. `changes` is the number of paths that it may have changed.
    pub fn of(
        header: &ManifestHeader,
        end: Option<&ManifestEnd>,
        StoredSize { bytes, cost }: StoredSize,
        changes: usize,
    ) -> Self {
        Self {
            run: header.run.clone(),
            command: header.command.clone(),
            cwd: header.cwd.to_string_lossy().into_owned(),
            at: header.at,
            bytes,
            cost,
            all: end.is_some_and(|end| end.extent == CoverageExtent::All),
            undoable: header.purpose != ManifestPurpose::Receipt,
            changes: changes as u64,
            of: match &header.purpose {
                ManifestPurpose::Undone(of) => Some(of.clone()),
                ManifestPurpose::Undo | ManifestPurpose::Receipt => None,
            },
            why: String::new(),
        }
    }
}
