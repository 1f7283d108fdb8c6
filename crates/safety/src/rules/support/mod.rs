//! Helpers that rules share: paths and their places, command lines, text for people.

pub mod backup_patterns;
pub mod find_search;
pub mod git_call;
pub mod lasting_effects;
pub mod lost_file_sets;
pub mod operand_paths;
pub mod pathspec;
pub mod quote;
pub mod removed_operands;
pub mod subcommand_call;
pub mod written_files;
