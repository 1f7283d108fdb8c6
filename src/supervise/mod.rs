//! Three processes: the addon talks to the supervisor, which forks shims, each of which runs commands.

#[cfg(feature = "addon")]
mod client;
mod clients;
mod drain;
mod feed;
mod frames;
mod keeper;
mod limits;
mod outflow;
mod prepare;
mod protocol;
mod running;
mod shim;
mod supervisor;
mod tree;
mod waiting;
mod waits;

#[cfg(feature = "addon")]
pub use client::{
    Admission, Begun, Child, HelperError, Helpers, Link, LinkNews, News, Order, Pipes, Shells, Slot, Speaker, Started,
    Warm, connect, warm_up,
};
pub use drain::Drain;
pub use limits::Broken;
pub use protocol::{Cause, Ended, Failure, Survivor, Transfer};
pub use supervisor::main;
pub use tree::{kill, marked};
#[cfg(feature = "addon")]
pub use waits::{Wait, is_prompt, looks_like_prompt, note_of_prompt, plain};
