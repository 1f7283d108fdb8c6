//! Finds the process of a command that is blocked on input it will not get, from outside.

mod find;
#[cfg(test)]
mod find_tests;
pub(crate) mod scan;

pub use scan::scan;
