//! Tasks: what a shim and a host share of a command in the background.
//!
//! A task's shim owns its pipes, its log and its state file. All other processes only read them.

mod log;
mod machine;
mod owner;
mod reported;
mod store;
#[expect(clippy::module_inception, reason = "the noun of this directory")]
mod task;

pub use log::{Log, Text, end_of};
pub use machine::{Machine, Whereabouts};
pub use owner::{own_name, remove_left};
pub use store::{Stamp, Store, StoreError, new_id};
pub use task::{Loss, Task, TaskEnd, TaskRecord, TaskSpec, TaskState, VERSION, now_ms};
