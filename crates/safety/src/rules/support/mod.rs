//! Helpers that rules share: paths and their places, command lines, text for people.

pub mod backups;
pub mod find;
pub mod git;
pub mod lasting;
pub mod paths;
pub mod pathspec;
pub mod quote;
pub mod removal;
pub mod sets;
pub mod subcommand;
pub mod writes;
