//! The host's side of tasks: starts, lists, checks, waits for and kills them.

mod check;
mod error;
mod evidence;
mod follow;
mod live;
mod marked;
mod notify;
mod proved;
mod record;
mod recorded;
#[expect(clippy::module_inception, reason = "the noun of this directory")]
mod registry;
mod scan;
mod stranger;
#[cfg(test)]
mod tests;
mod wait;

pub use check::TaskCheck;
pub use error::RegistryError;
pub use marked::kill_marked;
pub use registry::{
    DEFAULT_MAX_LOG_BYTES, DEFAULT_MAX_TASKS, DEFAULT_RETENTION, RegistryOptions, TASK_LIMIT, TaskRegistry,
    TaskReservation, TaskWatcher,
};
pub use stranger::ForeignPortOwner;
pub use wait::TaskWaitOptions;
