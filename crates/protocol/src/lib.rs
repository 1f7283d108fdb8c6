//! All that two processes of agent-bash must agree on: the plan of a command, the files of a task, the messages between
//! addon, supervisor and shims, and the rules that both sides of a pipe keep.
//!
//! Runs in each of these processes. Begin with [`ToShim`] and [`FromShim`], the messages about one command.

mod blocked;
mod conclusion;
pub mod drain;
mod ended_by;
mod exceeded;
mod messages;
mod opening;
mod order;
pub mod plan;
mod silence;
mod state;
mod survivor;
pub mod task;

pub use blocked::{BlockedOn, BlockedProcess, note_of_prompt, plain};
pub use conclusion::{ABORTED, CommandConclusion, CommandStatus, SIGNALED, TIMED_OUT};
pub use drain::OutputDrain;
pub use ended_by::EndedBy;
pub use exceeded::{ExceededLimit, LimitKind};
pub use messages::*;
pub use opening::LedgerOpening;
pub use order::{CommandOrder, CommandPipes, LazyLedgerOpening, WarmCommand};
pub use silence::{SilenceWatch, note_of_silence};
pub use state::state_directory;
pub use survivor::SurvivingProcess;
