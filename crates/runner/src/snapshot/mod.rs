//! The user's own shell state, read once from the rc files: aliases, functions, options and PATH, as code that a
//! command's shell runs first.
//!
//! `wanted` decides which snapshot a command wants, by a key. `known` looks in this process, then `cache` on disk. If
//! neither has the snapshot, `read` reads the rc files in a separate shell and `trial` tries the code in a fresh shell.

mod disk_cache;
mod error;
mod process_cache;
mod rc_environment;
mod rc_progress;
mod rc_reader;
mod rc_script;
mod secret_values;
mod snapshot_code;
mod snapshot_request;
mod snapshot_source;
mod snapshot_trial;

pub use error::SnapshotError;
pub use process_cache::CommandSnapshot;
pub use snapshot_request::SnapshotRequest;
