//! The state of a shell. Bash dumps it at the exit of a command. This module reads the dump, and writes the bash code
//! that restores the state in a fresh shell.

mod dump;
mod entries;
mod functions;
mod given;
mod options;
mod own;
mod quoting;
mod restore;
mod save;
mod state;
#[cfg(test)]
mod tests;
mod text;

pub use save::{call_save, save_script};
pub use state::SavedShellState;
pub use text::{code_mentions_trap, is_complete, mentions_signals, mentions_trap};
