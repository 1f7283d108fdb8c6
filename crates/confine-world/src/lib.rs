//! Worlds: namespaces that the commands with one policy share.
//!
//! The supervisor makes a world. The world lives in one process of its own, its *init*: process 1 of its pid namespace.
//! A world begins as a *blank* one, whose init waits for the policy, and the supervisor may keep such a world ahead of
//! its owner. No other process enters a world before its policy is applied.
//!
//! Init makes the mounts and the network, hands out descriptors of all namespaces, and then waits. It protects new
//! repositories when it is asked to, and covers hidden files again as soon as the host replaces them. It kills each
//! process that is reparented to it, because the shim of that process is gone. Init ends once the supervisor has
//! dropped the [`ConfinedWorld`] and the last process that the world is kept for has exited. It removes the world's
//! files and exits, and the kernel kills the rest of the pid namespace.
//!
//! It trusts its policy and the kernel. It trusts no file, link or repository that a command could have changed, and
//! after the first command in a world nothing that is mounted writable. A part that cannot be made is an error: no
//! command runs in less than its policy requires. It runs in the supervisor and in init, and it never runs a program of
//! the world, such as git, to learn something.
//!
//! | step | where |
//! |---|---|
//! | the supervisor's side | `blank_world.rs`, `make.rs`, `joined_world.rs`, `published_world.rs`, `id_maps.rs`, `private_directory.rs` |
//! | without namespaces | `namespaceless_world.rs`, `usable_mechanisms.rs`, `remedy.rs`, `listener_held_world.rs`, `process_roster.rs`; on macOS `macos_world.rs`, `seatbelt_profiles.rs` |
//! | init, from first to last instruction | `init.rs`, `construct.rs`, `init_connection.rs`, `init_messages.rs`, `guard_freshness.rs` |
//! | the network | `network.rs` |
//! | the files | `files.rs`, `mount_layers.rs`, `devices.rs`, `overlay_mount.rs`, `cache_overlays.rs`, `read_scope_veils.rs` |
//! | hidden paths, and files that are shown in them | `hidden_covers.rs`, `path_ends.rs`, `empty_covers.rs`, `mount_table.rs`, `shown_files.rs` |
//! | protected paths | `protection.rs`, `protection_targets.rs`, `repositories.rs`, `name_guards.rs` |
//! | what git needs outside of the write roots | `git/` |
//! | Landlock | `landlock_rules.rs` |
//! | the filter of system calls | `filter/` |
//! | profiles of Seatbelt, on macOS | `seatbelt/` |
//! | configurations of git that a command may have written | `git_settings.rs` |

mod blank_world;
mod cache_overlays;
mod construct;
mod devices;
mod empty_covers;
mod file_covers;
mod files;
pub mod filter;
mod git;
pub mod git_settings;
mod guard_freshness;
mod hidden_covers;
mod id_maps;
mod init;
mod init_connection;
mod init_messages;
mod joined_world;
mod landlock_rules;
mod listener_held_world;
mod macos_world;
mod make;
mod mount_layers;
mod mount_table;
mod name_guards;
mod namespaceless_world;
mod network;
mod overlay_mount;
mod path_ends;
mod private_directory;
mod process_roster;
mod protection;
mod protection_targets;
mod published_world;
mod read_scope_veils;
mod remedy;
mod repositories;
mod seatbelt;
mod seatbelt_profiles;
mod secret_files;
mod shown_files;
mod step_failure;
#[cfg(all(any(test, debug_assertions), target_os = "linux"))]
pub mod testing;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod usable_mechanisms;

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

