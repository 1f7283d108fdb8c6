//! The pipes between processes, as far as they show from outside.

use rustix::fs::FileType;

/// The pipes that a process has open, by names that are the same for all processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenPipes {
    /// Pipes that are open for reading.
    pub reads: Vec<String>,
    /// Pipes that are open for writing.
    pub writes: Vec<String>,
}

/// The program that a process runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessProgram {
    /// The file name of the executable, without the directory.
    pub executable: String,
    /// The name of the process. A process that runs a script has the script's name.
    pub name: String,
    /// The arguments, with the program's name first.
    pub arguments: Vec<String>,
    /// Whether the process has a handler of SIGTERM.
    pub handles_terminate: bool,
}

/// Returns whether standard input is a pipe or a regular file with bytes that were not read yet. A terminal, a device
/// and a socket do not count. Reads nothing.
#[must_use]
pub fn has_unread_input() -> bool {
    let input = std::io::stdin();
    let Ok(status) = rustix::fs::fstat(&input) else { return false };
    let is_kept = matches!(FileType::from_raw_mode(status.st_mode), FileType::Fifo | FileType::RegularFile);
    is_kept && rustix::io::ioctl_fionread(&input).is_ok_and(|bytes| bytes > 0)
}
