//! Worlds: namespaces that the commands with one policy share.
//!
//! A world is made by the supervisor, and lives in one process of its own, its *init*: process 1 of its pid namespace.
//! Init makes the mounts and the network, hands out descriptors of all namespaces, and then waits. It protects new
//! repositories when it is asked to, and covers hidden files again as soon as the host replaces them. It kills each
//! process that is reparented to it, because the shim of that process is gone. Its end comes when the supervisor has
//! dropped the [`World`] and the last process that the world is kept for has exited: it removes the world's files and
//! exits, and the kernel kills the rest of the pid namespace.
//!
//! | step | where |
//! |---|---|
//! | the supervisor's side | `make.rs`, `joined.rs`, `published.rs`, `ids.rs`, `private.rs`, `fallback.rs` |
//! | init, from first to last instruction | `init.rs`, `construct.rs`, `door.rs`, `messages.rs`, `freshness.rs` |
//! | the network | `network.rs` |
//! | the files | `files.rs`, `layers.rs`, `devices.rs`, `caches.rs`, `visible.rs` |
//! | hidden paths, and files that are shown in them | `hidden.rs`, `blanks.rs`, `aliases.rs`, `shown.rs` |
//! | protected paths | `protection.rs`, `targets.rs`, `repositories.rs`, `guards.rs` |
//! | Landlock | `rules.rs` |
//! | macOS | `seatbelt.rs` |
//!
//! - **A shim is half in the world.** It has its pids, so that it is a subreaper there and the kernel ends its tree
//!   with the world. It keeps the mounts of the host, where it writes logs and states. It reads a detached procfs of
//!   the world, and translates each pid that leaves it.
//! - **A child confines itself** with system calls only: it joins the namespaces, gives up all capabilities, sets
//!   no_new_privs, obeys Landlock and installs the filter. If a step fails, nothing runs (`LaunchStep::Confine`).
//! - **Before each command** init protects new repositories. A shim asks for it when it starts a shell. A warm shell
//!   waits inside the world, so the addon asks its shim once more (`Protect`) before it hands the command over.
//! - **A terminal is one of its world.** The supervisor passes the world's directory of pseudo-terminals to the addon.
//!   That opens one there, so that `tty` and `/dev/tty` mean it inside.
//! - **A listener that is killed** takes its shim along as soon as the shim has no command. Calls that it would have
//!   answered fail until then. One that a command stops is continued by the supervisor, like shims. A shim whose world
//!   has no owner takes no other command either, because another world may be in its place.
//! - **After each command** the shim collects denials from its listener and from the gate, and sends them before
//!   `Ended`. For a task it adds them to the state file, soon after its listener has announced one (`DenialNews`). The
//!   command of a session ends before its shell does, so the addon asks for them then (`ToShim::Denials`).
//! - **Files that results name** are mounted into their own world at their own path
//!   (`crates/confine/src/world/shown.rs`): logs by the shim, spilled output by the addon before the result is
//!   delivered.
//! - **Another host joins a world** through a socket beside its private files (`crates/confine/src/world/joined.rs`). A
//!   state file names it if the task's registry owns the world, so a registry that is opened again finds the world of
//!   its tasks.
//! - **A question is asked only if something has changed.** Init, gates and listeners post numbers on a board, an
//!   unnamed file that the askers read (`crates/confine/src/board.rs`). With init's watch on directories it also shows
//!   whether a new repository waits for protection (`crates/confine/src/world/freshness.rs`). A question would wake
//!   another process and wait for it, twice or three times per command.
//! - **A world ends with its owner,** or when one of its write roots is another directory by now. The supervisor drops
//!   the world, free shims exit, and so do shims whose commands only left processes behind. Commands and tasks that
//!   still run keep the world until they end. Then init kills the remaining processes, and removes the world's files.

mod aliases;
mod blanks;
mod caches;
mod construct;
mod devices;
mod door;
mod failure;
mod fallback;
mod files;
mod freshness;
mod guards;
mod hidden;
mod ids;
mod init;
mod joined;
mod layers;
mod make;
mod messages;
mod network;
mod private;
mod protection;
mod published;
mod remedy;
mod repositories;
mod rules;
mod seatbelt;
mod shown;
mod targets;
#[cfg(all(any(test, debug_assertions), target_os = "linux"))]
pub mod testing;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod visible;

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

