//! What a command would do, said before it runs: read → follow → unwrap → rules → verdict.
//!
//! A guard against mistakes, not a boundary against malice (see docs/safety.md).

mod analysis;
mod command;
#[cfg(test)]
pub(crate) mod corpus_tests;
pub mod decide;
mod engine;
mod follow;
mod glob;
mod level;
#[cfg(test)]
mod mutation_tests;
mod options;
#[cfg(test)]
mod prior_tests;
pub(crate) mod read;
mod read_only;
mod rules;
mod tables;
mod unwrap;
mod value;

pub use analysis::{Analysis, CommandUnit, Finding, ReadOnly, RedirectUnit, Word};
pub use command::{Command, Input, Redirect, Scene, Source};
pub use engine::{Policy, Setting, analyze, findings};
pub use follow::{Environment, Prior};
pub use level::{Confidence, Verdict};
pub use rules::{RULES, Rule};
pub use unwrap::WrapperKind;
pub use value::{Piece, Value};
