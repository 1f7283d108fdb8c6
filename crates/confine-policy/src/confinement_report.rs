//! The result of a confinement: the parts that were held, and its denials.

use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{CommandDenials, ConfinementPart, MissingPart, PolicyProfile, WorldError};

/// What holds the parts of a confinement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConfinementMechanism {
    /// Namespaces, with Landlock and a filter of system calls besides.
    Namespaces,
    /// A listener that performs what the filter of system calls passes on, with Landlock as a second guard.
    Listener,
    /// Landlock and a filter of system calls.
    Landlock,
    /// A filter of system calls.
    Filter,
    /// Nothing.
    #[default]
    None,
    /// The sandbox of macOS.
    Seatbelt,
}

impl ConfinementMechanism {
    /// All ways, in the order in which they are tried. The last is that of macOS.
    pub const ALL: [Self; 6] =
        [Self::Namespaces, Self::Listener, Self::Landlock, Self::Filter, Self::None, Self::Seatbelt];

    /// Returns the public name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Listener => "listener",
            Self::Landlock => "landlock",
            Self::Filter => "filter",
            Self::None => "none",
            Self::Seatbelt => "seatbelt",
        }
    }

    /// Returns what the way needs to hold a part. `None`: it does not hold the part.
    pub fn needs(self, part: ConfinementPart) -> Option<&'static str> {
        match (self, part) {
            (Self::Namespaces, ConfinementPart::Files) => Some("user and mount namespaces (Linux 5.12)"),
            (Self::Namespaces, ConfinementPart::Network) => {
                Some("network namespaces (5.12), and `veth` for `allow` and `expose`")
            }
            (Self::Namespaces, ConfinementPart::Processes) => Some("PID namespaces (5.12)"),
            (Self::Namespaces, ConfinementPart::Syscalls) => Some("seccomp with a listener (5.5)"),
            (Self::Listener, ConfinementPart::Files | ConfinementPart::Network | ConfinementPart::Processes) => {
                Some("a listener (Linux 5.9)")
            }
            (Self::Listener | Self::Landlock | Self::Filter, ConfinementPart::Syscalls) => Some("seccomp (3.17)"),
            (Self::Seatbelt, ConfinementPart::Files | ConfinementPart::Processes) => Some("macOS"),
            (Self::Seatbelt, ConfinementPart::Network) => Some("macOS, and network `'none'`"),
            _ => None,
        }
    }

    /// Returns what confines a command besides the parts that are held.
    pub fn additional_bounds(self) -> &'static str {
        match self {
            Self::Namespaces => "Landlock as a second guard (5.19)",
            Self::Listener => "Landlock as a second guard (5.13), TCP (6.7), signals (6.12)",
            Self::Landlock => {
                "contents and names of files (5.13), moves between directories (5.19), truncation (6.2), TCP (6.7), \
                 signals and abstract sockets (6.12)"
            }
            Self::Filter | Self::None | Self::Seatbelt => "",
        }
    }
}

/// The facts about a world, known once the world is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldFacts {
    /// The parts that the world holds, in the order of [`ConfinementPart::ALL`].
    pub held: Vec<ConfinementPart>,
    /// Parts that were not required and cannot be held.
    pub missing: Vec<MissingPart>,
    /// What holds them.
    pub way: ConfinementMechanism,
    /// The write roots in effect: those of the policy, and the granted git directories.
    pub write: Vec<PathBuf>,
    /// The path of the private `/tmp` on the host.
    pub tmp: Option<PathBuf>,
    /// The directory of the world's private files on the host, by which another supervisor joins it.
    pub home: Option<PathBuf>,
    /// Variables of the world's commands: new values, and `None` for variables that are removed.
    pub environment: Vec<(String, Option<String>)>,
    /// Facts for the notes of each command.
    pub notes: Vec<String>,
    /// When the world was made, as the time of a file, seconds and nanoseconds.
    pub begun: (i64, u32),
}

impl WorldFacts {
    /// Returns the time of now, as the time of a file.
    pub fn current_file_time() -> (i64, u32) {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        (i64::try_from(now.as_secs()).unwrap_or(i64::MAX), now.subsec_nanos())
    }
}

/// Why there is no world, as the supervisor reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportedWorldError {
    /// Required parts cannot be held here.
    Missing(Vec<MissingPart>),
    /// A step failed that should not fail on this machine.
    Step {
        /// The step, in words.
        step: String,
        /// The error number of the system.
        errno: i32,
    },
}

impl From<WorldError> for ReportedWorldError {
    fn from(error: WorldError) -> Self {
        match error {
            WorldError::Missing(missing) => Self::Missing(missing),
            WorldError::Step { step, source } => Self::Step { step, errno: source.raw_os_error().unwrap_or(libc::EIO) },
        }
    }
}

/// The confinement of one command, as its result reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinementReport {
    /// The starting point of the policy.
    pub profile: PolicyProfile,
    /// The parts that were held, in the order of [`ConfinementPart::ALL`].
    pub held: Vec<ConfinementPart>,
    /// Parts that were not required and could not be held.
    pub missing: Vec<MissingPart>,
    /// What holds them.
    #[serde(default)]
    pub way: ConfinementMechanism,
    /// The write roots in effect, absolute.
    #[serde(default)]
    pub write: Vec<PathBuf>,
    /// The denied operations.
    pub denials: CommandDenials,
    /// The path of the private `/tmp` on the host.
    pub tmp: Option<PathBuf>,
}
