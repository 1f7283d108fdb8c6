//! Reads the state of a git repository without ever running git.
//!
//! [`GitRepository`] finds the directories, [`RepositorySnapshot`] reads HEAD, references, index and the operation
//! under way, and
//! [`compare`] returns the changes.

mod git_index;
mod git_repository;
mod references;
mod repository_snapshot;
#[cfg(test)]
mod tests;

pub use git_repository::{GitRepository, PlaceOf, is_mentioned};
pub use repository_snapshot::{RepositoryComparison, RepositorySnapshot, compare};
