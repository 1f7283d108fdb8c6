//! The addon's side of its helper processes: the supervisor, its shims, and the commands that they run.

mod client;
mod facts;
mod inheritance;
mod prompt;
mod ready;
mod watched;

pub use client::{
    Admission, Child, HelperError, Helpers, Launched, Link, Running, ShimEvent, Slot, TaskEvent, TaskPlace, TaskSender,
    Traces, WarmShells, WorldFailure, carrier, connect, use_own_program, warm_up,
};
pub use facts::{blocked_notes, facts};
pub use inheritance::Inheritance;
pub use prompt::{is_prompt, looks_like_prompt};
pub use sys::LaunchError as Failure;
pub use watched::Watched;
