//! The host's side of tasks: starts, lists, checks, waits for and kills them.

mod directory_scan;
mod error;
mod evidence_state;
mod foreign_port_owner;
mod marked_processes;
mod recording_state;
mod task_check;
mod task_events;
mod task_evidence;
mod task_following;
mod task_recording;
mod task_registry;
mod task_wait;
#[cfg(test)]
mod tests;
mod watched_tasks;

pub use error::RegistryError;
pub use foreign_port_owner::ForeignPortOwner;
pub use marked_processes::kill_marked;
pub use task_check::TaskCheck;
pub use task_registry::{
    DEFAULT_MAX_LOG_BYTES, DEFAULT_MAX_TASKS, DEFAULT_RETENTION, RegistryOptions, TASK_LIMIT, TaskRegistry,
    TaskReservation, TaskWatcher,
};
pub use task_wait::TaskWaitOptions;
