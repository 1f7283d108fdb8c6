//! Options as a caller gave them, their types right and their values unchecked.

use std::sync::Arc;

use crate::background::Registry;
use crate::capture::Sanitize;
use crate::plan::{Inherit, RawLimits, Startup};
use crate::pty::Terminal;
use crate::safety::Policy;

/// What a caller gave; types are right, values are not checked. `None` is the default of each.
#[derive(Default)]
pub struct RawOptions {
    /// The command, as it goes to the shell.
    pub command: String,
    /// Positional parameters of the command.
    pub args: Vec<String>,
    /// The folder, absolute.
    pub cwd: String,
    /// The host's environment, `NAME=VALUE` each ended by a NUL.
    pub host_env: String,
    /// The caller's variables, `None` removes one.
    pub env: Vec<(String, Option<String>)>,
    /// What is inherited.
    pub inherit: Inherit,
    /// `default`, `slow` or `background`.
    pub mode: Option<String>,
    /// Time limit, ms.
    pub timeout_ms: Option<f64>,
    /// From SIGTERM to SIGKILL, ms.
    pub grace_ms: Option<f64>,
    /// The host's file mode creation mask.
    pub umask: u32,
    /// Bytes for standard input.
    pub stdin: Option<Vec<u8>>,
    /// One pipe for both streams.
    pub merge: bool,
    /// What is kept.
    pub truncate: Option<RawTruncate>,
    /// `None` when nothing is to be changed but decoded.
    pub sanitize: Option<Sanitize>,
    /// Whole output to a file; `None` when not.
    pub spill: Option<RawSpill>,
    /// Live output is wanted.
    pub live: bool,
    /// The caller has the streams of the command as such.
    pub streams: Option<Streams>,
    /// Live snapshots are wanted.
    pub snapshots: bool,
    /// How often, ms.
    pub snapshot_ms: Option<f64>,
    /// The caller hears when it waits for somebody.
    pub prompts: bool,
    /// The caller hears when it runs, and as which process.
    pub starts: bool,
    /// What it may use; `None` as much as it likes.
    pub limits: Option<RawLimits>,
    /// The shell, a path or a name.
    pub shell: Option<String>,
    /// The caller gave the command up before it began.
    pub aborted: bool,
    /// Where its tasks go.
    pub registry: Option<Arc<Registry>>,
    /// At its limit it moves to the background.
    pub to_background: bool,
    /// It is started in the background, whatever the mode.
    pub background: bool,
    /// How it is judged before it starts; `None` not at all.
    pub guard: Option<Guard>,
    /// It starts a shell of its own, whoever waits.
    pub cold: bool,
    /// Its shell is more than a plain one.
    pub startup: Option<Startup>,
    /// It runs in this terminal.
    pub terminal: Option<Arc<Terminal>>,
    /// The user's own shell is wanted.
    pub snapshot: Option<RawSnapshot>,
}

/// What a caller wants who has the streams of a command as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    /// Live output is bytes, a character each, where nothing else is to be done with it.
    pub bytes: bool,
    /// Its standard input is written while it runs; else it is what `stdin` says.
    pub fed: bool,
}

/// Where a snapshot of the user's own shell is taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawSnapshot {
    /// The rc files of the user.
    User,
    /// This one, absolute.
    File(String),
}

/// How commands are judged before they start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guard {
    /// Rules and wrappers.
    pub policy: Policy,
    /// What a person would be asked about is refused.
    pub denies_ask: bool,
}

/// Limits as given.
#[derive(Debug)]
pub struct RawTruncate {
    /// `tail`, `head` or `ends`.
    pub keep: String,
    /// The limits by name.
    pub max_lines: Option<f64>,
    #[expect(missing_docs, reason = "as the contract names it")]
    pub max_bytes: Option<f64>,
    #[expect(missing_docs, reason = "as the contract names it")]
    pub max_chars: Option<f64>,
    #[expect(missing_docs, reason = "as the contract names it")]
    pub head_bytes: Option<f64>,
    #[expect(missing_docs, reason = "as the contract names it")]
    pub tail_bytes: Option<f64>,
}

/// Where whole output goes, as given.
#[derive(Debug, Default)]
pub struct RawSpill {
    /// A folder of the caller's.
    pub dir: Option<String>,
    /// The most a file may hold, bytes.
    pub max_bytes: Option<f64>,
    /// How old a file may become, ms.
    pub retention_ms: Option<f64>,
    /// The caller's artifact store says where.
    pub allocate: bool,
}
