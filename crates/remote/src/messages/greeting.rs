//! The greetings, before the numbered frames.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The secret by which a program knows its host again.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramToken(pub [u8; 32]);

impl std::fmt::Debug for ProgramToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token")
    }
}

/// A greeting of the program.
#[derive(Debug, Serialize, Deserialize)]
pub enum GreetingFromProgram {
    /// The program was started, and belongs to no host yet.
    Ready(Box<TargetFacts>),
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
pub enum GreetingToProgram {
    /// The program belongs to this host from now on.
    Begin(LeaseTerms),
    /// The link belongs to another program, which was started earlier.
    Resume(ResumeRequest),
}

/// How a program serves its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseTerms {
    /// Time the program goes on without a link, ms.
    pub lease_ms: u64,
    /// Silence that counts as a cut, ms.
    pub alive_ms: u64,
}

/// Where the earlier program is, and where the host left off.
#[derive(Debug, Serialize, Deserialize)]
pub struct ResumeRequest {
    /// The socket of the program, as its facts had it.
    pub socket: PathBuf,
    /// The secret of the program.
    pub token: ProgramToken,
    /// The number of the last frame that the host has received.
    pub received: u64,
}

/// How busy a machine is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineLoad {
    /// The processes that ran or waited to run in the last minute, on average, in hundredths. 0: not known.
    pub hundredths: u32,
    /// The memory that programs can still get, bytes. 0: not known.
    pub memory_free: u64,
}

/// The place in which a program runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
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
    /// Whether processes outlive the link that has started them. `None`: that is not known.
    pub lingers: Option<bool>,
    /// How busy the machine was at the start of the program.
    pub load: MachineLoad,
    /// The socket of the program.
    pub socket: PathBuf,
    /// The secret of the program.
    pub token: ProgramToken,
}
