//! The activity of a process at one moment, as far as it shows from outside.

/// A timeout up to this many ms suggests a working process that redraws or polls. Longer ones are used for housekeeping
/// or as an upper bound.
pub const SOON: u64 = 3_500;
/// A sleep of at least this many seconds holds something open rather than pausing.
pub const LONG: u64 = 60;

/// One process. A field that could not be read is empty. Nothing is guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessActivity {
    /// The pid.
    pub pid: i32,
    /// The parent's pid.
    pub parent: i32,
    /// The process group.
    pub group: i32,
    /// The foreground group of its terminal, or `None` without a terminal.
    pub foreground: Option<i32>,
    /// The kernel's name for it.
    pub name: String,
    /// Whether a signal stopped it.
    pub stopped: bool,
    /// The activity of each thread, the first thread first. `None` if it may not be read, as for another user's
    /// process.
    pub calls: Option<Vec<ThreadActivity>>,
    /// The open files.
    pub files: Vec<OpenFile>,
}

/// The activity of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadActivity {
    /// Runs, sleeps for a limited time, or makes a call that is not analysed.
    Busy,
    /// Sleeps for `LONG` or more.
    Asleep,
    /// Waits for another thread of its process.
    Idle {
        /// For a limited time.
        timed: bool,
    },
    /// Waits for a signal.
    Signal,
    /// Waits for a child: this one, or any.
    Child(Option<i32>),
    /// Reads this descriptor.
    Read(i32),
    /// Writes to this descriptor.
    Write(i32),
    /// Opens a FIFO whose other end is closed.
    Open {
        /// The path of the FIFO.
        path: String,
        /// Whether the process opens the FIFO for writing.
        writes: bool,
    },
    /// Waits for the first of several descriptors.
    Poll {
        /// Descriptors to read.
        reads: Vec<i32>,
        /// Descriptors to write.
        writes: Vec<i32>,
        /// For a short time only.
        timed: bool,
    },
}

/// An open file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    /// The descriptor.
    pub fd: i32,
    /// Identifies the file: a path, or the kernel's name of a pipe.
    pub name: String,
    /// The kind of file.
    pub file: OpenFileKind,
    /// Whether the file is open for reading.
    pub reads: bool,
    /// Whether the file is open for writing.
    pub writes: bool,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenFileKind {
    /// A terminal.
    Terminal,
    /// The controlling end of the terminal with this number.
    Master(u32),
    /// A pipe.
    Pipe,
    /// A named pipe.
    Fifo,
    /// A descriptor that only the process itself or a signal makes ready.
    Own,
    /// `/dev/null`.
    Null,
    /// Any other kind: a file, a socket, a timer.
    Other,
}
