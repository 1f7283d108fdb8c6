//! The policy of a command: the options of the caller, checked and resolved.
//!
//! | step | where |
//! |---|---|
//! | options as given | `raw.rs` |
//! | the other inputs of a policy | `surroundings.rs` |
//! | paths: `~`, links, nesting | `paths.rs` |
//! | allow entries and names of hosts | `hosts.rs` |
//! | the default lists | `defaults.rs` |
//! | options that contradict each other | `check.rs` |
//! | everything together | `make.rs` |
//! | policies of earlier commands | `known.rs` |
//! | lists and limits as data, for documents and tests | `facts.rs` |
//! | more access for one command | `access.rs` |

mod access;
mod check;
mod defaults;
mod error;
mod facts;
mod hosts;
mod known;
mod make;
mod paths;
mod raw;
mod surroundings;
mod types;

pub use access::{RequestedAccess, missing_access};
pub use defaults::{OF_MACHINE, PROTECT, SYSTEM, UNDO_PLACE};
pub use error::{PolicyError, PolicyFault};
pub use facts::facts;
pub use known::{forget_owner, policy_for_owner};
pub use make::make_policy;
pub(crate) use paths::outermost_paths;
pub use raw::{RawConfine, RawNetwork, RawRead};
pub use surroundings::{PolicyEnvironment, RealHost};
pub use types::{
    AllowEntry, AllowHost, CacheAccess, CommandReach, ConfinementPolicy, GitScope, NetworkScope, OwnedPolicy,
    PolicyProfile, ReadScope, TmpPlacement,
};
