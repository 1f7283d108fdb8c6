//! Why a tree cannot be watched.

use std::io;
use std::path::PathBuf;

/// Why a tree is unknown. The text is a clause of a receipt's reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeWatchFailure {
    /// The host has no room for more watches.
    #[error(
        "{} has more directories than agent-bash may watch ({most}, a quarter of fs.inotify.max_user_watches)",
        root.display()
    )]
    Directories {
        #[expect(missing_docs, reason = "the root of the tree")]
        root: PathBuf,
        #[expect(missing_docs, reason = "the limit")]
        most: usize,
    },
    /// The tree is too large to be remembered.
    #[error("{} has more than {most} files", root.display())]
    Files {
        #[expect(missing_docs, reason = "the root of the tree")]
        root: PathBuf,
        #[expect(missing_docs, reason = "the limit")]
        most: usize,
    },
    /// Other programs have taken the user's watches.
    #[error("all of the user's inotify watches are in use (fs.inotify.max_user_watches)")]
    Watches,
    /// Other programs have taken the user's queues.
    #[error("all of the user's inotify instances are in use (fs.inotify.max_user_instances)")]
    Instances,
    /// The root is `/`, whose tree is the whole file system.
    #[error("the whole file system is not watched")]
    FileSystem,
    /// The root was removed or renamed.
    #[error("{} was removed or renamed", root.display())]
    Root {
        #[expect(missing_docs, reason = "the root of the tree")]
        root: PathBuf,
    },
    /// Reports were lost or came too late, and a comparison of the whole tree took too long.
    #[error("not every change was reported, and comparing the whole tree took too long")]
    Incomplete,
    /// The system refused something else.
    #[error("{} cannot be watched: {error}", path.display())]
    System {
        #[expect(missing_docs, reason = "the place")]
        path: PathBuf,
        #[expect(missing_docs, reason = "what the system said")]
        error: String,
    },
}

impl TreeWatchFailure {
    /// Returns the reason for an error of the system.
    pub fn of(path: impl Into<PathBuf>, error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::ENOSPC) => Self::Watches,
            Some(libc::EMFILE | libc::ENFILE) => Self::Instances,
            _ => Self::System { path: path.into(), error: error.to_string() },
        }
    }
}
