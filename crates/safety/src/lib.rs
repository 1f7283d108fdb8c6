//! Judges a command before it runs: read → evaluate → unwrap → rules → verdict.
//!
//! A guard against mistakes, not a boundary against malice (see docs/safety.md).
//!
//! Runs in the host, on the thread of the caller, and touches no process, clock or file. Begin with `engine.rs`.
//!
//! - **A rule is about an effect, not a program.** The record of a program says which of its subcommands have a lasting
//!   effect, under which options and operands, the stake, and the safe form (`crates/safety/src/programs/lasting.rs`).
//!   One small rule for each stake reads the records. The same entries decide whether a command only reads.
//! - **A value is never guessed.** A word is known, known in parts, or unknown (`crates/safety/src/word_value.rs`). A
//!   script with unknown parts is still judged. Branches that differ leave several possible texts. All are judged, none
//!   as exact.
//! - **Contents are followed without the text.** The output of `cat .env` is unknown, but it is known to hold secrets.
//!   The output of `pgrep node` is known to be numbers of processes. Values and inputs keep these facts through pipes,
//!   substitutions and variables (`crates/safety/src/secret_contents.rs`).
//! - **Everything is bounded:** nesting, steps, length of values, items of loops. Beyond a bound `complete` is false,
//!   and the verdict is at least ask. No input takes quadratic time.
//! - **Guesses** (the words after an unknown program, a function without a call) are judged and ask. They are not
//!   listed among the commands.
//! - **One parser, checked by a second.** The parser is tested against `bash -n` and against the real behaviour of
//!   bash. In the tests tree-sitter-bash parses the whole corpus, too (`parse/witness.rs`), and may find no program
//!   that the parser missed.

mod analysis;
mod confinement_reach;
#[cfg(test)]
mod corpus_tests;
pub mod decide;
mod engine;
mod eval;
#[cfg(test)]
mod expanded_again_tests;
mod file_listings;
mod glob;
mod json;
#[cfg(test)]
mod mutation_tests;
mod name_lists;
mod name_map;
mod options;
#[cfg(test)]
mod outside_tests;
pub mod parse;
mod path;
mod programs;
mod queries;
mod read_only;
mod reversal;
mod rules;
mod secret_contents;
#[cfg(test)]
mod shell_state_tests;
mod simple_command_view;
#[cfg(test)]
mod unread_tests;
mod unwrap;
mod utf16_offsets;
mod verdict;
mod word_alternatives;
mod word_value;

pub use analysis::{AnalyzedWord, CommandAnalysis, CommandUnit, ReadOnly, RedirectUnit, RuleFinding};
pub use confinement_reach::ConfinementReach;
pub use engine::{AnalysisContext, SafetyPolicy, analyze, assess, findings};
pub use eval::EnvironmentBlock;
pub use json::json;
pub use programs::output::ProgramOutputKind;
pub use reversal::{ReversalFacts, ReversalTarget};
pub use rules::{RULES, SafetyRule};
pub use simple_command_view::{
    CommandDirectories, CommandStdin, ExpandedRedirect, InitialShellState, SimpleCommandView, StdinTextSource,
};
pub use unwrap::{WrappedCommand, WrapperKind, wrapped_command};
pub use utf16_offsets::Utf16Offsets;
pub use verdict::{AnalysisConfidence, SafetyVerdict};
pub use word_value::{ValuePiece, WordValue};
