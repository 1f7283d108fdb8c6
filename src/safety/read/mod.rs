//! A text to what it says. Our own reader finds the commands; tree-sitter's tree is the witness that none was overlooked.

mod ansi_c;
mod compound;
mod heredoc;
mod parameter;
mod parts;
mod reader;
mod simple;
mod syntax;
#[cfg(test)]
mod tests;
mod witness;
mod words;

pub use reader::{Read, read};
pub use syntax::*;
pub use witness::heads;
