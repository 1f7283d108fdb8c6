//! Evaluates a script without running it: words to their values, `cd`, variables, branches, loops and functions.
//! Lists every simple command with its values.

mod alias_expansion;
mod alias_table;
mod brace_expansion;
mod builtins;
mod call_stack;
mod command_lists;
mod compound_commands;
mod declaration_builtins;
mod evaluation_budget;
mod evaluation_frame;
mod evaluator;
mod found_commands;
mod functions;
mod inner_commands;
mod input_builtins;
mod list_output;
mod numeric_output;
mod parameter_expansion;
mod partial_text;
mod predictable_output;
mod program_call;
mod redirects;
#[cfg(feature = "guesses")]
mod refused_text;
mod restored_shell;
mod search_filters;
mod second_expansion;
mod shell_location;
mod simple_command;
mod simulated_shell;
#[cfg(test)]
mod tests;
mod variables;
mod word_expansion;
mod words_and_assignments;
mod written_before;

pub use evaluator::{CommandEvaluation, CommandEvaluator};
pub use simple_command::SimpleCommand;
pub use variables::EnvironmentBlock;
