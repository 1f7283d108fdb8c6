//! Why a draft cannot be used.

use std::io;
use std::path::{Path, PathBuf};

/// Why a draft cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// There is no such draft.
    #[error("there is no draft {0:?}")]
    Unknown(String),
    /// A command runs in it, or another process commits or discards it.
    #[error(
        "the draft {0} is in use: a command, or a process that it has left, runs in it, or a commit or discard is under way"
    )]
    Busy(String),
    /// The directory cannot be drafted.
    #[error("{} cannot be drafted: {why}", root.display())]
    Root {
        #[expect(missing_docs, reason = "the directory")]
        root: PathBuf,
        #[expect(missing_docs, reason = "the reason")]
        why: &'static str,
    },
    /// The system refuses it.
    #[error("{}: {source}", path.display())]
    System {
        #[expect(missing_docs, reason = "the file")]
        path: PathBuf,
        #[expect(missing_docs, reason = "the reason")]
        source: io::Error,
    },
}

/// Returns what makes an error of the system one that names a path.
pub(super) fn system_error(path: &Path) -> impl Fn(io::Error) -> DraftError + use<> {
    let path = path.to_owned();
    move |source| DraftError::System { path: path.clone(), source }
}
