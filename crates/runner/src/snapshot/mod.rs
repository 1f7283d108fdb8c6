//! The user's own shell state, read once from the rc files: aliases, functions, options and PATH, as code that a
//! command's shell runs first.
//!
//! `wanted` decides which snapshot a command wants, by a key. `known` looks in this process, then `cache` on disk. If
//! neither has the snapshot, `read` reads the rc files in a separate shell and `trial` tries the code in a fresh shell.

mod base;
mod cache;
mod code;
mod environment;
mod error;
mod known;
mod progress;
mod read;
mod script;
mod secret;
mod trial;
mod wanted;

pub use error::SnapshotError;
pub use known::CommandSnapshot;
pub use wanted::SnapshotRequest;
