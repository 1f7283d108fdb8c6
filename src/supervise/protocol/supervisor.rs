//! Messages between the addon and the supervisor.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::BUILD;
use super::frames::Message;

/// From the addon to the supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToSupervisor {
    /// Forks a shim. Answered by [`FromSupervisor`].
    WantShim,
    /// Kills the shim with this pid, which no longer answers.
    EndShim(i32),
    /// Removes this directory after the end of the host.
    RemoveAtEnd(#[serde(with = "crate::plan::bytes::path")] PathBuf),
    /// Reports that the directory is removed already.
    RemoveNoMore(#[serde(with = "crate::plan::bytes::path")] PathBuf),
}

/// From the supervisor to the addon.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromSupervisor {
    /// A shim was forked.
    Shim {
        /// The pid of the shim.
        pid: i32,
        /// The cgroup of the shim's commands, if they have one.
        group: Option<PathBuf>,
        /// The addon's end of the shim's socket.
        #[serde(skip)]
        socket: Option<OwnedFd>,
    },
    /// No shim could be forked.
    NoShim {
        /// The errno of the failed fork.
        errno: i32,
    },
}

impl Message for ToSupervisor {
    const PROTOCOL: u32 = BUILD;
}

impl Message for FromSupervisor {
    const PROTOCOL: u32 = BUILD;

    fn take_descriptors(&mut self) -> Vec<OwnedFd> {
        match self {
            Self::Shim { socket, .. } => socket.take().into_iter().collect(),
            Self::NoShim { .. } => Vec::new(),
        }
    }

    /// A shim without a socket stays a message: the host had no descriptor left for it.
    fn attach(&mut self, descriptors: Vec<OwnedFd>) {
        if let Self::Shim { socket, .. } = self {
            *socket = descriptors.into_iter().next();
        }
    }
}
