//! Undo: the changes of a command are recorded while it runs, and can be taken back.
//!
//! | part | where | what |
//! |---|---|---|
//! | states, names | `path_state.rs`, `directory_names.rs` | the thing at a path, and moved directories; pure |
//! | path map | `path_map.rs` | maps from paths; pure |
//! | path lookup | `path_lookup.rs` | reads the thing at a path |
//! | manifest | `manifest/` | the record of one run, in a file |
//! | run images | `run_images.rs`, `packed_images.rs` | files as they were |
//! | store | `store/` | the directory of all points, with its limits |
//! | change journal | `change_journal/` | records each change before it happens |
//! | snapshot | `snapshot/` | a tree before a run whose changes cannot be recorded |
//! | plan | `plan/` | from the states before, after the run and now to the steps of an undo; pure |
//! | execution | `execution/` | takes the steps |
//! | undo traces | `undo_traces.rs` | what undos did to things that other manifests know |
//! | coverage gaps | `coverage_gaps.rs` | sentences about paths that are not covered; pure |
//! | undo points | `undo_points.rs` | lists the runs that can be undone |
//!
//! Runs in the shim, which records, and in the host, which takes runs back. `plan/decision_tables.rs` decides what an
//! undo removes, puts back and keeps: begin there, then read `change_journal/mod.rs` and `execution/mod.rs`.

pub mod change_journal;
pub mod coverage_gaps;
pub mod directory_names;
pub mod execution;
pub mod manifest;
mod packed_images;
pub mod path_lookup;
pub mod path_map;
pub mod path_state;
pub mod plan;
pub mod run_images;
pub mod side_by_side;
pub mod snapshot;
pub mod store;
pub mod undo_points;
pub mod undo_traces;

pub use change_journal::{ChangeJournal, ComingChange, JournalError};
pub use directory_names::DirectoryNames;
pub use execution::{
    OpenRoute, ReportedConflict, RouteError, UndoError, UndoOutcome, UndoRequest, apply_metadata, read_ended_run, undo,
};
pub use manifest::{CoverageExtent, ManifestEnd, ManifestHeader, ManifestPurpose, RunManifest, VERSION};
pub use path_map::PathMap;
pub use run_images::{KeepError, KeepMethod, RunImages, StoredSize, UndoLimits};
pub use snapshot::TreeSnapshot;
pub use store::{EvictedFiles, PointSummary, UndoStore, UndoStoreError, default_dir, no_point_for};
pub use undo_points::{ListedUndoPoint, list_points, newest_to_undo};

#[cfg(test)]
mod speed_tests;
#[cfg(any(test, debug_assertions))]
#[expect(missing_docs, clippy::new_without_default, reason = "a scene of the tests, whose names say it")]
pub mod testing;
#[cfg(test)]
mod work_counts;
