//! Reads the state of a git repository without ever running git.
//!
//! [`GitRepository`] finds the directories, [`RepositorySnapshot`] reads HEAD, references, index and the operation
//! under way, and
//! [`compare`] returns the changes.

mod index;
mod references;
mod repository;
mod snapshot;
#[cfg(test)]
mod tests;

pub use repository::GitRepository;
pub use snapshot::{RepositoryComparison, RepositorySnapshot, compare};
