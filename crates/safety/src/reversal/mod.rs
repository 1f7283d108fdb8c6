//! The facts that an undo needs about a command before it runs: whether the command deletes or overwrites files,
//! whether it needs rights that a recorded process does not get, and which of its effects are no files.
//!
//! Pure like the rest of the engine. The caller finds out whether a file exists.

mod beyond;
mod elevated;
mod overwriting;
mod read;
mod targets;
#[cfg(test)]
mod tests;
mod types;

pub use read::collect_reversal_facts;
pub use types::{ReversalFacts, ReversalTarget};
