//! The addon's side of its helper processes: the supervisor, its shims, and the commands that they run.

mod client;
mod facts;
mod inheritance;
mod prompt;
mod ready;
mod watched;

pub use client::{
    AdmissionSlot, CommandAdmission, HelperError, HelperProcesses, ProcessTraces, RunningCommand, SentCommand,
    ShimCommand, ShimEvent, TaskAdmission, TaskEvent, TaskLink, TaskSender, WarmShellCounts, WorldFailure, carrier,
    connect, use_own_program, warm_up,
};
pub use facts::{blocked_notes, facts};
pub use inheritance::InheritedStateFiles;
pub use prompt::{is_prompt, looks_like_prompt};
pub use sys::LaunchError as Failure;
pub use watched::EvidenceWatch;
