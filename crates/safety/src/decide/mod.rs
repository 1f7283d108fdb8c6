//! Decides about a judged command by a host's own rules.

mod arity;
mod commands;
mod decision;
mod foreign;
mod judged;
mod matching;
mod nearest;
mod pattern;
mod suggest;
#[cfg(test)]
mod tests;
mod volatile;
mod write_glob;

pub use commands::NamedCommandRules;
pub use decision::{PermissionDecision, PermissionRules, decide};
pub use nearest::NearbyAllowRule;
pub use pattern::{BadPermissionPattern, BadPermissionRule};