pub use blank_world::{BlankWorld, overlaid_caches};
use confine_gate::{WorldStatusBoard, WorldStatusSlot};
use confine_policy::WorldFacts;
use filter::SyscallFilterMode;
pub use git::outer_git_directories;
pub use guard_freshness::GuardFreshness;
pub use init_connection::InitConnection;
pub use joined_world::{JoinOutcome, JoinedWorld, join};
pub use listener_held_world::{ListenerHeldWorld, WorldCleanupProcess, show_file};
pub use make::{build, finish_world, probe};
pub use name_guards::{GuardedDirectory, NameGuards};
pub use private_directory::WorldLeftovers;
pub use process_roster::ProcessRoster;
pub use protection_targets::ProtectedPaths;
pub use published_world::PublishedWorld;
pub use remedy::of as remedy_of;
pub use seatbelt_profiles::SeatbeltProfileSource;
pub use secret_files::{JAVA_OPTIONS, agent_socket, show_agent, show_secrets};
use sys::{FeatureSwitch, SyscallArchitecture, WorldEntrance};

/// Turns namespaces off, for tests, and for machines that count namespaces.
pub static NAMESPACES: FeatureSwitch = FeatureSwitch::new("AGENT_BASH_NAMESPACES", "off");

/// Paths of this host that a world needs besides its policy.
#[derive(Debug, Clone, Copy)]
pub struct WorldHostPaths<'a> {
    /// The directory in which worlds keep their private files, each in a directory of its own. It is created if it does
    /// not exist, and killed worlds leave [`WorldLeftovers`] in it.
    pub state: &'a Path,
    /// Files and directories that can be read in the world whatever the policy hides, such as logs of its own tasks.
    pub readable: &'a [PathBuf],
    /// Whether the world watches protected files and directories. A user can have few watches of the kernel, and a
    /// world has two. Without watches, init scans these files now and then and before each command.
    pub watches: bool,
}

/// The namespaces of a world.
///
/// A shim is half in its world. It has the pids of the world, so that it is a subreaper there and the kernel ends its
/// tree with the world. It keeps the mounts of the host, where it writes logs and states. It reads a detached procfs of
/// the world, and translates each pid that leaves the world.
#[derive(Debug)]
pub struct WorldNamespaces {
    /// Process 1 of the pid namespace, a child of the process that made the world. `None`: another process made it.
    pub init: Option<Pid>,
    /// The user namespace, which owns all others.
    pub user: OwnedFd,
    /// The mount namespace.
    pub mounts: OwnedFd,
    /// The pid namespace.
    pub processes: OwnedFd,
    /// The namespace of System V and POSIX IPC.
    pub ipc: OwnedFd,
    /// The namespace of the host's name.
    pub names: OwnedFd,
    /// The network namespace. `None`: the host's.
    pub network: Option<OwnedFd>,
    /// The network namespace at the other end of the world's link. `None`: the world has no link.
    pub gate: Option<OwnedFd>,
    /// A detached mount of the procfs of the pid namespace.
    pub proc: OwnedFd,
    /// The directory with the pseudo-terminals of the world. `None`: the host's. The supervisor passes the directory to
    /// the addon, which opens terminals there, so that `tty` and `/dev/tty` name the terminal inside the world.
    pub terminals: Option<OwnedFd>,
    /// The read end of a pipe whose write end init alone holds: it reports the end of the world.
    pub ended: OwnedFd,
}

impl WorldNamespaces {
    /// Returns the descriptors by which a child enters the namespaces, with this ruleset of Landlock.
    ///
    /// A child confines itself with system calls only: it joins the namespaces, gives up all capabilities, sets
    /// no_new_privs, obeys Landlock and installs the filter. If a step fails, no program runs (`LaunchStep::Confine`).
    pub fn entrance(&self, landlock: Option<RawFd>) -> WorldEntrance {
        WorldEntrance {
            network: self.network.as_ref().map(AsRawFd::as_raw_fd),
            ipc: self.ipc.as_raw_fd(),
            names: self.names.as_raw_fd(),
            mounts: self.mounts.as_raw_fd(),
            landlock,
        }
    }
}

