//! What lives in this process, for the people who watch it: its runs, their output, and the questions that wait.
//!
//! | file | what |
//! |---|---|
//! | `live_runs`, `live_run` | the commands that run, each with its place, its pid and its last line |
//! | `watcher_order` | the orders of a person to a command |
//! | `task_source`, `log_follower` | the tasks of its registries, and their logs |
//! | `watcher_queue`, `watcher_text` | the output of a run on its way to one watcher |
//! | `output_tail` | the end of the output of a run, for watchers who come later |
//! | `pools` | pools of targets, as they report themselves |
//! | `approvals` | questions about commands that have not started |
//! | `run_usage` | processor time, memory and ports of a run |
//! | `run_description`, `run_ending` | all of it in the shapes of the host's socket |
//!
//! Without a watcher a run costs its registration, and nothing else: no output is copied, nothing is sampled, and
//! no end is kept.

mod approvals;
mod live_run;
mod live_runs;
mod log_follower;
mod output_tail;
mod pools;
mod run_description;
mod run_ending;
mod run_usage;
mod task_source;
mod watcher_order;
mod watcher_queue;
mod watcher_text;

pub use approvals::{
    AnsweringPage, ApprovalAnswer, ApprovalError, ApprovalQuestion, ApprovalWait, PendingApprovals, asks,
};
pub(crate) use live_run::millis;
pub use live_run::{LiveRun, RunRegistration};
pub use live_runs::{EndedRun, LiveRuns, RegisteredRun, RunWatchGuard, runs};
pub use log_follower::follow_log;
pub use pools::{LivePool, LivePools, PlaceReport, PoolDescription, PoolReport, pools};
pub use run_description::{
    ApprovalRequest, LiveRunState, RunDescription, RunKind, RunWait, RunWaitReason, ServedPort, UndoCover,
    shown_directory, without_secrets,
};
pub use run_ending::{
    ReportedGrant, RunChangeKind, RunChanges, RunDenial, RunDenials, RunEndReport, RunEnding, RunFileChange,
    RunGitChange, RunResourceUsage, UndoExtent,
};
pub use run_usage::{RunUsageSample, sample};
pub use task_source::{TaskChanges, TaskSource, describe_task, last_line_of, task_end_report};
pub use watcher_order::{WatcherInputError, WatcherOrder};
pub use watcher_queue::WatcherQueue;
pub use watcher_text::{WatcherText, WatcherTextReader};
