//! The rules, one a file: what each is about, its check, and commands that must and must not match.

mod rule;

pub use rule::{Hit, Rule};

/// All rules.
pub static RULES: &[&Rule] = &[];
