//! Three processes: the addon talks to the supervisor, which forks shims, each of which runs commands.

#[cfg(feature = "addon")]
mod admission;
#[cfg(feature = "addon")]
mod child;
#[cfg(feature = "addon")]
mod drain;
mod frames;
#[cfg(feature = "addon")]
mod helpers;
mod prepare;
mod protocol;
mod running;
mod shim;
#[cfg(feature = "addon")]
mod start;
mod supervisor;
mod tree;

#[cfg(feature = "addon")]
pub use admission::{Admission, Slot};
#[cfg(feature = "addon")]
pub use child::{Child, News};
#[cfg(feature = "addon")]
pub use drain::Drain;
#[cfg(feature = "addon")]
pub use helpers::{HelperError, Helpers, Shim};
pub use protocol::{Cause, Ended, Failure, Survivor};
#[cfg(feature = "addon")]
pub use start::{Begun, Order, Pipes};
pub use supervisor::main;
#[cfg(feature = "addon")]
pub use tree::MARK;
#[cfg(feature = "addon")]
pub use tree::{kill, marked};
