//! The host's side: reaches a machine, starts the program there, and runs commands by it, also through cuts.
//!
//! | file | what |
//! |---|---|
//! | `address` | what names a target, and the transport that reaches it |
//! | `forms` | the programs, and the forms in which they are sent |
//! | `bootstrap` | the text that starts the program there |
//! | `transport` | the process that holds the transport, and what it says |
//! | `reach` | one attempt, from the transport to the first greeting |
//! | `reason` | why an attempt failed, read from what the transport said |
//! | `happenings` | what happens to a run there, on its way to the task that follows it |
//! | `output` | the output of a run, one part at a time to its listener |
//! | `arrived` | what has arrived of a run whose end is not told |
//! | `outbox` | the calls for the program, in their order, also while no link is there |
//! | `begin` | makes a program ours that was reached |
//! | `target` | a target with its state: connected, disconnected, lost, closed |
//! | `changes` | what is told when that state changes |
//! | `keep` | keeps a link to the target, until the lease ends |
//! | `connect` | the first connection, and the one after a loss |
//! | `run` | one command there |
//! | `terminal` | a terminal that shows a program there |
//! | `ask` | one question |
//! | `registry` | a registry of tasks there |
//! | `session` | a session there |
//! | `files` | files there |
//! | `forward` | ports there, as ports of this machine |
//! | `uninstall` | the end of the program, with all that is its own |

mod address;
mod arrived;
mod ask;
mod begin;
mod bootstrap;
mod changes;
mod connect;
mod error;
mod files;
mod forms;
mod forward;
mod happenings;
mod keep;
mod outbox;
mod output;
mod overdue;
#[cfg(test)]
mod played;
mod reach;
mod reason;
mod registry;
mod run;
mod session;
mod settings;
mod target;
mod terminal;
mod transport;
mod uninstall;

pub use address::{ContainerAddress, TargetAddress, TargetKind, TransportQuoting};
pub use ask::UnansweredRequest;
pub use bootstrap::is_writable;
pub use changes::{TargetStateChange, TargetTransition};
pub use error::{InvalidAddress, TargetError, TargetErrorReason};
pub use forms::{ProgramEncoding, ProgramFile, TargetProgram};
pub use forward::PortForward;
pub use registry::{AnswerFuture, DistantRegistry, own_directory};
pub use run::{DistantRun, DistantRunEnd};
pub use session::DistantSession;
pub use settings::TargetSettings;
pub use target::{RemoteTarget, TargetState};
