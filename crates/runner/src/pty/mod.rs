//! Terminals: the screen of a program, its input, and waits for either.

mod data;
mod input;
mod line_ends;
mod listeners;
mod screen;
mod terminal;
mod text;
mod typing;
mod wait;

pub use line_ends::LineEnds;
pub use screen::Shown;
pub use terminal::{Terminal, TerminalError};
pub use typing::Typing;
pub use wait::{Until, Waited, Why};
