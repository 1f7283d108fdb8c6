//! What a host and its program say. Both come from one build, which the host knows by the hash of the program.
//!
//! Greetings come first and are not numbered: [`FromProgram`] and [`ToProgram`]. After [`ToProgram::Begin`] or
//! [`FromProgram::Resumed`], numbered frames carry [`Call`]s to the program and [`Event`]s to the host.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use capture::Stream;
use confine::Missing;
use runner::run::outcome::Outcome;
use sys::Signal;

/// The secret by which a program knows its host again.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token(pub [u8; 32]);

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token")
    }
}

/// A greeting of the program.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromProgram {
    /// The program was started, and belongs to no host yet.
    Ready(Box<Facts>),
    /// The program that has the token took this link over. It has received frames up to this number.
    Resumed {
        /// The number.
        received: u64,
    },
    /// No program has the token. All that ran in it is gone.
    Gone,
}

/// A greeting of the host.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToProgram {
    /// The program belongs to this host from now on.
    Begin(Begin),
    /// The link belongs to another program, which was started earlier.
    Resume(Resume),
}

/// How a program serves its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Time the program goes on without a link, ms.
    pub lease_ms: u64,
    /// Silence that counts as a cut, ms.
    pub alive_ms: u64,
}

/// Where the earlier program is, and where the host left off.
#[derive(Debug, Serialize, Deserialize)]
pub struct Resume {
    /// The socket of the program, as its facts had it.
    pub socket: PathBuf,
    /// The secret of the program.
    pub token: Token,
    /// The number of the last frame that the host has received.
    pub received: u64,
}

/// The place in which a program runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Names the machine or container.
    pub machine: String,
    /// Its host name.
    pub host_name: String,
    /// The release of its kernel.
    pub kernel: String,
    /// The processor, as Rust names it: `x86_64`, `aarch64`.
    pub arch: String,
    /// The user's name, if it is known, else the number.
    pub user: String,
    /// The user's number.
    pub uid: u32,
    /// The home directory.
    pub home: String,
    /// The directory that the program was started in.
    pub cwd: String,
    /// The process id of the program.
    pub pid: i32,
    /// The path of bash. `None`: there is none.
    pub bash: Option<String>,
    /// The path of the program.
    pub path: String,
    /// The version of the program.
    pub version: String,
    /// The login environment: `NAME=VALUE`, each ended by a NUL.
    pub environment: String,
    /// The mode mask of new files.
    pub umask: u32,
    /// The socket of the program.
    pub socket: PathBuf,
    /// The secret of the program.
    pub token: Token,
}

/// A message to the program. The run of its frame names the command.
#[derive(Debug, Serialize, Deserialize)]
pub enum Call {
    /// Run a command. The host has judged it.
    Run(Box<Order>),
    /// Terminate the command.
    Abort,
    /// The listener has taken output of this many bytes.
    OutputTaken(u64),
    /// The listener failed on the last event, with this error.
    ListenerFailed(String),
    /// The next bytes of standard input. `None` ends the input.
    Input(Option<Vec<u8>>),
    /// Signal the program of a terminal.
    Signal(Signal),
    /// The listener has taken the live view, or failed with this error.
    ViewTaken(Option<String>),
    /// The listener has taken the prompt, or failed with this error.
    PromptTaken(Option<String>),
}

/// A command, as the host's JavaScript gave it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order {
    /// The command.
    pub command: String,
    /// The absolute directory to start in.
    pub cwd: String,
    /// The options as JSON, as `RawOptions` has them.
    pub options: String,
    /// Bytes for standard input.
    pub stdin: Option<Vec<u8>>,
    /// What runs the command.
    pub place: Place,
}

/// What runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// A shell of its own.
    Shell,
}

/// A message of the program. The run of its frame names the command.
#[derive(Debug, Serialize, Deserialize)]
pub enum Event {
    /// Output, answered by [`Call::OutputTaken`].
    Output(Stream, String),
    /// The shell runs, with this pid in this directory.
    Started(i32, String),
    /// The shell has exited.
    Exited,
    /// The last input was written. `false`: the command reads no more.
    InputTaken(bool),
    /// The current view, answered by [`Call::ViewTaken`].
    View {
        /// Pid of the command.
        pid: i32,
        /// The end of standard output.
        stdout: String,
        /// The end of standard error.
        stderr: String,
        /// Time since the start, ms.
        elapsed_ms: u64,
    },
    /// The command is blocked on input, answered by [`Call::PromptTaken`].
    Prompt {
        /// The blocked process.
        pid: i32,
        /// Its command line.
        command: String,
        /// The unfinished line.
        text: String,
    },
    /// The command has ended. The last event of its run.
    Ended(Box<Outcome>),
    /// Nothing could be run. The last event of its run.
    Failed(Failure),
}

/// Why nothing could be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The stable code.
    pub code: String,
    /// The problem, the value, and a remedy.
    pub message: String,
    /// The error of the system (`EAGAIN`), if there is one.
    pub errno: Option<String>,
    /// The parts of a confinement that cannot be held.
    pub missing: Vec<Missing>,
}

impl From<runner::error::Error> for Failure {
    fn from(error: runner::error::Error) -> Self {
        let (code, message, errno) = (error.code().to_owned(), error.to_string(), error.errno());
        let missing = if let runner::error::Error::Confinement(missing) = error { missing } else { Vec::new() };
        Self { code, message, errno, missing }
    }
}

/// Encodes a message.
///
/// # Errors
/// If a path in it is no text.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_allocvec(message)
}

/// Decodes a message. All of its bytes belong to it.
///
/// # Errors
/// If the bytes are no such message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, postcard::Error> {
    match postcard::take_from_bytes(bytes)? {
        (message, []) => Ok(message),
        _ => Err(postcard::Error::DeserializeBadEncoding),
    }
}
