//! Fewer tokens, nothing lost: makes the view of an output, which a model reads instead of the output.
//!
//! Pure. A view is made in steps: class → folds that lose nothing → salience within a budget. Each line is judged by
//! itself and once.
//!
//! Runs in the host. Begin with `whole_output.rs` for a whole output, and with `stream.rs` for an output that arrives
//! in parts.
//!
//! - **The addon drafts, TypeScript finishes.** With `salient` the cleaned text of both streams also goes to a
//!   `Reducer`, before the window cuts it. The result has a draft. If it leaves out lines, the whole is written to the
//!   store, from the text of the result or from the spill file, and only then the view gets its closing line.
//! - **A failed step shows more.** Without a file nothing is left out. A panic in a reduction costs the view, and never
//!   the output. A command without the option takes the same path as before.
//! - **Work is counted in steps,** not in time, so a view does not depend on the machine, nor on how the output was
//!   split.
//! - **The judge shares no code with this crate** (`bench/tokens/`): it has its own oracle of failures and its own
//!   inverses.

pub mod check_classification;
pub mod class;
pub mod counts;
pub mod earlier_results;
pub mod estimate;
pub mod failure;
pub mod fold;
mod output_lines;
pub mod recall;
mod reduced_view;
mod reduction_options;
mod repeat_count;
pub mod rules;
mod salience;
pub mod stream;
#[cfg(test)]
mod tests;
mod whole_output;

pub use estimate::estimate_tokens;
pub use reduced_view::{
    CommandStream, DEFAULT_BUDGET, ElidedRange, ElisionReason, ExitOutcome, ReducedView, ReductionLevel, ViewRuleName,
    closing_line,
};
pub use reduction_options::ReductionOptions;
pub use rules::{OutputRule, RULES};
pub use stream::OutputReducer;
pub use whole_output::{reduce, unreduced_view};
