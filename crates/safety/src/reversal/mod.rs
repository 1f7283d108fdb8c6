//! The facts that an undo needs about a command before it runs: whether the command deletes or overwrites files,
//! whether it needs rights that a recorded process does not get, and which of its effects are no files.
//!
//! Pure like the rest of the engine. The caller finds out whether a file exists.

mod collect_facts;
mod elevated_programs;
mod external_effects;
mod overwriting_calls;
mod overwritten_targets;
mod reversal_facts;
#[cfg(test)]
mod tests;

pub use collect_facts::collect_reversal_facts;
pub use reversal_facts::{ReversalFacts, ReversalTarget};
