//! The supervisor's side of a world that has no policy yet: a *blank* world.
//!
//! Every world begins as a blank one: namespaces, private files, and an init that does what no policy decides, and then
//! waits for the policy. The supervisor may keep a blank world ahead of its owner. No process enters a world before its
//! policy is applied.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Pid;

use super::NAMESPACES;
use super::construct::BlankWorldOptions;
use super::id_maps;
use super::init;
use super::init_messages::{self, START};
use super::private_directory::PrivateDirectory;
use super::step_failure::{StepContext, WorldStepFailure};
use confine_gate::WorldStatusBoard;
use confine_policy::{CacheAccess, ConfinementPolicy, NetworkScope};
use sys::ForkOutcome;

/// Why no world could be begun.
#[derive(Debug)]
pub(super) enum BlankWorldError {
    /// This machine gives no namespaces.
    NoNamespaces(WorldStepFailure),
    /// Another step failed.
    Step(WorldStepFailure),
}

impl From<WorldStepFailure> for BlankWorldError {
    fn from(failure: WorldStepFailure) -> Self {
        Self::Step(failure)
    }
}

/// A world without a policy. It ends when this value is dropped.
#[derive(Debug)]
pub struct BlankWorld {
    /// Process 1 of its pid namespace, a child of this process.
    pub init: Pid,
    /// The board on which the world's processes post numbers.
    pub board: WorldStatusBoard,
    /// The read end of a pipe whose write end init alone holds: it reports the end of the world.
    pub ended: OwnedFd,
    /// The user namespace and the network namespace. `None`: the world has the network of the host.
    pub network: Option<[OwnedFd; 2]>,
    pub(super) control: OwnedFd,
    /// The private directory, and the directory for `/tmp` in it.
    pub(super) private: [PathBuf; 2],
    state: PathBuf,
    mounts: HostMounts,
}

impl BlankWorld {
    /// Begins a world ahead of its policy, with a network of its own. `None`: none can be begun here. The reason shows
    /// when a world is made. The arguments are as in [`BlankWorld::begin`].
    pub fn begin_ahead(state: &Path, caches: &[PathBuf]) -> Option<Self> {
        if sys::HAS_SEATBELT || NAMESPACES.is_off() {
            return None;
        }
        Self::begin(state, true, caches).ok()
    }

    /// Begins a world, which keeps its private files in a directory of `state`. This process has one thread. `network`:
    /// whether the world has a network of its own. `caches`: those that it overlays ahead.
    ///
    /// # Errors
    /// If a step fails. Nothing is left then.
    pub(super) fn begin(state: &Path, network: bool, caches: &[PathBuf]) -> Result<Self, BlankWorldError> {
        let mounts = HostMounts::open_mount_watch().at_step(|| "the mounts of the host".into())?;
        let private = PrivateDirectory::create(state);
        let private = private.at_step(|| format!("a private directory in {}", state.display()))?;
        let listener = private
            .listen_for_supervisors()
            .inspect_err(|_| private.remove())
            .at_step(|| "the socket of init".into())?;
        let places = [private.path.clone(), private.tmp()];
        let (control, inits) = sys::socket_pair().at_step(|| "a socket pair".into())?;
        let board = WorldStatusBoard::new().at_step(|| "a file without a name".into())?;
        let inits_board = board.try_clone().at_step(|| "a descriptor".into())?;
        let (ended, ends) = sys::pipe().at_step(|| "a pipe".into())?;
        let init = match sys::fork_world(network) {
            Ok(ForkOutcome::Child) => {
                let held = init::InitDescriptors { control: inits, ends, private, listener, board: inits_board };
                init::run(BlankWorldOptions { network, caches: caches.to_vec() }, state, held)
            }
            Ok(ForkOutcome::Parent(init)) => init,
            Err(source) => {
                private.remove();
                return Err(BlankWorldError::NoNamespaces(WorldStepFailure {
                    step: "a user namespace".to_owned(),
                    source,
                }));
            }
        };
        drop((inits, ends, private, listener, inits_board));
        let begun =
            |network| Self { init, board, ended, network, control, private: places, state: state.to_owned(), mounts };
        // Later, init refuses this process, too.
        let spaces = network.then(|| network_of(init)).transpose().at_step(|| "the network namespace".into());
        let mapped = id_maps::map_ids(init).at_step(|| "the map of user ids".into());
        match spaces.and_then(|spaces| mapped.map(|()| spaces)) {
            Ok(spaces) => {
                let begun = begun(spaces);
                // If init is gone, the one who needs the world notices that.
                let _ = init_messages::send(&begun.control, START, 0, &[]);
                Ok(begun)
            }
            Err(failure) => {
                begun(None).abandon();
                Err(BlankWorldError::NoNamespaces(failure))
            }
        }
    }

    /// Returns whether a world with this policy, and with its private files in this directory, can be made of it. The
    /// mounts of the host must be those that it has.
    pub fn fits(&self, policy: &ConfinementPolicy, state: &Path) -> bool {
        let is_there = matches!(init_messages::is_readable(self.ended.as_fd(), 0), Ok(false));
        let own_network = self.network.is_some() == (policy.network != NetworkScope::Full);
        is_there && own_network && self.state == state && self.private[1].is_dir() && !self.mounts.have_changed()
    }

    /// Ends a world that cannot be used, and reaps its init, which removes its files.
    pub(super) fn abandon(self) {
        let Self { init, control, .. } = self;
        // Init ends when this is closed. If init is stuck, the kernel ends it, and its files are swept later.
        drop(control);
        let ended = sys::open_pid(init)
            .is_ok_and(|process| init_messages::is_readable(process.as_fd(), 1_000).unwrap_or(false));
        if !ended {
            sys::signal(init, sys::Signal::SIGKILL);
        }
        let _ = nix::sys::wait::waitpid(init, None);
    }
}

/// Returns the caches that a world with this policy overlays.
pub fn overlaid_caches(policy: &ConfinementPolicy) -> &[PathBuf] {
    let (kind, places) = &policy.caches;
    if *kind == CacheAccess::Overlay { places } else { &[] }
}

/// Opens the user namespace and the network namespace of a process.
fn network_of(process: Pid) -> io::Result<[OwnedFd; 2]> {
    let open = |kind: &str| File::open(format!("/proc/{process}/ns/{kind}")).map(OwnedFd::from);
    Ok([open("user")?, open("net")?])
}

/// Shows whether the mounts of the host have changed: a world has copies of them.
#[derive(Debug)]
struct HostMounts(File);

impl HostMounts {
    fn open_mount_watch() -> io::Result<Self> {
        File::open("/proc/self/mounts").map(Self)
    }

    fn have_changed(&self) -> bool {
        let mut fds = [PollFd::new(self.0.as_fd(), PollFlags::POLLPRI)];
        !matches!(poll(&mut fds, PollTimeout::ZERO), Ok(0))
    }
}
