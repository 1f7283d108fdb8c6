//! The git directories that were found, and the notes on others.

use std::path::Path;

use super::directory::ExaminedDirectory;

/// The git directories of a work tree.
#[derive(Debug)]
pub(super) struct GitDirectories {
    /// The one of the work tree itself.
    pub own: ExaminedDirectory,
    /// The one that all work trees of the repository share, if this is a linked work tree.
    pub common: Option<ExaminedDirectory>,
}

/// Returns the note on a directory that is not granted.
pub(super) fn refusal_note(path: &Path, why: &str) -> String {
    format!("git cannot write in {}: {why}; if it may, name the directory in confine.write", path.display())
}
