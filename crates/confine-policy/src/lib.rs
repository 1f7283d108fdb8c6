//! The policy of a confined command: the options of the caller, checked and resolved, and the words in which the
//! crates of confinement report to the caller.
//!
//! It runs in the host, and its types cross to the supervisor, the shims, the listeners and the gates. It trusts the
//! options of the caller. It does not trust the names of paths: it follows links, once, and looks users up
//! (`RealHost`). It never changes a file, starts a process or opens a connection.
//!
//! | step | where |
//! |---|---|
//! | options as given | `raw.rs` |
//! | the other inputs of a policy | `policy_environment.rs` |
//! | paths: `~`, links, nesting | `option_paths.rs` |
//! | allow entries and names of hosts | `hosts.rs` |
//! | the default lists | `defaults.rs` |
//! | options that contradict each other | `contradictions.rs` |
//! | everything together | `make.rs` |
//! | policies of earlier commands | `policy_cache.rs` |
//! | secrets: stand-ins, rules, values and uses | `secrets` |
//! | the use of the host's ssh agent | `ssh_agent` |
//! | lists and limits as data, for documents and tests | `facts.rs` |
//! | more access for one command | `requested_access.rs` |
//! | the parts that were held, and denials | `confinement_parts.rs`, `confinement_report.rs`, `denial.rs` |
//! | hidden files in the messages of programs | `hidden_reads.rs` |

mod confinement_parts;
mod confinement_policy;
mod confinement_report;
mod contradictions;
mod defaults;
mod denial;
mod facts;
mod glob;
mod hidden_reads;
mod hosts;
mod make;
mod option_paths;
mod policy_cache;
mod policy_environment;
mod policy_error;
mod raw;
mod requested_access;
mod secrets;
mod ssh_agent;

pub use confinement_parts::{ConfinementPart, MissingPart, WorldError};
pub use confinement_policy::{
    CacheAccess, CommandReach, ConfinementPolicy, DraftedDirectory, DraftedTree, GitScope, NetworkScope, OwnedPolicy,
    PolicyProfile, ReadScope, TmpPlacement,
};
pub use confinement_report::{ConfinementMechanism, ConfinementReport, ReportedWorldError, WorldFacts};
pub use defaults::{DRAFTS_PLACE, OF_MACHINE, PROTECT, SYSTEM, UNDO_PLACE};
pub use denial::{CommandDenials, DenialKind, DeniedOperation, LISTED, SuggestedGrant};
pub use facts::facts;
pub use hidden_reads::refused_reads;
pub use hosts::{AllowEntry, AllowHost};
pub use make::{make_policy, profile_name};
pub use option_paths::outermost_paths;
pub use policy_cache::{forget_owner, policy_for_owner};
pub use policy_environment::{PolicyEnvironment, RealHost};
pub use policy_error::{PolicyError, PolicyFault};
pub use raw::{RawConfine, RawNetwork, RawRead};
pub use requested_access::{RequestedAccess, missing_access};
pub use secrets::{
    CountedSecretUse, HostAuthorities, RawSecret, SecretPlace, SecretRule, SecretText, SecretUses,
    VARIABLES_OF_AUTHORITIES, ValueAnswer, ValueQuestion, WorldSecrets, keep_values, value_of,
};
pub use ssh_agent::{HostKey, RawSsh, WorldSsh};
