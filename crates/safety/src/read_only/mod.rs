//! Tells whether a command only reads.

mod awk;
mod git;
mod judge;
mod sed;
#[cfg(test)]
mod tests;

pub use git::reads as git_reads;
pub use judge::{makes_programs_run, read_only, variable_hijacks};
