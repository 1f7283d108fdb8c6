//! The host's side: reaches a machine, starts the program there, and runs commands by it, also through cuts.
//!
//! | file | what |
//! |---|---|
//! | `target_address` | what names a target, and the transport that reaches it |
//! | `target_programs` | the programs, and the forms in which they are sent |
//! | `bootstrap_script` | the text that starts the program there |
//! | `transport_process` | the process that holds the transport, and what it says |
//! | `connection_attempt` | one attempt, from the transport to the first greeting |
//! | `failure_reason` | why an attempt failed, read from what the transport said |
//! | `target_run_updates` | what happens to a run there, on its way to the task that follows it |
//! | `untaken_output` | the output of a run, one part at a time to its listener |
//! | `partial_run_result` | what has arrived of a run whose end is not told |
//! | `target_outbox` | the calls for the program, in their order, also while no link is there |
//! | `program_instance` | makes a program ours that was reached |
//! | `remote_target` | a target with its state: connected, disconnected, lost, closed |
//! | `target_changes` | what is told when that state changes |
//! | `link_keeper` | keeps a link to the target, until the lease ends |
//! | `connect` | the first connection, and the one after a loss |
//! | `distant_run` | one command there |
//! | `distant_terminal` | a terminal that shows a program there |
//! | `target_requests` | one question |
//! | `distant_registry` | a registry of tasks there |
//! | `distant_session` | a session there |
//! | `target_files` | files there |
//! | `port_forward` | ports there, as ports of this machine |
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
pub use bootstrap::is_scriptable_path;
pub use changes::{TargetStateChange, TargetTransition};
pub use error::{InvalidAddress, TargetError, TargetErrorReason};
pub use forms::{ProgramEncoding, ProgramFile, TargetProgram};
pub use forward::PortForward;
pub use registry::{AnswerFuture, DistantRegistry, user_registry_directory};
pub use run::{DistantRun, DistantRunEnd};
pub use session::DistantSession;
pub use settings::TargetSettings;
pub use target::{RemoteTarget, TargetState};
