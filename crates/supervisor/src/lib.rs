//! The processes between a host and its commands: one supervisor per host process, which forks shims, each of which
//! runs one command at a time.
//!
//! `main.rs` is the supervisor's program. Begin with `shim/mod.rs`, the life of a shim with its commands. Nothing here
//! is asynchronous. The addon uses [`tree`] and [`group`] to find and end the processes of dead helpers. The same
//! program holds the transport to another machine (`carrier.rs`).

mod blocked;
mod carrier;
pub mod cgroup;
mod draft_space;
mod facts;
mod launch;
mod pipeline_tap_names;
mod shim;
mod supervisor;
pub mod tree;
mod tree_limits;
mod warm_shell;

pub use carrier::{CANNOT_START, CARRY, carry};
pub use facts::facts;
pub use supervisor::main;
