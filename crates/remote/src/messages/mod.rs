//! What a host and its program say. Both come from one build, which the host knows by the hash of the program.
//!
//! Greetings come first and are not numbered: [`GreetingFromProgram`] and [`GreetingToProgram`]. After
//! [`GreetingToProgram::Begin`] or
//! [`GreetingFromProgram::Resumed`], numbered frames carry [`TargetCall`]s to the program and [`TargetEvent`]s to the
//! host.

mod ask;
mod clean;
mod failure;
mod file;
mod greeting;
mod id;
mod of_run;
mod order;
mod part;
mod registry;
mod run;
mod undoing;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use ask::{TargetRequest, TargetResponse, TargetSessionRequest};
pub use clean::{clean_event, clean_facts, clean_output};
pub use failure::{TargetFailure, system_code};
pub use file::{
    FileStat, MAX_ENTRIES, MAX_READ, TargetDirectoryEntry, TargetFileKind, TargetFileRequest, TargetFileResponse,
};
pub use greeting::{GreetingFromProgram, GreetingToProgram, LeaseTerms, ProgramToken, ResumeRequest, TargetFacts};
pub use id::is_id;
pub use of_run::RunMessage;
pub use order::{TargetCommand, TargetCommandPlace};
pub use part::TransferPart;
pub use registry::{RegistryEvent, RegistryOpening, TargetRegistryRequest, TargetRegistryResponse, TaskWaitConditions};
pub use run::{TargetCall, TargetEvent};
pub use undoing::{NewestUndoRequest, TargetUndoRequest, UndoPointsRequest};

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
