//! The listener: a process beside a shim that answers the calls that the filter of its commands passes on.
//!
//! | file | what |
//! |---|---|
//! | `protocol`, `service` | messages of the shim and its listener; the loop over messages and calls |
//! | `asked`, `caller`, `place`, `reply` | one call, its thread, the place that its path names, its answer |
//! | `directories`, `own` | the directories of recent changes; the mounts of the world |
//! | `open`, `names`, `renames`, `attributes` | performed here: what opens, changes or names a file |
//! | `elsewhere` | files with names where the command may change nothing |
//! | `perform/` | performed here where no mounts bound a command: what they would bound |
//! | `changes` | recorded here: removals, and where Landlock alone bounds a command, other changes |
//! | `sockets`, `address`, `beside` | `connect`, `bind`, `sendto`; the network of a world without namespaces |
//! | `left` | what a command leaves in repositories that it has made |
//! | `guards`, `record` | names that must not be created; refused calls |
//! | `journal`, `changed`, `spots` | a consumer of changes before they are made; from a call to its change, and its place |
//! | `remote`, `watcher` | a journal in another process; calls of commands that are recorded and not confined |
//! | `rights`, `threads` | callers in whose place this process may act; answers that take their time |
//!
//! **A listener performs the calls that it allows,** because a check of a path in the caller's memory would race with
//! the caller's threads. It copies the arguments once. With the copy it creates the name, connects to the socket at a
//! path or changes the mode, below directories that it has open, and hands the result to the caller. The kernel gets a
//! call only if the answer does not depend on the checked memory: mounts, Landlock or registers bound such a call.
//!
//! Reads of hidden files are not noticed here: a question for each file that is opened would cost more than all the
//! rest of confinement. `refused_reads` finds such reads in the output of programs.

mod address;
mod asked;
mod attributes;
mod beside;
mod caller;
mod changed;
mod changes;
mod directories;
mod elsewhere;
mod guards;
mod journal;
mod jumps;
mod left;
mod links;
mod names;
mod open;
mod own;
mod parting;
mod perform;
mod place;
mod protocol;
mod record;
mod remote;
mod renames;
mod reply;
mod rights;
mod service;
mod settings;
mod settlement;
mod skip;
mod sockets;
mod spots;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod threads;
mod watcher;
#[cfg(all(test, target_os = "linux"))]
mod world_tests;

use nix::sys::wait::waitpid;
use nix::unistd::Pid;

pub use journal::{
    DirectoryEntryLocation, FileChangeJournal, JournaledChange, PendingChangeKind, PendingFileChange, name_key,
};
pub use protocol::{ListenerEndpoint, ListenerLink, ListenerReport};
pub use settings::ListenerSettings;
pub use watcher::{UnconfinedListener, spot_of};

/// Answers the calls of the commands of one shim, until the shim closes its end. The process has one thread, and closes
/// all other descriptors. `shim`: the shim, if it is a child of this process, which then ends after it.
///
/// In namespaces the process has the user, pid and mount namespaces of the world, so mounts bound its own creations
/// like its callers'. It is not in the Landlock domain of its callers, because a process cannot read the memory of a
/// process in another domain. The only capability that it keeps is to read the memory of processes of its namespace.
///
/// A listener that is killed takes its shim along as soon as the shim has no command. Until then, the calls that it
/// would have answered fail. The supervisor continues a listener that a command stops, like a shim.
pub fn serve(ends: ListenerEndpoint, settings: ListenerSettings, shim: Option<Pid>) -> ! {
    sys::close_all_but(&ends.descriptors());
    // The handlers of the supervisor are not for the end of this process's child.
    let _ = sys::reset_signals();
    sys::let_threads_wake();
    let prepared = sys::name_process(c"agent-bash-listener").and_then(|()| Ok(nix::unistd::chdir("/")?));
    let prepared = prepared.and_then(|()| sys::become_listener());
    let served = prepared.and_then(|()| service::ListenerService::new(ends, settings).run());
    let _ = shim.map(|shim| waitpid(shim, None));
    sys::exit_now(i32::from(served.is_err()))
}
