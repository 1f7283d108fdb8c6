//! What rules share: paths and their worth, git's command line, text for people.

pub mod find;
pub mod git;
pub mod paths;
pub mod pathspec;
pub mod quote;
pub mod removal;
pub mod writes;
