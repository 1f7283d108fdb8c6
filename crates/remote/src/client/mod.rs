//! The host's side: reaches a machine, starts the program there, and runs commands by it, also through cuts.
//!
//! | file | what |
//! |---|---|
//! | `target_address` | what names a target, and the transport that reaches it |
//! | `target_programs` | the programs, and the forms in which they are sent |
//! | `bootstrap_script` | the text that starts the program there |
//! | `transport_process` | the transport of a link, here or on another target |
//! | `transport_via`, `carried_transport` | a transport on another target: its link, and its bytes |
//! | `relayed_request` | a question whose bytes are those of a stream |
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
//! | `watched_run` | that command for the people who watch this process |
//! | `distant_terminal` | a terminal that shows a program there |
//! | `target_requests` | one question |
//! | `distant_registry` | a registry of tasks there |
//! | `distant_session` | a session there |
//! | `target_files` | files there |
//! | `port_forward` | ports there, as ports of this machine |
//! | `uninstall` | the end of the program, with all that is its own |

mod bootstrap_script;
mod carried_transport;
mod connect;
mod connection_attempt;
mod distant_registry;
mod distant_run;
mod distant_session;
mod distant_terminal;
mod failure_reason;
mod link_keeper;
mod overdue_calls;
mod partial_run_result;
mod port_forward;
mod program_instance;
mod relayed_request;
mod remote_target;
#[cfg(test)]
mod scripted_target;
mod target_address;
mod target_changes;
mod target_error;
mod target_files;
mod target_outbox;
mod target_programs;
mod target_requests;
mod target_run_updates;
mod target_settings;
mod transport_process;
mod transport_via;
mod uninstall;
mod untaken_output;
mod watched_run;

pub use bootstrap_script::is_scriptable_path;
pub use distant_registry::{AnswerFuture, DistantRegistry, user_registry_directory};
pub use distant_run::{DistantRun, DistantRunEnd};
pub use distant_session::DistantSession;
pub use port_forward::PortForward;
pub use remote_target::{RemoteTarget, TargetState};
pub use target_address::{ContainerAddress, TargetAddress, TargetKind, TransportQuoting};
pub use target_changes::{TargetStateChange, TargetTransition};
pub use target_error::{InvalidAddress, TargetError, TargetErrorReason};
pub use target_programs::{ProgramEncoding, ProgramFile, TargetProgram};
pub use target_requests::UnansweredRequest;
pub use target_settings::TargetSettings;
pub use transport_via::TransportOrigin;
