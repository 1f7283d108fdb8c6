//! SQL: finds statements that destroy data. Comments, strings and quoted names are not code, as each client reads them.
//!
//! An unknown part of the text is `UNKNOWN`. The text around it is judged.

mod condition;
mod dialect;
#[cfg(test)]
mod hostile_tests;
mod lexer;
mod script_judge;
mod statement;
#[cfg(test)]
mod tests;
mod token;

pub use dialect::SqlDialect;
pub use script_judge::{losses, opens_file, shell_commands};
