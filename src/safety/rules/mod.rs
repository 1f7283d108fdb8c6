//! The rules, one a file: what each is about, its check, and commands that must and must not match.

mod block_device_write;
mod find_delete_critical;
pub mod fork_bomb;
mod git_blind_add;
mod git_branch_delete;
mod git_checkout_force;
mod git_checkout_paths;
mod git_clean;
mod git_delete_remote;
mod git_force_push;
mod git_identity;
mod git_reset_hard;
mod git_restore;
mod git_rewrite_history;
mod git_stash_drop;
mod git_worktree_remove;
mod home_dotfile_write;
pub mod incomplete;
pub mod opaque_command;
pub mod opaque_script;
mod rm_critical;
mod rm_recursive;
mod rule;
mod support;
#[cfg(test)]
mod tests;

pub use rule::{Hit, Rule};
pub use support::find::VALUED;
pub use support::git::Git;
pub use support::quote::quote;

/// All rules: what is denied, then what is asked about, each in the order in which people read of them.
pub static RULES: &[&Rule] = &[
    &git_blind_add::RULE,
    &git_force_push::RULE,
    &rm_critical::RULE,
    &find_delete_critical::RULE,
    &block_device_write::RULE,
    &fork_bomb::RULE,
    &git_reset_hard::RULE,
    &git_clean::RULE,
    &git_checkout_paths::RULE,
    &git_restore::RULE,
    &git_checkout_force::RULE,
    &git_branch_delete::RULE,
    &git_stash_drop::RULE,
    &git_delete_remote::RULE,
    &git_rewrite_history::RULE,
    &git_worktree_remove::RULE,
    &git_identity::RULE,
    &rm_recursive::RULE,
    &home_dotfile_write::RULE,
    &opaque_command::RULE,
    &opaque_script::RULE,
    &incomplete::RULE,
];
