//! Why no helper process is available.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use nix::sys::resource::{Resource, getrlimit};

/// The lowest limit of descriptors with which commands can be confined. Shims keep some descriptors at numbers above
/// 100.
const FEWEST_DESCRIPTORS: u64 = 128;

/// Why no helper process is available.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HelperError {
    /// The program is missing.
    #[error("the agent-bash supervisor was not found; looked for {}", .0.display())]
    Missing(PathBuf),
    /// The program may not be executed.
    #[error("the agent-bash supervisor may not be executed: {}; an archive may have lost that permission: chmod +x", .0.display())]
    NotExecutable(PathBuf),
    /// The supervisor could not be started, or could not fork.
    #[error("the agent-bash supervisor could not start a helper process: {0}")]
    Spawn(#[source] Arc<io::Error>),
    /// This process may open too few descriptors.
    #[error("confined commands need a limit of {FEWEST_DESCRIPTORS} open files, and this process has {0} (ulimit -n)")]
    Descriptors(u64),
    /// Several supervisors in a row ended without an answer.
    #[error("the agent-bash supervisor {} ends without an answer; if agent-bash was updated meanwhile, start this \
             process again", .0.display())]
    Silent(PathBuf),
    /// The supervisor was killed during a request.
    #[error("the agent-bash supervisor was killed")]
    Lost,
}

impl HelperError {
    /// Returns the system's error number, if the error has one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Missing(_) => Some(libc::ENOENT),
            Self::NotExecutable(_) => Some(libc::EACCES),
            Self::Spawn(error) => Some(error.raw_os_error().unwrap_or(libc::EIO)),
            Self::Descriptors(_) => Some(libc::EMFILE),
            Self::Silent(_) | Self::Lost => None,
        }
    }

    /// Returns whether descriptors or processes are short, so that another attempt may succeed.
    pub(super) fn is_shortage(&self) -> bool {
        let errno = self.errno().filter(|_| !matches!(self, Self::Descriptors(_)));
        matches!(errno, Some(libc::EMFILE | libc::ENFILE | libc::EAGAIN))
    }

    /// Fails if this process may open too few descriptors for confined commands.
    pub(super) fn check_descriptors() -> Result<(), Self> {
        match getrlimit(Resource::RLIMIT_NOFILE) {
            Ok((soft, _)) if soft < FEWEST_DESCRIPTORS => Err(Self::Descriptors(soft)),
            _ => Ok(()),
        }
    }
}

impl From<io::Error> for HelperError {
    fn from(error: io::Error) -> Self {
        Self::Spawn(Arc::new(error))
    }
}
