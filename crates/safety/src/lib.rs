//! Judges a command before it runs: read → evaluate → unwrap → rules → verdict.
//!
//! A guard against mistakes, not a boundary against malice (see docs/safety.md).
//!
//! Runs in the host, on the thread of the caller, and touches no process, clock or file. Begin with `engine.rs`.

mod analysis;
mod choices;
mod command;
mod contents;
#[cfg(test)]
mod corpus_tests;
pub mod decide;
mod engine;
mod eval;
mod glob;
mod json;
mod level;
mod lists;
#[cfg(test)]
mod mutation_tests;
mod names;
mod options;
#[cfg(test)]
mod outside_tests;
pub mod parse;
mod path;
mod programs;
mod queries;
mod reach;
mod read_only;
mod reversal;
mod rules;
#[cfg(test)]
mod shell_state_tests;
mod unwrap;
mod utf16;
mod value;

pub use analysis::{Analysis, CommandUnit, Finding, ReadOnly, RedirectUnit, Word};
pub use command::{Command, Directories, Input, Redirect, ShellState, Source};
pub use engine::{Context, Policy, analyze, assess, findings};
pub use eval::Environment;
pub use json::json;
pub use level::{Confidence, Verdict};
pub use programs::output::Output;
pub use reach::Reach;
pub use reversal::{Reversal, Target};
pub use rules::{RULES, Rule};
pub use unwrap::{Inside, WrapperKind, inside};
pub use utf16::Utf16;
pub use value::{Piece, Value};
