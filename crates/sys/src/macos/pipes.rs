//! macOS does not show the pipes of other processes.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::unistd::Pid;

use crate::{OpenPipes, ProcessProgram};

/// Always `None`.
pub fn writable_at_rest(_: Pid) -> Option<Vec<u64>> {
    None
}

/// Always `None`.
pub fn open_pipes(_: Pid, _: Duration) -> Option<OpenPipes> {
    None
}

/// Always empty.
pub fn process_program(_: Pid) -> ProcessProgram {
    ProcessProgram::default()
}

/// Returns all of these processes: macOS cannot tell which processes have these pipes open.
pub fn pipe_holders(pids: &[Pid], _: &[BorrowedFd<'_>]) -> Vec<Pid> {
    pids.to_vec()
}

/// Returns no process: macOS cannot tell which processes can write to a pipe.
pub fn writers_of(_: &[Pid], _: &[BorrowedFd<'_>]) -> Vec<Pid> {
    Vec::new()
}

/// Returns none: no command is tapped on macOS.
pub fn waiting_bytes(_pipe: BorrowedFd<'_>) -> u64 {
    0
}

/// Fails: no command is tapped on macOS.
pub fn tee_pipe(_from: BorrowedFd<'_>, _to: BorrowedFd<'_>, _most: usize) -> nix::Result<usize> {
    Err(nix::errno::Errno::ENOTSUP)
}

/// Fails: no command is tapped on macOS.
pub fn peek_pipe(_: BorrowedFd<'_>) -> io::Result<(OwnedFd, bool)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns `None`.
pub fn name_of_pipe(_: BorrowedFd<'_>) -> Option<String> {
    None
}
