//! All that two processes of agent-bash must agree on: the plan of a command, the files of a task, the messages between
//! addon, supervisor and shims, and the rules that both sides of a pipe keep.
//!
//! Runs in each of these processes. Begin with [`ToShim`] and [`FromShim`], the messages about one command.

mod blocked;
mod command_conclusion;
mod command_order;
mod ended_by;
mod exceeded_limit;
mod ledger_opening;
mod messages;
pub mod output_drain;
pub mod plan;
mod silence_watch;
mod state_directory;
mod surviving_process;
pub mod task;

pub use blocked::{BlockedOn, BlockedProcess, note_of_prompt, plain};
pub use command_conclusion::{ABORTED, CommandConclusion, CommandStatus, SIGNALED, TIMED_OUT};
pub use command_order::{CommandOrder, CommandPipes, LazyLedgerOpening, WarmCommand};
pub use ended_by::EndedBy;
pub use exceeded_limit::{ExceededLimit, LimitKind};
pub use ledger_opening::LedgerOpening;
pub use messages::*;
pub use output_drain::OutputDrain;
pub use silence_watch::{SilenceWatch, note_of_silence};
pub use state_directory::state_directory;
pub use surviving_process::SurvivingProcess;
