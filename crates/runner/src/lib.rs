//! Runs commands: from the options of a caller to the result, through the helpers of the host.
//!
//! Runs in the host, on the threads of its own tokio runtime, and never on a thread of JavaScript. Begin with
//! `run/mod.rs`, which names each stage of a command.

pub mod as_json;
pub mod drafts;
pub mod error;
mod ledger_writes;
pub mod live;
pub mod pattern;
pub mod proof;
pub mod pty;
pub mod recall;
pub mod registry;
pub mod request;
mod reuse;
pub mod run;
pub mod session;
pub mod shell_state;
pub mod snapshot;
mod snapshot_paths;
pub mod supervise;
pub mod undoing;
