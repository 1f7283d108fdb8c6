//! Terminals: what a program draws, what it is given to read, and waiting for either.

mod data;
mod input;
mod line_ends;
mod screen;
mod terminal;
mod text;
mod wait;

pub use input::Typing;
pub use line_ends::LineEnds;
pub use screen::Shown;
pub use terminal::{Terminal, TerminalError};
pub use wait::{Until, Waited, Why};
