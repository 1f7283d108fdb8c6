//! The filter of system calls: a program that the kernel runs for each call of a command. It confines the command, or
//! asks about all changes of the command, or both.
//!
//! The filter kills no process. A refused call fails with `EPERM`, or with the error number of a kernel that lacks the
//! call. The kernel remembers which calls it always allows, so that these cost nothing.
//!
//! `calls` is the table of calls, `recorded` says which of them can change a file, `rule` is the language of both, and
//! `assemble` turns them into a program.
//!
//! - **The filter is a search tree.** When it is installed, the kernel runs it for every number of a call.

mod assemble;
mod calls;
#[cfg(test)]
mod interpreter;
mod performed;
mod recorded;
mod syscall_rule;
mod table;
#[cfg(test)]
mod tests;

pub use assemble::is_known;
pub use calls::{PRIVILEGED, SET_GROUP, SyscallEntry, SyscallHandling};
pub use syscall_rule::{CREATES, SyscallFilterMode};

use sys::{SyscallArchitecture, SyscallFilter};

/// Returns the filter for commands on a machine.
///
/// The process that installs a filter with a listener sends the filter's descriptor to the listener:
/// `confine-listener`, or the shim.
///
/// All policies have the same filters. They differ in what mounts, networks and listeners answer.
pub fn program(machine: SyscallArchitecture, variant: SyscallFilterMode) -> SyscallFilter {
    SyscallFilter { program: assemble::program(machine, variant), listener: variant.has_listener() }
}

/// Returns the calls of a machine, indexed by their numbers.
pub fn by_number(machine: SyscallArchitecture) -> Vec<Option<&'static SyscallEntry>> {
    let mut table = Vec::new();
    for entry in table::all() {
        let number = assemble::syscall_number(entry, machine);
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
