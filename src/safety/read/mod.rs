//! A text to what it says. Our own reader finds the commands; tree-sitter's tree is the witness that none was overlooked.

mod compound;
mod heredoc;
mod parameter;
mod reader;
mod syntax;
#[cfg(test)]
mod tests;
mod witness;
mod words;

pub use reader::{Read, read};
pub use syntax::*;
pub use witness::heads;
