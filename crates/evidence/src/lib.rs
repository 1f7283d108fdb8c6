//! What a command proved: what each of its parts returned, and which failures its own exit code hides.
//!
//! A witness in the command's bash (`crates/sys/witness/`) notes each process that the shell forks, with the command as
//! bash prints it, and each end. This crate gives every process its place in the syntax of the command, and follows the
//! code of a failed part outwards to where another code takes its place.
//!
//! | file | what |
//! |---|---|
//! | `processes` | from events to processes |
//! | `units`, `key` | the syntax as a flat list, and the form in which source and printed text are equal |
//! | `walk`, `frames`, `places` | where the shell can go next, and so the place of each process |
//! | `parts`, `answers` | the parts, and which of them failed |
//! | `course` | where the code of a failed part ends |
//! | `verdict` | what all of that proves |
//! | `unwatched` | what the text alone proves |
//! | `types` | the result |
//!
//! Pure, runs in the host. Begin with [`read`].
//!
//! Nothing is guessed: a failure without a certain place makes the result `partial`, and a shell that could not be
//! watched makes it `unknown`, unless the text alone decides.

mod answers;
mod builtins;
mod course;
mod frames;
mod key;
mod parts;
mod places;
mod processes;
#[cfg(test)]
mod tests;
mod types;
mod units;
mod unwatched;
mod verdict;
mod walk;

pub use types::{By, End, Evidence, Masked, Part, State, Verdict};

use safety::Utf16;
use sys::Trace;

use course::Command;
use units::Units;

/// Reads the evidence of a command. `trace` is `None` if its shell could not be watched.
#[must_use]
pub fn read(command: &str, trace: Option<&Trace>, end: End) -> Evidence {
    let read = safety::parse::read(command);
    let units = Units::of(command, &read);
    let Some(trace) = trace else { return unwatched::evidence(command, &units, end) };
    let (processes, complete) = processes::processes(trace);
    let places = places::places(&units, &processes);
    let code = end.code.or(end.signal.map(|signal| 128 + signal));
    let watched = Command { units: &units, processes: &processes, places: &places, code, signal: end.signal };
    let found = parts::parts(&watched);
    verdict::evidence(&watched, &found, complete, end, &Utf16::new(command))
}
