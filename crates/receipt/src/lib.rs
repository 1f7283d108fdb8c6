//! The changes that a command made: files, git and ports.
//!
//! `types` is the result, `net` the pure comparison of before and after. `git` and `ports` read the states that they
//! compare, and `watch` follows a tree of directories as the system reports its changes.
//!
//! Runs in the host. `recording/` joins it with the undo of a run; begin there.

pub mod git;
pub mod net;
pub mod port_listeners;
pub mod recording;
mod run_receipt;
pub mod watch;

pub use run_receipt::*;
