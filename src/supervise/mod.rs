//! The three kinds of processes: the addon talks to the supervisor, which forks shims, each of which runs commands.

mod blocked;
#[cfg(feature = "addon")]
mod client;
#[cfg(feature = "addon")]
mod facts;
mod group;
#[cfg(feature = "addon")]
mod inheritance;
mod launch;
mod limits;
mod shim;
mod supervisor;
mod tree;
mod warm;

#[cfg(feature = "addon")]
pub use blocked::{is_prompt, looks_like_prompt};
#[cfg(feature = "addon")]
pub use client::{
    Admission, Begun, Child, HelperError, Helpers, Link, ShimEvent, Slot, Started, TaskEvent, TaskPlace, TaskSender,
    Traces, WarmShells, WorldFailure, connect, warm_up,
};
#[cfg(feature = "addon")]
pub use facts::{blocked_notes, facts};
#[cfg(feature = "addon")]
pub use inheritance::Inheritance;
pub use supervisor::main;
pub use sys::LaunchError as Failure;
pub use tree::kill;
