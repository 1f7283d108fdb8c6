//! The host's socket: people of the same user watch what lives in this process, and may stop, answer and type.
//!
//! Runs in the host, on the threads of the addon's own runtime, so a host that is stuck in JavaScript is still seen.
//! Begin with `listen.rs`. The commands and the questions themselves are in `runner::live`.
//!
//! | file | what |
//! |---|---|
//! | `place` | the directory of the sockets, and what dead hosts have left in it |
//! | `message` | the messages, each a line of JSON |
//! | `listen` | from the first command on, or earlier on request: accepts clients of the same user |
//! | `client` | one client: its requests and its batches |
//! | `lines`, `outgoing` | its bounded queues |
//! | `act` | stops a run, or gives it input |
//! | `follow`, `screen` | the output or the screen of one run for one client |
//! | `publish` | looks at all runs while a client watches, once for all clients |
//! | `running` | a task of the runtime that ends with its owner |
//! | `changes` | what a client does not know yet |
//!
//! - **Without a client nothing runs** but the wait for one.
//! - **A client that reads slowly delays nobody.** It gets fewer and larger batches, and gaps in outputs. One that
//!   takes nothing for 30 seconds is dropped.

mod abort_on_drop;
mod client_knowledge;
mod client_lines;
mod followed_run;
mod followed_screen;
mod host_client;
mod host_listener;
mod host_message;
mod outgoing_queue;
mod person_actions;
mod snapshot_publisher;
mod socket_directory;

pub use host_listener::{directory, keep_listening};
