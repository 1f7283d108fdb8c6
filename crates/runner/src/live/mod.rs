//! What lives in this process, for the people who watch it: its runs, their output, and the questions that wait.
//!
//! | file | what |
//! |---|---|
//! | `runs`, `run` | the commands that run, each with its place, its pid and its last line |
//! | `order` | the orders of a person to a command |
//! | `tasks`, `log` | the tasks of its registries, and their logs |
//! | `tap`, `reader` | the output of a run on its way to one watcher |
//! | `tail` | the end of the output of a run, for watchers who come later |
//! | `asks` | questions about commands that have not started |
//! | `usage` | processor time, memory and ports of a run |
//! | `shape`, `ended` | all of it in the shapes of the host's socket |
//!
//! Without a watcher a run costs its registration, and nothing else: no output is copied, nothing is sampled, and
//! no end is kept.

mod asks;
mod ended;
mod log;
mod order;
mod reader;
mod run;
mod runs;
mod shape;
mod tail;
mod tap;
mod tasks;
mod usage;

pub use asks::{AnsweringPage, ApprovalAnswer, ApprovalError, ApprovalQuestion, ApprovalWait, PendingApprovals, asks};
pub use ended::{
    ReportedGrant, RunChangeKind, RunChanges, RunDenial, RunDenials, RunEndReport, RunEnding, RunFileChange,
    RunGitChange, RunResourceUsage, UndoExtent,
};
pub use log::follow_log;
pub use order::{WatcherInputError, WatcherOrder};
pub use reader::{WatcherText, WatcherTextReader};
pub(crate) use run::millis;
pub use run::{LiveRun, RunRegistration};
pub use runs::{EndedRun, LiveRuns, RegisteredRun, RunWatchGuard, runs};
pub use shape::{
    ApprovalRequest, LiveRunState, RunDescription, RunKind, RunWait, RunWaitReason, ServedPort, UndoCover,
    shown_directory, without_secrets,
};
pub use tap::WatcherQueue;
pub use tasks::{TaskChanges, TaskSource, describe_task, last_line_of, task_end_report};
pub use usage::{RunUsageSample, sample};
