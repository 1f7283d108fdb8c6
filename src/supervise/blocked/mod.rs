//! Finds the process of a command that is blocked on input it will not get, from outside, and describes it in one line.

mod find;
#[cfg(test)]
mod find_tests;
#[cfg(feature = "addon")]
mod prompt;
pub(super) mod scan;

#[cfg(feature = "addon")]
pub use prompt::{is_prompt, looks_like_prompt};
pub use scan::scan;
