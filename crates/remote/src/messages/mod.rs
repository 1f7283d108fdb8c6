//! What a host and its program say. Both come from one build, which the host knows by the hash of the program.
//!
//! Greetings come first and are not numbered: [`GreetingFromProgram`] and [`GreetingToProgram`]. After
//! [`GreetingToProgram::Begin`] or
//! [`GreetingFromProgram::Resumed`], numbered frames carry [`TargetCall`]s to the program and [`TargetEvent`]s to the
//! host.

mod greeting;
mod id;
mod run_message;
mod target_call;
mod target_command;
mod target_failure;
mod target_file;
mod target_registry;
mod target_request;
mod text_cleaning;
mod transfer_part;
mod undo_requests;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use greeting::{
    GreetingFromProgram, GreetingToProgram, LeaseTerms, MachineLoad, ProgramToken, ResumeRequest, TargetFacts,
};
pub use id::is_id;
pub use run_message::RunMessage;
pub use target_call::{TargetCall, TargetEvent};
pub use target_command::{TargetCommand, TargetCommandPlace};
pub use target_failure::{TargetFailure, system_code};
pub use target_file::{
    FileStat, MAX_ENTRIES, MAX_READ, TargetDirectoryEntry, TargetFileKind, TargetFileRequest, TargetFileResponse,
};
pub use target_registry::{
    RegistryEvent, RegistryOpening, TargetRegistryRequest, TargetRegistryResponse, TaskWaitConditions,
};
pub use target_request::{TargetRequest, TargetResponse, TargetSessionRequest};
pub use text_cleaning::{clean_event, clean_facts, clean_output};
pub use transfer_part::TransferPart;
pub use undo_requests::{NewestUndoRequest, TargetUndoRequest, UndoPointsRequest};

/// The name of our directory in a place there, before the number of the user. The program is in it.
pub const DIRECTORY: &str = "agent-bash-host";

/// Encodes a message.
///
/// # Errors
/// If a path in it is no text.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_allocvec(message)
}

/// Decodes a message. All of its bytes belong to it.
///
/// # Errors
/// If the bytes are no such message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, postcard::Error> {
    match postcard::take_from_bytes(bytes)? {
        (message, []) => Ok(message),
        _ => Err(postcard::Error::DeserializeBadEncoding),
    }
}
