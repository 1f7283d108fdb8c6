//! Programs that are given in a command's words or on its standard input: `python -c '…'`, `awk '…'`.

mod bindings;
mod calls;
mod delimited;
mod expression;
mod interpreter;
mod item;
mod languages;
mod lexer;
mod program;
mod runs;
mod sed;
mod strings;
mod syntax;
#[cfg(test)]
mod tests;
mod token;
mod tokens;
mod values;
mod vim;
mod walks;

pub(super) use interpreter::interpreter;
pub(crate) use interpreter::is_interpreter;
