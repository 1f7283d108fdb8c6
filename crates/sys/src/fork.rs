//! Copies of this process.

use std::io;

use nix::unistd::Pid;

/// The result of [`fork`].
pub enum ForkOutcome {
    /// In the parent: the child's pid.
    Parent(Pid),
    /// In the child.
    Child,
}

/// Forks this single-threaded process.
pub fn fork() -> io::Result<ForkOutcome> {
    // SAFETY: only the supervisor calls this, and it has one thread, so no other thread can hold a lock.
    match unsafe { nix::unistd::fork() }? {
        nix::unistd::ForkResult::Parent { child } => Ok(ForkOutcome::Parent(child)),
        nix::unistd::ForkResult::Child => Ok(ForkOutcome::Child),
    }
}

/// Ends the process at once, without running its exit handlers.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: ends the process, nothing after it can be unsound.
    unsafe { libc::_exit(code) }
}
