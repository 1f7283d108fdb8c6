//! Fewer tokens, nothing lost: makes the view of an output that a model reads in its place.
//!
//! Pure: class → folds that lose nothing → salience within a budget, each line judged by itself and once.
//!
//! Runs in the host. Begin with `view.rs` for a whole output, with `stream.rs` for one that arrives.

pub mod class;
pub mod estimate;
pub mod failure;
pub mod fold;
mod lines;
mod options;
pub mod recall;
pub mod rules;
mod salience;
pub mod seen;
pub mod stream;
#[cfg(test)]
mod tests;
mod types;
mod view;

pub use estimate::estimate_tokens;
pub use options::Options;
pub use rules::{RULES, Rule};
pub use stream::Reducer;
pub use types::{DEFAULT_BUDGET, Elided, End, Level, Name, Stream, View, Why, closing_line};
pub use view::{reduce, whole};
