//! Decides about a judged command by a host's own rules.

mod foreign_rules;
mod judged_command;
mod named_command_rules;
mod nearby_allow_rules;
mod permission_arity;
mod permission_decision;
mod permission_pattern;
mod rule_matching;
mod rule_suggestions;
#[cfg(test)]
mod tests;
mod volatile_names;
mod write_glob;

pub use named_command_rules::NamedCommandRules;
pub use nearby_allow_rules::NearbyAllowRule;
pub use permission_decision::{PermissionDecision, PermissionRules, decide};
pub use permission_pattern::{BadPermissionPattern, BadPermissionRule};
