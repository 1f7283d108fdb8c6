//! The filter of system calls: a program that the kernel runs for each call of a command.
//!
//! It kills nothing. A refused call fails with `EPERM`, or with the error number of a kernel that does not have it. The
//! kernel remembers which calls it always allows, so that these cost nothing.
//!
//! `calls` is the table of calls, `rule` the language of its entries, `assemble` turns both into a program.

mod assemble;
mod calls;
#[cfg(test)]
mod interpreter;
mod rule;
#[cfg(test)]
mod tests;

pub use calls::{Entry, PRIVILEGED, Question, SET_GROUP};
pub use rule::{CREATES, WRITES};

use crate::sys::{Filter, Machine};

/// The filter for commands on a machine.
///
/// With `listener`, calls that depend on memory are passed on to a listener: a path, the name of a socket. The process
/// that installs the filter sends its descriptor to [`super::listener`]. Without, they are only bounded by mounts and
/// Landlock, and nothing is recorded.
///
/// All policies have the same filter. They differ in what mounts, networks and listeners answer.
pub fn program(machine: Machine, listener: bool) -> Filter {
    Filter { program: assemble::program(machine, listener), listener }
}

/// The calls of a machine, indexed by their numbers.
pub fn by_number(machine: Machine) -> Vec<Option<&'static Entry>> {
    let mut table = Vec::new();
    for entry in calls::all() {
        let number = assemble::number(entry, machine);
        if number == calls::NONE {
            continue;
        }
        let number = number as usize;
        if table.len() <= number {
            table.resize(number + 1, None);
        }
        table[number] = Some(entry);
    }
    table
}
