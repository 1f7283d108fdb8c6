//! Three processes: the addon talks to the supervisor, which forks shims, each of which runs commands.

#[cfg(feature = "addon")]
mod client;
mod frames;
mod prepare;
mod protocol;
mod running;
mod shim;
mod supervisor;
mod tree;

#[cfg(feature = "addon")]
pub use client::{Admission, Begun, Child, Drain, HelperError, Helpers, News, Order, Pipes, Slot};
pub use protocol::{Cause, Ended, Failure, Survivor};
pub use supervisor::main;
pub use tree::{kill, marked};
