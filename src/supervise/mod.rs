//! The three kinds of processes: the addon talks to the supervisor, which forks shims, each of which runs commands.

mod blocked;
#[cfg(feature = "addon")]
mod client;
mod drain;
#[cfg(feature = "addon")]
mod facts;
mod group;
#[cfg(feature = "addon")]
mod inheritance;
mod launch;
mod limits;
#[cfg(feature = "addon")]
mod order;
mod protocol;
mod shim;
mod silence;
mod supervisor;
mod tree;
mod warm;

#[cfg(all(test, feature = "addon"))]
pub use blocked::BlockedOn;
#[cfg(feature = "addon")]
pub use blocked::{BlockedProcess, is_prompt, looks_like_prompt, note_of_prompt, plain};
#[cfg(feature = "addon")]
pub use client::{
    Admission, Begun, Child, HelperError, Helpers, Link, ShimEvent, Slot, Started, TaskEvent, TaskPlace, TaskSender,
    Traces, WarmShells, WorldFailure, connect, warm_up,
};
pub use drain::Drain;
#[cfg(feature = "addon")]
pub use facts::{blocked_notes, facts};
#[cfg(feature = "addon")]
pub use inheritance::Inheritance;
pub use limits::ExceededLimit;
#[cfg(all(test, feature = "addon"))]
pub use limits::LimitKind;
#[cfg(feature = "addon")]
pub use order::{Order, Pipes, WarmCommand};
pub use protocol::{Cause, Ended, Survivor, Transfer};
#[cfg(feature = "addon")]
pub use silence::{SilenceWatch, note_of_silence};
pub use supervisor::main;
pub use sys::LaunchError as Failure;
pub use tree::kill;
