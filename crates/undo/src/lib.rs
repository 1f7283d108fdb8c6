//! Undo: the changes of a command are recorded while it runs, and can be taken back.
//!
//! | part | where | what |
//! |---|---|---|
//! | node, names | `node.rs`, `names.rs` | the thing at a path, and the directories that moved; pure |
//! | path map | `path_map.rs` | maps from paths; pure |
//! | manifest | `manifest/` | the record of one run, in a file |
//! | images | `images.rs` | files as they were |
//! | store | `store/` | the directory of all points, with its limits |
//! | recorder | `record/` | records each change before it happens |
//! | snapshot | `snapshot/`, `packed.rs` | a tree before a run whose changes cannot be recorded |
//! | plan | `plan/` | from before, after and now to the steps of an undo; pure |
//! | carry | `carry/` | takes the steps |
//! | gaps | `gaps.rs` | sentences about paths that are not covered; pure |
//! | points | `points.rs` | lists the runs that can be undone |
//!
//! Runs in the shim, which records, and in the host, which takes runs back. Begin with `record/mod.rs` and
//! `carry/mod.rs`.

pub mod carry;
pub mod gaps;
pub mod images;
pub mod look;
pub mod manifest;
pub mod names;
pub mod node;
mod packed;
pub mod path_map;
pub mod plan;
pub mod points;
pub mod record;
pub mod snapshot;
pub mod store;
pub mod traces;

pub use carry::{ReportedConflict, UndoError, UndoOutcome, UndoRequest, read_ended_run, undo};
pub use images::{KeepError, KeepMethod, RunImages, StoredSize, UndoLimits};
pub use manifest::{CoverageExtent, ManifestEnd, ManifestHeader, ManifestPurpose, RunManifest, VERSION};
pub use names::DirectoryNames;
pub use path_map::PathMap;
pub use points::{ListedUndoPoint, list_points, newest_to_undo};
pub use record::{ChangeJournal, ComingChange, JournalError};
pub use snapshot::TreeSnapshot;
pub use store::{EvictedFiles, PointSummary, UndoStore, UndoStoreError, default_dir, no_point_for};

#[cfg(test)]
mod speed_tests;
#[cfg(any(test, debug_assertions))]
#[expect(missing_docs, clippy::new_without_default, reason = "a scene of the tests, whose names say it")]
pub mod testing;
#[cfg(test)]
mod work;