/// A world. It ends when this value is dropped and the last process that it is kept for has exited.
///
/// The supervisor drops a world when its owner ends, or when a write root of the world has become another directory.
/// Free shims then exit, and so do shims whose commands only left processes behind. A shim of such a world takes no
/// other command, because another world may be in its place. Commands and tasks that still run keep the world until
/// they end.
#[derive(Debug)]
pub struct ConfinedWorld {
    /// `None`: there are none here, and the policy does not require a part that needs them. Commands are then
    /// restricted by Landlock and the filter of system calls, as far as these work.
    pub namespaces: Option<WorldNamespaces>,
    /// The ruleset of Landlock. `None`: the kernel does not support Landlock.
    pub landlock: Option<OwnedFd>,
    /// The profiles of the world's commands, on macOS alone.
    pub seatbelt: Option<SeatbeltProfileSource>,
    /// The filter of system calls of the world's commands. `None`: this system installs none.
    pub filter: Option<SyscallFilterMode>,
    /// The files that listeners hold, where no namespaces do.
    pub held: Option<(ListenerHeldWorld, WorldCleanupProcess)>,
    /// The facts for results.
    pub facts: WorldFacts,
    /// The board on which the world's processes post numbers.
    pub board: WorldStatusBoard,
    /// The way to init.
    door: Option<RefCell<InitConnection>>,
}

impl ConfinedWorld {
    /// Returns the filter of commands in namespaces.
    fn usual_filter() -> Option<SyscallFilterMode> {
        let variant = if sys::has_listeners() { SyscallFilterMode::Confined } else { SyscallFilterMode::Silent };
        SyscallArchitecture::HERE.map(|_| variant)
    }

    /// Returns the process whose end is the end of the world, if this process has made it.
    pub fn lifetime_process(&self) -> Option<Pid> {
        let init = self.namespaces.as_ref().and_then(|spaces| spaces.init);
        init.or_else(|| self.held.as_ref().map(|(_, keeper)| keeper.pid))
    }

    /// Protects new repositories. Called before a command starts, here or through [`InitConnection`]. A shim calls it
    /// when it starts a shell. A warm shell waits inside the world, so the addon asks its shim once more (`Protect`)
    /// before it hands the command over.
    pub fn refresh(&self) -> io::Result<()> {
        self.door.as_ref().map_or(Ok(()), |door| door.borrow_mut().refresh())
    }

    /// Returns the names that must not be created, as of the last [`ConfinedWorld::refresh`].
    pub fn name_guards(&self) -> NameGuards {
        self.door.as_ref().map(|door| door.borrow().guards().clone()).unwrap_or_default()
    }

    /// Lets supervisors of other hosts join the world.
    pub fn publish(&self, published: &PublishedWorld, gate: Option<BorrowedFd<'_>>) -> io::Result<()> {
        self.door.as_ref().map_or(Ok(()), |door| door.borrow().publish(published, gate))
    }

    /// Returns whether init has no descriptors for another shim.
    pub fn is_full(&self) -> bool {
        self.board.read(WorldStatusSlot::Full).is_ok_and(|full| full != 0)
    }

    /// Returns another way to init, for a shim. `None` without namespaces.
    pub fn open_door(&self) -> io::Result<Option<InitConnection>> {
        self.door.as_ref().map(|door| door.borrow().try_clone()).transpose()
    }

    /// Keeps the world until this process has exited, even if this value is dropped before. Init then kills the
    /// process's descendants. Without namespaces the process keeps the world by itself, and its descendants become
    /// processes of the world.
    pub fn keep_for(&self, process: Pid) -> io::Result<()> {
        if let Some((held, _)) = &self.held {
            return held.roster().add(process);
        }
        self.door.as_ref().map_or(Ok(()), |door| door.borrow().keep_for(process))
    }

    /// Returns the descriptors by which a child enters the world. They are open as long as this value lives.
    pub fn entrance(&self) -> Option<WorldEntrance> {
        let landlock = self.landlock.as_ref().map(AsRawFd::as_raw_fd);
        self.namespaces.as_ref().map(|spaces| spaces.entrance(landlock))
    }
}
