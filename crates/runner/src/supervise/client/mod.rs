//! The addon's side: its helper processes, and the commands that they run.

pub(super) mod admission;
mod error;
pub(super) mod helpers;
mod process_traces;
mod secret_values;
mod shim_command;
mod shim_launch;
pub(super) mod shim_pool;
mod shim_pools;
mod task_link;
mod world_table;

pub use admission::{AdmissionSlot, CommandAdmission, TaskAdmission};
pub use error::HelperError;
pub use helpers::{HelperProcesses, carrier, use_own_program};
pub use process_traces::ProcessTraces;
pub use shim_command::{ShimCommand, ShimEvent};
pub use shim_launch::{RunningCommand, SentCommand, warm_up};
pub use shim_pool::WarmShellCounts;
pub use task_link::{TaskEvent, TaskLink, TaskSender, connect};
pub use world_table::{WorldFailure, state_of_worlds};
