//! Programs that are given in a command's words or on its standard input: `python -c '…'`, `awk '…'`.

mod calls;
mod expression;
mod interpreter;
mod item;
mod lexer;
mod program;
mod sed;
mod strings;
mod syntax;
#[cfg(test)]
mod tests;
mod token;
mod vim;

pub(super) use interpreter::interpreter;
