//! The rules, one a file: what each is about, its check, and commands that must and must not match.

mod rule;
mod support;

pub use rule::{Hit, Rule};

/// All rules.
pub static RULES: &[&Rule] = &[];
