//! Tasks: commands in the background, with the files that a shim shares with hosts.
//!
//! A task's shim owns its pipes, its log and its state file. All other processes only read them.
//!
//! A command becomes a task in three ways.
//!
//! - **Started as a task.** The message that starts the command contains a task. The shim creates the log before it
//!   starts a process.
//! - **Moved at its limit.** Until then the addon keeps a journal of both streams in order of arrival. The journal
//!   becomes the beginning of the log. The state of the addon's text cleaning is sent along, and the shim resumes with
//!   it. Until the shim confirms, the command belongs to the addon. If the command exits first, the journal is
//!   discarded.
//! - **Adopted.** Survivors that still hold the pipes become a task. Survivors without a pipe are left alone.
//!
//! The host reads only the log file. All output is there alone, so a reader needs nothing but a cursor.
//!
//! A shim holds the lock of its log for as long as it lives. A process that finds a running task without that lock
//! settles it under the lock of the directory: the state becomes `lost`, and the closing line is written once. The
//! state file is always written before the closing line, so no reader takes that line for output.
//!
//! A pid, a socket and a lock mean something only where the task runs. `machine_identity.rs` defines that place: boot,
//! pid namespace, start of the first process there. A task of another place is only read.
//!
//! The reader of the pipes keeps the limit on silence (`silence.rs`): the addon for a command, the shim for a task. The
//! shim always keeps the time limit.

mod machine_identity;
mod owned_directories;
mod reported_changes;
#[expect(clippy::module_inception, reason = "the noun of this directory")]
mod task;
mod task_log;
mod task_store;

pub use machine_identity::{MachineIdentity, TaskWhereabouts};
pub use owned_directories::{own_process_name, remove_abandoned};
pub use task::{Task, TaskChangeJournal, TaskEnd, TaskLoss, TaskSpec, TaskState, VERSION, now_ms};
pub use task_log::{TaskLog, TaskLogReader, readable_end};
pub use task_store::{EndedLog, StateFileStamp, TaskStore, TaskStoreError, is_id, new_id, new_id_of, work};
