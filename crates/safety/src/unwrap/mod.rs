//! Finds the commands inside a command: `sudo rm`, `bash -c '…'`, `xargs rm`, `python -c '…'`.

mod ansible;
mod custom;
mod dispatch;
mod docker;
mod env;
mod evaluate;
mod exec_rest;
mod fd;
mod find;
mod found;
mod git;
mod hooks;
#[cfg(test)]
mod hostile_tests;
mod inline;
mod inner;
mod inside;
mod items;
mod make;
mod matches;
mod named;
mod node_tools;
mod parallel;
mod placeholders;
mod queries;
mod shell;
mod stdin;
mod terminals;
#[cfg(test)]
mod testing;
mod unknown;
mod variables;
mod words;
#[cfg(test)]
mod wrappers_tests;
mod xargs;

pub use dispatch::unwrap;
pub use evaluate::COMPGEN;
pub use found::{finds_everything, printed_paths};
pub(crate) use inline::is_interpreter;
pub use inner::{CustomWrappers, InnerCommand, WrapperKind};
pub use inside::{WrappedCommand, wrapped_command};
