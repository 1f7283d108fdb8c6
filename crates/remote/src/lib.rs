//! Commands on another machine: what a host says to its program there, and what the program does.
//!
//! The program is the library of the addon with a wire in place of JavaScript. It runs in a process of its own on the
//! other machine, and is its own supervisor. Begin with `program/mod.rs`; `messages/` is all that crosses.
//!
//! | file | what |
//! |---|---|
//! | `messages/` | what both sides say, before and after they know each other |
//! | `link_mailbox` | the mailbox of one side, shared by all its tasks |
//! | `frame_link` | passes frames over one connection until it is cut |
//! | `random` | secrets, and names that nobody else has |
//! | `flow_control`, `connection_relay` | the credit of a transfer, and a connection of a forwarded port |
//! | `carrier_process` | the process that holds a transport, and what it says |
//! | `program/` | the program: it takes links over, runs commands, and lingers while no link is there |

mod carrier_process;
pub mod client;
mod connection_relay;
mod flow_control;
mod frame_link;
mod link_mailbox;
mod messages;
pub mod program;
mod random;

pub use frame_link::{FrameLink, LinkEnd, LinkError, carry_frames};
pub use link_mailbox::LinkMailbox;
pub use messages::{
    FileStat, GreetingFromProgram, GreetingToProgram, LeaseTerms, MAX_READ, MachineLoad, NewestUndoRequest,
    ProgramToken, RegistryEvent, RegistryOpening, ResumeRequest, RunMessage, TargetCall, TargetCommand,
    TargetCommandPlace, TargetDirectoryEntry, TargetEvent, TargetFacts, TargetFailure, TargetFileKind,
    TargetFileRequest, TargetFileResponse, TargetRegistryRequest, TargetRegistryResponse, TargetRequest,
    TargetResponse, TargetSessionRequest, TargetUndoRequest, TaskWaitConditions, TransferPart, UndoPointsRequest,
    decode, encode,
};
