//! Confinement: limits on the files, hosts and processes that a command can reach.
//!
//! | part | where | what |
//! |---|---|---|
//! | policy | `policy/` | options, validated and resolved; pure |
//! | world | `world/` | the namespaces that commands with one policy share |
//! | filter | `filter/` | which system calls are refused, and which the listener answers |
//! | listener | `listener/` | answers the calls of one shim's command, and records denials |
//! | gate | `gate/` | the way of a world to its allowed hosts |
//! | Seatbelt | `seatbelt/` | profiles for the sandbox of macOS, as text; pure |
//!
//! Runs in the host (policy), the supervisor (the making of a world), the first process of a world, one listener per
//! shim, and one gate per world. The functions called `serve` are where such a process begins.

mod confinement_parts;
mod confinement_report;
mod denial;
pub mod filter;
pub mod gate;
mod git_settings;
mod hidden_reads;
pub mod listener;
pub mod policy;
mod seatbelt;
mod status_board;
pub mod world;

pub use confinement_parts::{ConfinementPart, MissingPart, WorldError};
pub use confinement_report::{ConfinementMechanism, ConfinementReport, ReportedWorldError, WorldFacts};
pub use denial::{CommandDenials, DenialKind, DeniedOperation, SuggestedGrant};
pub use hidden_reads::refused_reads;
pub use policy::{
    AllowEntry, AllowHost, CacheAccess, ConfinementPolicy, GitScope, NetworkScope, OwnedPolicy, PolicyError,
    PolicyProfile, RawConfine, ReadScope, RealHost, RequestedAccess, TmpPlacement, facts, forget_owner, missing_access,
    policy_for_owner,
};
pub use status_board::{WorldStatusBoard, WorldStatusSlot};
pub use world::remedy_of;
