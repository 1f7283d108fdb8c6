//! Finds the process of a command that is blocked on input it will not get, from outside.
//!
//! A shim scans the processes of its command before it terminates them at the limit, and when the addon asks (for
//! `onPrompt`). If a process is blocked at the limit, the shim sends no signal until the addon has acknowledged, for at
//! most 300 ms. Programs finish the line of their prompt when they are signalled, and the note must quote that line.
//!
//! - **A process is blocked if everything that could resume it is blocked or gone.** A shell that waits for its
//!   children is blocked with the last of them. A reader is blocked with the holders of the other end. A process of
//!   unknown state counts as slow, and so does every process that depends on it. No note is better than a wrong name.
//! - **Unsure** processes would soon continue by themselves, or cannot be inspected. They are named only if the last
//!   line is a prompt.
//! - **The scan touches nothing that may hang.** It asks for the type of a file only if a process waits for that file
//!   interruptibly, which no process does for a disk.

mod find;
#[cfg(test)]
mod find_tests;
pub(crate) mod scan;

pub use scan::scan;
