//! Programs that are given in a command's words or on its standard input: `python -c '…'`, `awk '…'`.

mod bindings;
mod bracketed_tokens;
mod call_effects;
mod call_specs;
mod delimited_strings;
mod directory_walks;
mod expression;
mod harmless_calls;
mod inline_value;
mod interpreter;
mod language_specs;
mod lexer;
mod program_search;
mod sed;
mod string_values;
mod syntax;
#[cfg(test)]
mod tests;
mod token;
mod vim;

pub(super) use interpreter::interpreter;
pub(crate) use interpreter::is_interpreter;
