//! The user's own shell: aliases, functions, options and PATH, taken once from the rc files, and the code that brings the shell of a
//! command to them.
//!
//! asked → known → read → check → kept: what is asked for by its key, what this process knows, the rc files read in a shell of their
//! own, what came of it tried in a fresh one, and a file for later processes.

mod asked;
mod check;
mod code;
mod environment;
mod kept;
mod known;
mod progress;
mod read;
mod script;
mod secret;
mod start;

pub use asked::Wanted;
pub use known::Snapshot;
pub use start::{Start, at_hand, request_of, taken};
