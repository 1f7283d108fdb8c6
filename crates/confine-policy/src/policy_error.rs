//! Why options are no valid policy.

use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::{ConfinementPart, MissingPart};

/// Why options are no valid policy. No command was started.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The JSON of the option has a wrong type.
    #[error("confine: {0}")]
    Json(#[from] serde_json::Error),
    /// A value is impossible, or contradicts another value.
    #[error("{option}: {value:?} {fault}")]
    Invalid {
        /// The option, as a caller writes it: `confine.write`.
        option: &'static str,
        /// The value of the option, or the entry of its list.
        value: String,
        /// The fault of the value, and a remedy.
        #[source]
        fault: PolicyFault,
    },
    /// A list has too many entries.
    #[error("{option}: {count} entries are too many; at most {most} are possible")]
    TooMany {
        /// The option.
        option: &'static str,
        /// The number of entries.
        count: usize,
        /// The most entries that are possible.
        most: usize,
    },
    /// `network` is an object without `allow`.
    #[error("confine.network.allow is missing: list the hosts that may be reached, or use 'none'")]
    AllowMissing,
    /// `expose` with the whole network.
    #[error("confine.expose: with network 'full' every port is the host's own already; leave expose out")]
    ExposeInFull,
    /// The directory of the owner does not exist.
    #[error("Working directory does not exist: {}", .0.display())]
    RootNotFound(PathBuf),
    /// The directory of the owner is a file.
    #[error("Working directory is not a directory: {}", .0.display())]
    RootNotDirectory(PathBuf),
    /// A write root does not exist.
    #[error("{}", MissingPart::describe_all(.0))]
    Missing(Vec<MissingPart>),
}

