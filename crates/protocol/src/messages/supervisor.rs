//! Messages between the addon and the supervisor.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::BUILD;
use super::frames::ProtocolMessage;
use crate::plan::WorldId;
use confine_policy::{ConfinementPolicy, ReportedWorldError, WorldFacts};

/// From the addon to the supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToSupervisor {
    /// Forks a shim of a world, or outside of worlds. Answered by [`FromSupervisor::Shim`] or
    /// [`FromSupervisor::NoShim`].
    WantShim {
        /// The world.
        world: Option<WorldId>,
    },
    /// Makes a world. Answered by [`FromSupervisor::World`].
    World {
        /// Id of the world.
        id: WorldId,
        /// The reach of the world's commands.
        policy: Box<ConfinementPolicy>,
        /// The directory in which worlds keep their private files.
        #[serde(with = "crate::plan::bytes::path")]
        state: PathBuf,
        /// The directory of a registry. If a running task of the registry has an equal world, that world is joined.
        registry: Option<PathBuf>,
    },
    /// Keeps a blank world for a minute, for the next world with its private files in this directory.
    KeepBlank(#[serde(with = "crate::plan::bytes::path")] PathBuf),
    /// Ends a world as soon as its shims have exited.
    EndWorld(WorldId),
    /// Kills the shim with this pid, which no longer answers.
    EndShim(i32),
    /// Removes this directory after the end of the host.
    RemoveAtEnd(#[serde(with = "crate::plan::bytes::path")] PathBuf),
    /// Reports that the directory is removed already.
    AlreadyRemoved(#[serde(with = "crate::plan::bytes::path")] PathBuf),
}

/// The errno of a fork into a world that has ended too early.
pub const WORLD_LOST: i32 = libc::ESTALE;

/// The addon's ways into a world. A world with terminals has a door.
#[derive(Debug, Default)]
pub struct WorldEntryPoints {
    /// The way to the world's first process. `None`: the process does not exist, or has ended.
    pub door: Option<OwnedFd>,
    /// The directory with the world's pseudo-terminals. `None`: the host's.
    pub terminals: Option<OwnedFd>,
    /// The socket over which the gate asks for the values of secrets. `None`: the world has none, or another host
    /// answers.
    pub values: Option<OwnedFd>,
    /// A pidfd of the world's first process, with which all others of the world end. `None`: the process does not
    /// exist, or another host made it.
    pub init: Option<OwnedFd>,
}

impl FromSupervisor {
    /// Returns the answer about a world.
    pub fn world(id: WorldId, made: Result<WorldFacts, ReportedWorldError>, ways: WorldEntryPoints) -> Self {
        Self::World { id, made, present: [false; 4], ways }
    }
}

/// From the supervisor to the addon.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromSupervisor {
    /// A shim was forked.
    Shim {
        /// The pid of the shim.
        pid: i32,
        /// The world of the shim's commands, if they are confined.
        world: Option<WorldId>,
        /// The cgroup of the shim's commands, if they have one.
        group: Option<PathBuf>,
        /// The addon's end of the shim's socket.
        #[serde(skip)]
        socket: Option<OwnedFd>,
    },
    /// No shim could be forked.
    NoShim {
        /// The world that the shim was wanted for.
        world: Option<WorldId>,
        /// The errno of the failed fork; [`WORLD_LOST`] if that world has to be made again.
        errno: i32,
    },
    /// A world was made, or could not be.
    World {
        /// Id of the world.
        id: WorldId,
        /// The facts of the world, or why there is none.
        made: Result<WorldFacts, ReportedWorldError>,
        /// Which of the ways there are.
        present: [bool; 4],
        /// The addon's ways into the world.
        #[serde(skip)]
        ways: WorldEntryPoints,
    },
}

impl ProtocolMessage for ToSupervisor {
    const PROTOCOL: u32 = BUILD;
}

impl ProtocolMessage for FromSupervisor {
    const PROTOCOL: u32 = BUILD;

    fn take_descriptors(&mut self) -> Vec<OwnedFd> {
        match self {
            Self::Shim { socket, .. } => socket.take().into_iter().collect(),
            Self::World { ways, present, .. } => {
                let all = [ways.door.take(), ways.terminals.take(), ways.values.take(), ways.init.take()];
                *present = all.each_ref().map(Option::is_some);
                all.into_iter().flatten().collect()
            }
            Self::NoShim { .. } => Vec::new(),
        }
    }

    /// Without a descriptor for the socket, the shim stays a message: the host had no descriptor left for it.
    fn attach(&mut self, descriptors: Vec<OwnedFd>) {
        let mut descriptors = descriptors.into_iter();
        match self {
            Self::Shim { socket, .. } => *socket = descriptors.next(),
            Self::World { ways, present, .. } => {
                let mut take = |is_there: bool| is_there.then(|| descriptors.next()).flatten();
                let [door, terminals, values, init] = present.map(&mut take);
                *ways = WorldEntryPoints { door, terminals, values, init }
            }
            Self::NoShim { .. } => {}
        }
    }
}
