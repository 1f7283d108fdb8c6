//! The state of a shell. Bash dumps it at the exit of a command. This module reads the dump, and writes the bash code
//! that restores the state in a fresh shell.

mod command_text;
mod declared_functions;
mod declared_variables;
mod dump_parser;
mod enabled_options;
mod given_variables;
mod own_variables;
mod quoting;
mod restore;
mod save_script;
mod saved_state;
#[cfg(test)]
mod tests;

pub use command_text::{code_mentions_trap, is_complete, mentions_signals, mentions_trap};
pub use save_script::{call_save, save_script};
pub use saved_state::SavedShellState;
