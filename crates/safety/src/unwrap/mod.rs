//! Finds the commands inside a command: `sudo rm`, `bash -c '…'`, `xargs rm`, `python -c '…'`.

mod ansible;
mod argument_items;
mod command_variables;
mod custom_wrappers;
mod dispatch;
mod docker;
mod env;
mod fd;
mod find;
mod find_output;
mod git;
mod guessed_programs;
#[cfg(test)]
mod hostile_tests;
mod inline;
mod inner_command;
mod make;
mod node_tools;
mod option_commands;
mod parallel;
mod placeholder_text;
mod query_commands;
mod script_builtins;
mod search_matches;
mod shell;
mod stdin_scripts;
mod table_wrappers;
mod terminal_keys;
#[cfg(test)]
mod testing;
mod unknown_programs;
mod words;
mod wrapped_command;
#[cfg(test)]
mod wrappers_tests;
mod xargs;

pub use dispatch::unwrap;
pub use find_output::{finds_everything, printed_paths};
pub(crate) use inline::is_interpreter;
pub use inner_command::{CustomWrappers, InnerCommand, WrapperKind};
pub use script_builtins::COMPGEN;
pub use wrapped_command::{WrappedCommand, wrapped_command};
