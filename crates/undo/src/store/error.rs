//! Why the store cannot be used.

use std::io;
use std::path::PathBuf;

use crate::manifest::ManifestReadError;
use capture::SpillError;

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UndoStoreError {
    /// The system refuses access.
    #[error("the undo store {}: {source}", path.display())]
    System {
        #[expect(missing_docs, reason = "the directory or file")]
        path: PathBuf,
        #[expect(missing_docs, reason = "what the system said")]
        source: io::Error,
    },
    /// The directory belongs to another user.
    #[error("the undo store {} belongs to another user", .0.display())]
    NotOurs(PathBuf),
    /// The directory has files that do not belong to a store.
    #[error("{} is no undo store and has other files: the store needs a directory of its own", .0.display())]
    NoStore(PathBuf),
    /// No run has this id.
    #[error("{} is not the id of a run", shortened(.0))]
    NoId(String),
    /// There is no point.
    #[error("there is no undo point of run {0}")]
    NoPoint(String),
    /// The point was evicted.
    #[error("the undo point of run {run} was evicted: {why}")]
    Evicted {
        #[expect(missing_docs, reason = "the run")]
        run: String,
        #[expect(missing_docs, reason = "the reason")]
        why: String,
    },
    /// The manifest of the run cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestReadError),
    /// The run still goes on.
    #[error("run {0} still goes on")]
    Running(String),
    /// Only a receipt of the run was wanted.
    #[error("run {0} ran without undo")]
    NoUndo(String),
}

/// Characters of an unusable id in an error.
const SHOWN: usize = 60;

/// Returns an unusable id, quoted.
fn shortened(id: &str) -> String {
    let (start, rest) = id.split_at(id.floor_char_boundary(SHOWN));
    format!("{start:?}{}", if rest.is_empty() { "" } else { "…" })
}

impl From<SpillError> for UndoStoreError {
    fn from(error: SpillError) -> Self {
        match error {
            SpillError::NotOurs { path } => Self::NotOurs(path),
            SpillError::NotRegular { path } => Self::NoStore(path),
            SpillError::Folder { path, source } | SpillError::File { path, source } => Self::System { path, source },
        }
    }
}
