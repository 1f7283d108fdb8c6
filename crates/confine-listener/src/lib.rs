//! The listener: a process beside a shim that answers the calls that the filter of its commands passes on.
//!
//! | file | what |
//! |---|---|
//! | `protocol`, `service` | messages of the shim and its listener; the loop over messages and calls |
//! | `pending_syscall`, `caller`, `caller_path`, `syscall_reply` | one call, its thread, the place that its path names, its answer |
//! | `recent_directories`, `own_mounts` | the directories of recent changes; the mounts of the world |
//! | `open`, `name_creation`, `renames`, `directory_moves`, `attributes` | performed here: what opens, changes or names a file |
//! | `linked_directories` | files with names where the command may change nothing |
//! | `perform/` | performed here where no mounts bound a command: what they would bound |
//! | `refused_changes` | recorded here: removals, and where Landlock alone bounds a command, other changes |
//! | `sockets`, `socket_address`, `host_network_fallback` | `connect`, `bind`, `sendto`; the network of a world without namespaces |
//! | `repositories_left` | what a command leaves in repositories that it has made |
//! | `guarded_names`, `denial_log` | names that must not be created; refused calls |
//! | `file_change_journal`, `syscall_change`, `entry_location` | a consumer of changes before they are made; from a call to its change, and its place |
//! | `remote_journal`, `unconfined_listener` | a journal in another process; calls of commands that are recorded and not confined |
//! | `rights`, `answer_threads` | callers in whose place this process may act; answers that take their time |
//!
//! **A listener performs the calls that it allows,** because a check of a path in the caller's memory would race with
//! the caller's threads. It copies the arguments once. With the copy it creates the name, connects to the socket at a
//! path or changes the mode, below directories that it has open, and hands the result to the caller. The kernel gets a
//! call only if the answer does not depend on the checked memory: mounts, Landlock or registers bound such a call.
//!
//! It trusts its policy and its shim. It trusts no memory, descriptor or path of a caller, all of which threads of the
//! caller change at any time. It never lets the kernel continue a call whose answer depends on memory that was checked
//! here, and starts no program.
//!
//! Reads of hidden files are not noticed here: a question for each file that is opened would cost more than all the
//! rest of confinement. `refused_reads` finds such reads in the output of programs.

mod answer_threads;
mod attributes;
mod caller;
mod caller_path;
mod denial_log;
mod directory_moves;
mod entry_location;
mod file_change_journal;
mod guarded_names;
mod hard_link_copy;
mod host_network_fallback;
mod linked_directories;
mod name_creation;
mod open;
mod own_mounts;
mod pending_syscall;
mod perform;
mod proc_links;
mod proc_paths;
mod protocol;
mod recent_directories;
mod refused_changes;
mod remote_journal;
mod renames;
mod repositories_left;
mod repository_settlement;
mod rights;
mod service;
mod settings;
mod socket_address;
mod sockets;
mod syscall_change;
mod syscall_reply;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod unconfined_listener;
mod unrecorded_syscall;
#[cfg(all(test, target_os = "linux"))]
mod world_tests;

use nix::sys::wait::waitpid;
use nix::unistd::Pid;

pub use file_change_journal::{
    DirectoryEntryLocation, FileChangeJournal, JournaledChange, PendingChangeKind, PendingFileChange, name_key,
};
pub use protocol::{ListenerEndpoint, ListenerLink, ListenerReport};
pub use settings::ListenerSettings;
pub use unconfined_listener::{UnconfinedListener, spot_of};

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
