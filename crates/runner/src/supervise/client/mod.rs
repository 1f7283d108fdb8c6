//! The addon's side: its helper processes, and the commands that they run.

pub(super) mod admission;
mod child;
mod error;
pub(super) mod helpers;
mod link;
pub(super) mod pool;
mod pools;
mod start;
mod traces;
mod worlds;

pub use admission::{Admission, Slot, TaskPlace};
pub use child::{Child, ShimEvent};
pub use error::HelperError;
pub use helpers::{Helpers, carrier, use_own_program};
pub use link::{Link, TaskEvent, TaskSender, connect};
pub use pool::WarmShells;
pub use start::{Launched, Running, warm_up};
pub use traces::Traces;
pub use worlds::WorldFailure;
