//! The addon's side of its helper processes: the supervisor, its shims, and the commands that they run.

mod client;
mod evidence_watch;
mod facts;
mod inherited_state_files;
mod prompt_detection;
mod ready_shell;
mod world_owners;

pub use client::{
    AdmissionSlot, CommandAdmission, HelperError, HelperProcesses, ProcessTraces, RunningCommand, SentCommand,
    ShimCommand, ShimEvent, TaskAdmission, TaskEvent, TaskLink, TaskSender, WarmShellCounts, WorldFailure, carrier,
    connect, state_of_worlds, use_own_program, warm_up,
};
pub use evidence_watch::EvidenceWatch;
pub use facts::{blocked_notes, facts};
pub use inherited_state_files::InheritedStateFiles;
pub use prompt_detection::{is_prompt, looks_like_prompt};
pub use sys::LaunchError as Failure;
pub use world_owners::{EndingWorlds, end_worlds, next_owner};
