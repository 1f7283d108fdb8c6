//! The decision of a host's own rules about a judged command.

mod arity;
mod decision;
mod judged;
mod matching;
mod pattern;
mod suggest;
#[cfg(test)]
mod tests;
mod write_glob;

pub use decision::{Decision, Permissions, decide};
pub use pattern::BadPattern;
