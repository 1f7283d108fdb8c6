//! The rules, one per file. Each file has a description, a check, and commands that must and must not match.

mod safety_rule;
mod support;
#[cfg(test)]
pub(crate) mod tests;

pub use safety_rule::{RuleHit, RulePrograms, SafetyRule};
pub use support::find_search::FindSearch;
pub use support::git_call::GitCall;
pub use support::quote::quote;
pub use support::written_files;

/// Declares the module of each rule and lists its `RULE`: a new rule is a file here and a line below.
macro_rules! rules {
    ($($name:ident,)*) => {
        $(pub mod $name;)*

        /// All rules in the order in which the documentation lists them.
        pub static RULES: &[&SafetyRule] = &[$(&$name::RULE,)*];
    };
}

rules! {
    // Denied.
    git_blind_add,
    git_force_push,
    rm_critical,
    find_delete_critical,
    block_device_write,
    fork_bomb,
    // A person is asked.
    git_reset_hard,
    git_clean,
    git_checkout_paths,
    git_restore,
    git_checkout_force,
    git_branch_delete,
    git_stash_drop,
    git_delete_remote,
    git_rewrite_history,
    git_worktree_remove,
    git_identity,
    rm_recursive,
    home_dotfile_write,
    infrastructure_destroy,
    cluster_delete,
    container_prune,
    database_destroy,
    cloud_delete,
    publish,
    system_change,
    data_destroy,
    secret_leaves,
    opaque_command,
    opaque_script,
    incomplete,
}
