//! Terminals: the screen of a program, its input, and waiting for the program.
//!
//! A command in a terminal is a run like any other, with a terminal in its request and a size in its plan. The addon
//! makes the pseudo-terminal and keeps its open end. The other end travels with the plan, becomes all three streams,
//! and controls the shell's session.
//!
//! - **Only the addon has the open end.** When the host dies, the kernel hangs up. The shim sees its socket close and
//!   sends SIGHUP, and SIGKILL after 500 ms.
//! - **The addon also keeps the other end open** until the shell exits. A program that closes its terminal may open
//!   `/dev/tty` again, so the end of file must not come earlier.
//! - **Keys are written on the caller's thread** if no input is queued. The loop of the command writes the rest.
//! - **Long lines are split.** A terminal cuts a line at 4,095 bytes while a program reads whole lines. Longer lines
//!   are delivered in parts with the end-of-file key (VEOF), which in the middle of a line only flushes it.
//! - **Drawing is bounded.** Rows that scroll away within one flood of plain text are skipped. A turn of the loop draws
//!   for some milliseconds. The rest waits, and reading pauses until it is drawn, so that keys, kills and other
//!   commands get their turn.
//! - **Terminals have half of all places for commands,** because they may stay open for hours, and commands must not
//!   wait for them.

mod line_ends;
mod listener_text;
mod listeners;
mod screen;
mod terminal;
mod terminal_changes;
mod terminal_input;
mod terminal_typer;
mod terminal_wait;
mod unmatched_text;

pub use line_ends::LineEnds;
pub use screen::{ScreenContent, StyledScreen};
pub use terminal::{CommandTerminal, DistantProgramMessage, TerminalError};
pub use terminal_changes::TerminalChanges;
pub use terminal_typer::TerminalTyper;
pub use terminal_wait::{TerminalWaitEnd, TerminalWaitOptions, TerminalWaitResult};
