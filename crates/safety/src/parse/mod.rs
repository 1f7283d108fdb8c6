//! Reads a text as bash does: lists, pipelines, commands, words. [`read`] gives the whole syntax, [`outline`] the
//! pipelines and words that TypeScript asks for, [`mentions`] whether a word occurs.

mod ansi_c;
mod compound;
mod heredoc;
mod mentions;
mod outline;
mod parameter;
mod parts;
mod reader;
mod simple;
mod syntax;
#[cfg(test)]
mod tests;
mod visit;
#[cfg(test)]
mod witness;
mod words;

pub use mentions::mentions;
pub use outline::{outline, starts};
pub use reader::{ParsedScript, read, read_expansions, read_pieces};
pub use syntax::*;
pub use visit::{SyntaxVisitor, visit, visit_list};
