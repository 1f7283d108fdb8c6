//! The messages between the processes: one enum per direction, each with the descriptors that travel with it.
//!
//! | direction | messages |
//! |---|---|
//! | addon → supervisor | [`ToSupervisor`] |
//! | supervisor → addon | [`FromSupervisor`] |
//! | addon → shim | [`ToShim`] |
//! | shim → addon | [`FromShim`] |
//! | any process → task server | [`ToTask`] |
//! | task server → any process | [`FromTask`] |
//!
//! A shim is ready for the next [`ToShim::Run`] once it has reported [`FromShim::Ended`] with no process alive, or
//! [`FromShim::Released`] with no process left. A shim whose command becomes a task belongs to that task from then on.
//! Its socket to the addon then carries the task's protocol, which begins with [`FromTask::Task`].
//!
//! `serde` and `postcard` encode, and `frames` is the only place that calls them. The addon and its helpers come from
//! one build. The id of the sources that define the messages is their protocol, so a changed message needs no version
//! bumped by hand. Processes of other releases may open the socket of a task, so [`TASK_PROTOCOL`] changes with the
//! messages of a task. A test fails if it does not.

mod descriptors;
mod frames;
mod shim;
mod supervisor;
mod task;
#[cfg(test)]
mod tests;

pub use descriptors::{OutputPipe, PipelineTapEnds, RunDescriptors, TaskInput, WarmShellEnds};
pub use frames::{FrameReader, ReceiveOutcome, send, send_within};
pub use frames::{encode, raw_descriptors};
pub use shim::FromShimOrTask;
pub use shim::{
    FromShim, FromTaskClient, ReleasedSurvivors, ShellExitReport, ShimOrder, TaskTransfer, TerminationCause, ToShim,
    WarmCommandPlace, WarmCommandStart, WarmShellReport,
};
pub use supervisor::{FromSupervisor, ToSupervisor, WORLD_LOST, WorldEntryPoints};
pub use task::{FromTask, MAX_PENDING, ToTask};

/// The protocol between an addon and its own helpers: the id of the sources that they come from.
const BUILD: u32 = build_id(env!("AGENT_BASH_MESSAGES"));

/// The protocol of task servers. Every change to the encoding of a task's message has to increase it.
const TASK_PROTOCOL: u32 = 2;

/// Reads the decimal digits that the build script wrote.
const fn build_id(digits: &str) -> u32 {
    let bytes = digits.as_bytes();
    let mut id = 0_u32;
    let mut at = 0;
    while at < bytes.len() {
        id = id.wrapping_mul(10).wrapping_add((bytes[at] - b'0') as u32);
        at += 1;
    }
    // The numbers of task protocols are small, and build ids are not.
    id | 1 << 31
}
