//! The listener: a process beside a shim that answers the calls that the filter of its commands passes on.
//!
//! | file | what |
//! |---|---|
//! | `protocol` | what the shim and its listener say to each other |
//! | `service` | the loop: messages of the shim, calls of commands |
//! | `asked`, `caller`, `place` | one call, its thread, the place that its path names |
//! | `directories` | the directories of recent changes |
//! | `own` | the mounts of the world: nothing is performed in those of another one |
//! | `open`, `names`, `renames` | calls that create a name: performed here |
//! | `changes` | calls that change what exists: recorded |
//! | `modes` | set-group-id bits of directories: performed here |
//! | `sockets` | `connect`, `bind`, `sendto` |
//! | `guards`, `record` | names that must not be created; refused calls |
//! | `journal`, `changed` | a consumer of changes before they are made; from a call to its change |
//! | `remote`, `watcher` | a journal in another process; calls of commands that are recorded and not confined |
//! | `rights` | callers in whose place this process may act |
//! | `threads` | answers that take their time |
//!
//! **No check of memory that may change.** A path is copied once. The listener itself performs calls that create a
//! name. It uses that copy, below directories that it has open, and hands the result to the caller. The kernel gets a
//! call only if the answer does not depend on the checked memory: mounts, Landlock or registers bound such a call.
//!
//! **Who the listener is.** It has the user, pid and mount namespaces of the world, so mounts bound its own creations
//! as those of its callers. It is not in their Landlock domain: a process cannot read the memory of one in another
//! domain. It keeps no capability but the one to read the memory of processes of its namespace.
//!
//! **Reads of hidden files** are not noticed here: a question for each file that is opened would cost more than all the
//! rest of confinement. `refused_reads` finds them in what programs say.
//!
//! - **A listener performs the calls that it allows.** It makes a creation, a connection to a socket by path and a
//!   change of a mode itself, with a copy of the arguments: a check of a path in the caller's memory would race with
//!   the caller's threads.
//! - **The listener performs nothing in the mounts of another world,** whose directories a process can receive by a
//!   socket.
//! - **Directories of recent changes stay open,** so that one call tells where a path leads. They are left before an
//!   unmount, and after a tenth of a second without a change.

mod asked;
mod caller;
mod changed;
mod changes;
mod directories;
mod guards;
mod journal;
mod modes;
mod names;
mod open;
mod own;
mod place;
mod protocol;
mod record;
mod remote;
mod renames;
mod reply;
mod rights;
mod service;
mod settings;
mod skip;
mod sockets;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod threads;
mod watcher;
#[cfg(all(test, target_os = "linux"))]
mod world_tests;

pub use journal::{Act, Change, Journal, Spot};
pub use protocol::{Ends, Link, Report};
pub use settings::Settings;
pub use watcher::{Watcher, spot_of};

/// Answers the calls of the commands of one shim, until the shim closes its end. The process has the
/// namespaces of the world and one thread, and needs no other descriptors.
pub fn serve(ends: Ends, settings: Settings) -> ! {
    let _ = sys::name_process(c"agent-bash-listener");
    sys::let_threads_wake();
    let prepared = sys::name_process(c"agent-bash-listener").and_then(|()| Ok(nix::unistd::chdir("/")?));
    let prepared = prepared.and_then(|()| sys::become_listener());
    let served = prepared.and_then(|()| service::Service::new(ends, settings).run());
    sys::exit_now(i32::from(served.is_err()))
}
