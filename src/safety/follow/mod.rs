//! What a script comes to: words to their values, `cd` and variables followed, every simple command told.

mod alias;
mod braces;
mod builtins;
mod call;
mod compound;
mod context;
mod expand;
mod filter;
mod inner;
mod output;
mod parameter;
mod printed;
mod prior;
mod shell;
mod simple;
#[cfg(test)]
mod tests;
mod text;
mod told;
mod walk;

pub use builtins::normal;
pub use prior::Prior;
pub use shell::Environment;
pub use text::PARTING;
pub use told::Told;
pub use walk::Walker;
