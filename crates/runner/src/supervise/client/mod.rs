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

pub use admission::{AdmissionSlot, CommandAdmission, TaskAdmission};
pub use child::{ShimCommand, ShimEvent};
pub use error::HelperError;
pub use helpers::{HelperProcesses, carrier, use_own_program};
pub use link::{TaskEvent, TaskLink, TaskSender, connect};
pub use pool::WarmShellCounts;
pub use start::{RunningCommand, SentCommand, warm_up};
pub use traces::ProcessTraces;
pub use worlds::WorldFailure;
