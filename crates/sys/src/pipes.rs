//! The pipes between processes, as far as they show from outside.

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
pub struct Program {
    /// The file name of the executable, without the directory.
    pub executable: String,
    /// The name of the process. A process that runs a script has the script's name.
    pub name: String,
    /// The arguments, with the program's name first.
    pub arguments: Vec<String>,
    /// Whether the process has a handler of SIGTERM.
    pub handles_terminate: bool,
}
