//! What a command runs in its turn: `sudo rm`, `bash -c '…'`, `xargs rm`, `python -c '…'`.

mod dispatch;
mod escapes;
mod evaluate;
mod exec_rest;
mod fd;
mod find;
mod flat;
mod found;
mod git;
mod hooks;
#[cfg(test)]
mod hostile_tests;
mod inline;
mod inner;
mod items;
mod matches;
mod parallel;
mod relatives;
mod shell;
mod special;
mod stdin;
mod terminals;
#[cfg(test)]
mod testing;
mod unknown;
mod words;
#[cfg(test)]
mod wrappers_tests;
mod xargs;

pub use dispatch::unwrap;
pub use found::found;
pub(in crate::safety) use inline::is_interpreter;
pub use inner::{Custom, Inner, WrapperKind};
