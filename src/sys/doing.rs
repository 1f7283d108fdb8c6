//! What a process does at one moment, as far as that can be told from outside.

/// One process. What could not be read of it is not there, and nothing is guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doing {
    /// Its pid.
    pub pid: i32,
    /// Its parent.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// The group that is in front of its terminal; `None` without one.
    pub foreground: Option<i32>,
    /// What the kernel calls it.
    pub name: String,
    /// It was stopped by a signal.
    pub stopped: bool,
    /// What each of its threads does, the first one first; `None` where it may not be known, as of another user's process.
    pub calls: Option<Vec<Call>>,
    /// What it has open.
    pub files: Vec<Opened>,
}

/// What a thread does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    all(target_os = "macos", feature = "addon", not(test)),
    expect(dead_code, reason = "nothing can be told of a process there")
)]
pub enum Call {
    /// It runs, or sleeps for some time, or does what is not looked at any closer.
    Busy,
    /// It waits for another thread of its process.
    Idle {
        /// Not for ever.
        timed: bool,
    },
    /// It waits for a signal.
    Signal,
    /// It waits for a child: this one, or any.
    Child(Option<i32>),
    /// It reads this descriptor.
    Read(i32),
    /// It writes there.
    Write(i32),
    /// It opens a FIFO that has nobody at its other end.
    Open {
        /// Where it is.
        path: String,
        /// To write into it.
        writes: bool,
    },
    /// It waits for the first of several.
    Poll {
        /// These are to be read.
        reads: Vec<i32>,
        /// These are to be written.
        writes: Vec<i32>,
        /// Not for long: it soon goes on by itself.
        timed: bool,
    },
}

/// An open file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Its descriptor.
    pub fd: i32,
    /// What tells it from others: a path, or the kernel's name of a pipe.
    pub name: String,
    /// What it is.
    pub file: FileKind,
    /// It is open for reading.
    pub reads: bool,
    /// It is open for writing.
    pub writes: bool,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    all(target_os = "macos", feature = "addon", not(test)),
    expect(dead_code, reason = "nothing can be told of a process there")
)]
pub enum FileKind {
    /// A terminal.
    Terminal,
    /// The other side of the terminal with this number.
    Master(u32),
    /// A pipe.
    Pipe,
    /// A pipe with a name in the file system.
    Fifo,
    /// What only a process itself makes ready, or a signal to it.
    Own,
    /// `/dev/null`.
    Null,
    /// Whatever else: a file, a socket, a timer.
    Other,
}
