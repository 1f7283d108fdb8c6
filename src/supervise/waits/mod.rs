//! Who of a command waits for what that nobody gives: looked at from outside, told in one line.

mod find;
#[cfg(test)]
mod find_tests;
mod look;
#[cfg(feature = "addon")]
mod prompt;
mod wait;

pub use look::look;
#[cfg(feature = "addon")]
pub use prompt::{is_prompt, looks_like_prompt};
pub use wait::{Wait, WaitsFor};
#[cfg(feature = "addon")]
pub use wait::{note_of_prompt, plain};
