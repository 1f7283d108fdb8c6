//! Evaluates a script without running it: words to their values, `cd`, variables, branches, loops and functions.
//! Lists every simple command with its values.

mod again;
mod alias;
mod aliases;
mod braces;
mod budget;
mod builtins;
mod call;
mod calls;
mod compound;
mod declare;
mod evaluator;
mod expand;
mod filter;
mod found;
mod frame;
mod functions;
#[cfg(feature = "guesses")]
mod guess;
mod inner;
mod input;
mod lists;
mod location;
mod numbers;
mod output;
mod parameter;
mod printed;
mod redirects;
mod remembered;
mod shell;
mod shell_state;
mod simple;
mod simple_command;
#[cfg(test)]
mod tests;
mod text;
mod variables;

pub use evaluator::{CommandEvaluation, CommandEvaluator};
pub use simple_command::SimpleCommand;
pub use variables::EnvironmentBlock;