/// A fault of a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyFault {
    /// The value is not an allowed word.
    #[error("is not one of {0}")]
    NotOneOf(&'static str),
    /// The value is empty.
    #[error("is empty")]
    Empty,
    /// The value holds a NUL.
    #[error("holds a NUL character, which no path has")]
    Nul,
    /// The path is relative.
    #[error("is relative; write an absolute path or one that begins with ~/")]
    Relative,
    /// The path is a pattern.
    #[error("is a pattern, and a path is taken as it is written; name each path")]
    Pattern,
    /// A path that a model asks for does not exist.
    #[error("does not exist; name a directory that does, such as the one to create it in")]
    NotThere,
    /// The home of another user.
    #[error("names the home of a user; write an absolute path")]
    OtherHome,
    /// There is no home.
    #[error("begins with ~, and this user has no home directory; write an absolute path")]
    NoHome,
    /// A name to protect leads out of its root.
    #[error("leads out of its directory; leave out ..")]
    Upward,
    /// The whole file system, or a part that belongs to the kernel.
    #[error("cannot be changed as a whole; name directories of your own below it")]
    System,
    /// The directory of the kernel.
    #[error("belongs to the kernel and cannot be written to inside a confinement; leave it out")]
    Kernel,
    /// The working directory of the profile `workspace` is no possible write root.
    #[error("cannot be the workspace; choose a directory of your own as cwd, or the profile 'read-only'")]
    Workspace,
    /// The path is hidden.
    #[error("lies in {}, which is hidden; name a path outside of it", .0.display())]
    Hidden(PathBuf),
    /// The caller hides the directory that the commands start in.
    #[error("holds the working directory {}; hide what lies below it, or choose another cwd", .0.display())]
    HidesRoot(PathBuf),
    /// The path is protected.
    #[error("is protected by the entry {0:?}; give confine.protect a list without it")]
    Protected(String),
    /// The path lies in a write root, and is a link out of that root.
    #[error(
        "is a link to {}, and lies in {}, where commands may replace it; name {} itself",
        .target.display(), .inside.display(), .target.display()
    )]
    LinkOut {
        /// The target.
        target: PathBuf,
        /// The write root.
        inside: PathBuf,
    },
    /// The list of `read` does not reach the directory of the commands.
    #[error("is the working directory, and confine.read does not have it; add it")]
    RootUnread,
    /// An address with a scheme.
    #[error("is a URL; write the host alone, as in registry.example.org or registry.example.org:8443")]
    Url,
    /// A host that is no name and no address.
    #[error("is no host; write a name, *.domain, an IP address or a CIDR, each with an optional :port")]
    NoHost,
    /// All hosts.
    #[error("allows every host; use network 'full'")]
    Everything,
    /// A name with other characters than ASCII.
    #[error("has characters that no name in the DNS has; write the name in its ASCII form (xn--…)")]
    NotAscii,
    /// A port out of range.
    #[error("has no port from 1 to 65535")]
    Port,
    /// A number that is no port.
    #[error("is not a port from 1 to 65535")]
    NoPort,
    /// A prefix out of range.
    #[error("has no prefix from 0 to {0}")]
    Prefix(u8),
    /// Bits of the host are set in a CIDR.
    #[error("is an address inside a network; write {0} for the network, or the address without a prefix")]
    HostBits(String),
    /// The value of `hosts` is no address.
    #[error("is no IP address that can be connected to")]
    NoAddress,
    /// The name of the own loopback.
    #[error("always means the commands' own loopback; choose another name and map that")]
    Loopback,
    /// A model asks for the own loopback.
    #[error("is the commands' own loopback, which they reach without a grant; no server of the host is there")]
    OwnLoopback,
    /// The name of a secret is no name of a variable.
    #[error("is no name of a variable; use letters, digits and _")]
    NoVariable,
    /// The name of a secret is one by which programs are steered.
    #[error("is a variable by which programs are steered; choose another name for the secret")]
    SteeringVariable,
    /// A secret without hosts.
    #[error("has no hosts; name those that may get the secret")]
    NoSecretHost,
    /// The host of a secret is an address.
    #[error("is an address, and certificates name hosts; give the host a name, in network.hosts if it has none")]
    SecretAddress,
    /// A secret that is put in by itself has no place, or several.
    #[error("is put in by itself, which needs one place: as: 'bearer' or as: 'basic'")]
    InjectPlace,
    /// A template without the file that has it.
    #[error("has a template and no file; name the path in file")]
    TemplateWithoutFile,
    /// A template without the place of the secret.
    #[error("has a template without ${{NAME}}, its own name, where the secret stands")]
    TemplateWithoutMark,
    /// The file of a secret cannot be read.
    #[error("has a file that cannot be read ({0}); give it a template")]
    UnreadableFile(String),
    /// The file of a secret does not hold it.
    #[error("has a file that does not hold it; give it a template")]
    FileWithoutSecret,
    /// The file of a secret is too long.
    #[error("has a file of more than 1 MiB")]
    LongFile,
    /// The directory for the file of a secret does not exist.
    #[error("has a file whose directory does not exist; create it before the command starts")]
    NoPlaceForFile,
    /// The file of a secret is a directory.
    #[error("has a directory as its file; name a file in it")]
    DirectoryForFile,
    /// The file of a secret does not exist, in a directory that commands may change.
    #[error("has a file that does not exist, in a directory that commands may change; create it first")]
    NewFileInWriteRoot,
    /// The draft of the commands has another thing, or nothing, in the place of the file of a secret.
    #[error("has a file that the draft has removed or replaced by another thing; discard that change")]
    FileNotInDraft,
    /// Two secrets have the same file.
    #[error("has the file of another secret; put both into one template, or into two files")]
    FileTwice,
    /// A secret is too long.
    #[error("is longer than 64 KiB")]
    LongSecret,
    /// A secret is too short.
    #[error("has fewer than 8 letters and digits that could be random in its stand-in")]
    ShortSecret,
    /// A secret holds a NUL.
    #[error("holds a NUL character, which no variable has")]
    NulInSecret,
    /// The system has no random numbers.
    #[error("has no stand-in: the system has no random numbers ({0})")]
    NoRandom(String),
    /// There is no agent.
    #[error("is no socket of an ssh agent; start one, or name its socket")]
    NoAgent,
    /// No key of a host is known.
    #[error("has no key in the known_hosts of this user or machine; connect to it once, or add its key")]
    NoHostKey,
    /// A network in place of a host.
    #[error("is a network; name each host")]
    SshNetwork,
    /// A key that is no fingerprint.
    #[error("is no fingerprint as ssh-add -l prints it: SHA256:…")]
    NoFingerprint,
    /// `require` demands a part that the options switch off.
    #[error("cannot be required with network 'full', which limits nothing; leave it out of require")]
    NothingToHold,
}

impl PolicyError {
    /// Returns the error of one value.
    pub fn invalid(option: &'static str, value: impl Into<String>, fault: PolicyFault) -> Self {
        let value: String = value.into();
        Self::Invalid { option, value, fault }
    }

    /// Returns the error of a secret, or of the ssh agent, with the whole network.
    pub fn kept_in_full(what: &str) -> Self {
        let why =
            format!("nothing stands between commands and the network with network 'full', so {what} cannot be kept");
        let remedy = "list the hosts in network.allow".to_owned();
        Self::Missing(vec![MissingPart { part: ConfinementPart::Network, why, remedy }])
    }

    /// Returns the error of a write root that cannot be looked up.
    pub fn no_write_root(path: &Path, error: &io::Error) -> Self {
        let why = match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ENOENT) => format!("the write root {} does not exist", path.display()),
            Some(errno) => format!("the write root {} cannot be looked up ({errno})", path.display()),
            None => format!("the write root {} cannot be looked up ({error})", path.display()),
        };
        let remedy = "create it before the command starts, or leave it out of confine.write".to_owned();
        Self::Missing(vec![MissingPart { part: ConfinementPart::Files, why, remedy }])
    }
}