use super::{Board, Post, WorldFacts};
pub use door::Door;
pub use freshness::Freshness;
pub use guards::{Guarded, Guards};
pub use joined::{Joined, join};
pub use make::{build, probe};
pub use private::Leftovers;
pub use published::Published;
pub use remedy::of as remedy_of;
pub use seatbelt::Seatbelt;
use sys::Entrance;

/// Paths of this host that a world needs besides its policy.
#[derive(Debug, Clone, Copy)]
pub struct HostPaths<'a> {
    /// The directory in which worlds keep their private files, each in a directory of its own. It is created if it does
    /// not exist, and killed worlds leave [`Leftovers`] in it.
    pub state: &'a Path,
    /// Files and directories that can be read in the world whatever the policy hides, such as logs of its own tasks.
    pub readable: &'a [PathBuf],
    /// Whether it watches protected files and directories. A user can have few watches of the kernel, and a world has
    /// two. Without them it looks at these files now and then and before each command.
    pub watches: bool,
}

/// The namespaces of a world.
#[derive(Debug)]
pub struct Namespaces {
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
    /// The directory with the pseudo-terminals of the world. `None`: the host's.
    pub terminals: Option<OwnedFd>,
    /// The read end of a pipe whose write end init alone holds: it reports the end of the world.
    pub ended: OwnedFd,
}

impl Namespaces {
    /// Returns the descriptors by which a child enters them, with this ruleset of Landlock.
    pub fn entrance(&self, landlock: Option<RawFd>) -> Entrance {
        Entrance {
            network: self.network.as_ref().map(AsRawFd::as_raw_fd),
            ipc: self.ipc.as_raw_fd(),
            names: self.names.as_raw_fd(),
            mounts: self.mounts.as_raw_fd(),
            landlock,
        }
    }
}

/// A world. It ends when this value is dropped and the last process that it is kept for has exited.
#[derive(Debug)]
pub struct World {
    /// `None`: user namespaces are not available here and the policy does not require them. Commands are then
    /// restricted by Landlock and the filter of system calls alone.
    pub namespaces: Option<Namespaces>,
    /// The ruleset of Landlock. `None`: the kernel has none.
    pub landlock: Option<OwnedFd>,
    /// The profiles of its commands, on macOS alone.
    pub seatbelt: Option<Seatbelt>,
    /// The facts for results.
    pub facts: WorldFacts,
    /// The numbers that its processes post.
    pub board: Board,
    /// The way to init.
    door: Option<RefCell<Door>>,
}

impl World {
    /// Protects new repositories. Called before a command starts, here or through [`Door`].
    pub fn refresh(&self) -> io::Result<()> {
        self.door.as_ref().map_or(Ok(()), |door| door.borrow_mut().refresh())
    }

    /// Returns the names that must not be created, as of the last [`World::refresh`].
    pub fn guarded(&self) -> Guards {
        self.door.as_ref().map(|door| door.borrow().guards().clone()).unwrap_or_default()
    }

    /// Lets supervisors of other hosts join the world.
    pub fn publish(&self, published: &Published, gate: Option<BorrowedFd<'_>>) -> io::Result<()> {
        self.door.as_ref().map_or(Ok(()), |door| door.borrow().publish(published, gate))
    }

    /// Whether init has no descriptors for another shim.
    pub fn is_full(&self) -> bool {
        self.board.read(Post::Full).is_ok_and(|full| full != 0)
    }

    /// Returns another way to init, for a shim. `None` without namespaces.
    pub fn open_door(&self) -> io::Result<Option<Door>> {
        self.door.as_ref().map(|door| door.borrow().another()).transpose()
    }

    /// Keeps the world until this process has exited, even if this value is dropped before. Init then kills the
    /// process's descendants.
    pub fn keep_for(&self, process: Pid) -> io::Result<()> {
        self.door.as_ref().map_or(Ok(()), |door| door.borrow().keep_for(process))
    }

    /// Returns the descriptors by which a child enters the world. They are open as long as this value lives.
    pub fn entrance(&self) -> Option<Entrance> {
        let landlock = self.landlock.as_ref().map(AsRawFd::as_raw_fd);
        self.namespaces.as_ref().map(|spaces| spaces.entrance(landlock))
    }
}
