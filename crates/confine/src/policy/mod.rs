//! The policy of a command: the options of the caller, checked and resolved.
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
//! | lists and limits as data, for documents and tests | `facts.rs` |
//! | more access for one command | `requested_access.rs` |

mod confinement_policy;
mod contradictions;
mod defaults;
mod facts;
mod hosts;
mod make;
mod option_paths;
mod policy_cache;
mod policy_environment;
mod policy_error;
mod raw;
mod requested_access;

pub use confinement_policy::{
    AllowEntry, AllowHost, CacheAccess, CommandReach, ConfinementPolicy, GitScope, NetworkScope, OwnedPolicy,
    PolicyProfile, ReadScope, TmpPlacement,
};
pub use defaults::{OF_MACHINE, PROTECT, SYSTEM, UNDO_PLACE};
pub use facts::facts;
pub use make::make_policy;
pub(crate) use option_paths::outermost_paths;
pub use policy_cache::{forget_owner, policy_for_owner};
pub use policy_environment::{PolicyEnvironment, RealHost};
pub use policy_error::{PolicyError, PolicyFault};
pub use raw::{RawConfine, RawNetwork, RawRead};
pub use requested_access::{RequestedAccess, missing_access};
