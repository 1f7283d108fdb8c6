//! Tasks: commands that go on in the background. A task's shim owns its pipes, its log and its state file; everybody else
//! reads them, in this process and in others.
//!
//! `task`, `store` and `log` are what both sides share and know nothing of the layers above; the rest is the addon's.

#[cfg(feature = "addon")]
mod check;
#[cfg(feature = "addon")]
mod follow;
mod log;
#[cfg(feature = "addon")]
mod look;
#[cfg(feature = "addon")]
mod pattern;
#[cfg(feature = "addon")]
mod registry;
mod store;
mod task;
#[cfg(feature = "addon")]
mod tell;
#[cfg(feature = "addon")]
mod wait;

#[cfg(feature = "addon")]
pub use check::Check;
#[cfg(feature = "addon")]
pub use follow::end_marked;
pub use log::{Log, Text, end_of};
#[cfg(feature = "addon")]
pub use pattern::Pattern;
#[cfg(feature = "addon")]
pub use registry::{DAY, Place, Registry, Settings, Watcher};
pub use store::{Store, StoreError, new_id};
pub use task::{End, Loss, Order, State, Task, now_ms};
#[cfg(feature = "addon")]
pub use wait::Wait;
