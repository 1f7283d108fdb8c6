//! The host's socket: people of the same user watch what lives in this process, and may stop, answer and type.
//!
//! Runs in the host, on the threads of the addon's own runtime, so a host that is stuck in JavaScript is still seen.
//! Begin with `host_listener.rs`. The commands and the questions themselves are in `runner::live`.
//!
//! | file | what |
//! |---|---|
//! | `socket_directory` | the directory of the sockets, and what dead hosts have left in it |
//! | `host_message` | the messages, each a line of JSON |
//! | `host_listener` | from the first command on, or earlier on request: accepts clients of the same user |
//! | `host_client` | one client: its requests and its batches |
//! | `client_lines`, `outgoing_queue` | its bounded queues |
//! | `person_actions` | stops a run, or gives it input |
//! | `followed_run`, `followed_screen` | the output or the screen of one run for one client |
//! | `snapshot_publisher` | looks at all runs while a client watches, once for all clients |
//! | `abort_on_drop` | a task of the runtime that ends with its owner |
//! | `client_knowledge` | what a client does not know yet |
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
