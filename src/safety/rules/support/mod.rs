//! What rules share: paths and their worth, globs held against names, git's command line, text for people.

pub mod find;
pub mod git;
pub mod glob;
pub mod paths;
pub mod pathspec;
pub mod quote;
pub mod removal;
pub mod writes;
