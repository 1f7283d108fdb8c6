//! Reads a text as bash does: lists, pipelines, commands, words. [`read`] gives the whole syntax, [`outline`] the
//! pipelines and words that TypeScript asks for, [`mentions`] whether a word occurs.

mod ansi_c;
mod compound;
mod heredoc;
mod mentions;
mod outline;
mod parameter;
mod reader;
mod simple;
mod syntax;
mod syntax_visitor;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tree_sitter_check;
mod word_parts;
mod words;

pub use mentions::mentions;
pub use outline::{outline, starts};
pub use reader::{ParsedScript, read, read_expansions, read_pieces};
pub use syntax::*;
pub use syntax_visitor::{SyntaxVisitor, visit, visit_list};
