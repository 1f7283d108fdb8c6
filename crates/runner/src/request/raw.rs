//! Options as a caller gave them, their types right and their values unchecked.

use std::sync::Arc;

use crate::pty::Terminal;
use crate::registry::Registry;
use capture::Sanitize;
use protocol::plan::{Inherit, RawLimits, Startup};
use safety::Policy;

/// Options as the caller gave them: their types are right, their values unchecked. `None` is the default of each.
#[derive(Default)]
pub struct RawOptions {
    /// The command, as it goes to the shell.
    pub command: String,
    /// Positional parameters of the command.
    pub args: Vec<String>,
    /// The directory to start in, absolute.
    pub cwd: String,
    /// The host's environment: `NAME=VALUE`, each ended by a NUL.
    pub host_env: String,
    /// The caller's variables. `None` removes one.
    pub env: Vec<(String, Option<String>)>,
    /// Which variables of the host the command inherits.
    pub inherit: Inherit,
    /// `default`, `slow` or `background`.
    pub mode: Option<String>,
    /// Time limit, ms.
    pub timeout_ms: Option<f64>,
    /// Longest silence, ms.
    pub idle_timeout_ms: Option<f64>,
    /// Time between SIGTERM and SIGKILL, ms.
    pub grace_ms: Option<f64>,
    /// The host's file mode creation mask.
    pub umask: u32,
    /// Bytes for standard input.
    pub stdin: Option<Vec<u8>>,
    /// One pipe for both streams.
    pub merge: bool,
    /// The part of each stream that is kept.
    pub truncate: Option<RawTruncate>,
    /// How output is cleaned. `None` only decodes it.
    pub sanitize: Option<Sanitize>,
    /// Files for whole output. `None` writes none.
    pub spill: Option<RawSpill>,
    /// The listener gets live output.
    pub live: bool,
    /// The caller reads and writes the streams of the command itself.
    pub streams: Option<Streams>,
    /// The listener gets live views.
    pub snapshots: bool,
    /// Time between two live views, ms.
    pub snapshot_ms: Option<f64>,
    /// The listener gets an event when the command is blocked on input.
    pub prompts: bool,
    /// The listener gets an event with the pid when the command runs.
    pub starts: bool,
    /// The resources that the command may use. `None` is no limit.
    pub limits: Option<RawLimits>,
    /// The shell, a path or a name.
    pub shell: Option<String>,
    /// The caller gave the command up before it began.
    pub aborted: bool,
    /// The registry of its tasks.
    pub registry: Option<Arc<Registry>>,
    /// The command moves to the background at its limit.
    pub to_background: bool,
    /// The command starts in the background, whatever the mode.
    pub background: bool,
    /// The safety rules. `None` judges nothing.
    pub guard: Option<Guard>,
    /// No warm shell is used.
    pub cold: bool,
    /// The code that makes its shell more than a plain one.
    pub startup: Option<Startup>,
    /// The terminal that the command runs in.
    pub terminal: Option<Arc<Terminal>>,
    /// The command begins with a snapshot of the user's shell.
    pub snapshot: Option<RawSnapshot>,
    /// The reach of the command. `None`: everything.
    pub confine: Option<RawWorld>,
    /// `off`, `watch` or `exact`.
    pub receipt: Option<String>,
    /// The undo of the command. `None`: it cannot be undone.
    pub undo: Option<RawUndo>,
    /// The reduction of the text that a model reads. `None`: no view is made.
    pub reduce: Option<RawReduction>,
}

impl RawOptions {
    /// Whether each change of the command may be recorded.
    pub fn is_recorded(&self) -> bool {
        self.undo.as_ref().is_some_and(|undo| undo.when != "off") || self.receipt.as_deref() == Some("exact")
    }
}

/// The reduction of an output, as given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawReduction {
    /// The tokens to keep within. `None`: only folds that lose nothing.
    pub budget_tokens: Option<f64>,
    /// Texts of the user's files of rules.
    pub rules: Vec<String>,
    /// Names of rules that must not apply. `None`: no rule applies.
    pub off: Option<Vec<String>>,
    /// Texts of which a line that must stay contains one.
    pub keep: Vec<String>,
    /// Regular expressions of JavaScript of which a line that must stay matches one, each with its flags.
    pub keep_patterns: Vec<(String, String)>,
    /// Earlier results that a model still reads, the latest last.
    pub earlier: Vec<RawEarlier>,
}

/// An earlier result that is still in a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawEarlier {
    /// The number of its output.
    pub id: u64,
    /// Its output: stdout, then stderr.
    pub text: String,
    /// The lines of it, from 1, that a model does not read there.
    pub hidden: Vec<(usize, usize)>,
}

/// The undo of a command, as given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawUndo {
    /// `off`, `risky` or `always`.
    pub when: String,
    /// A command that an undo would not cover in full is refused.
    pub require: bool,
    /// The largest file that is copied, bytes.
    pub max_file_bytes: Option<f64>,
    /// Bytes that are kept of one command.
    pub max_bytes: Option<f64>,
    /// Bytes that are kept of all commands.
    pub store_bytes: Option<f64>,
    /// The directory of the store, absolute. `None`: that of the user.
    pub dir: Option<String>,
}

/// The world that a command is to run in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawWorld {
    /// `ConfineOptions` as JSON.
    pub options: String,
    /// The owner of the world, by its number. 0: the plain calls of the host.
    pub owner: u64,
    /// The directory of the owner, absolute. `None`: the `cwd` of the command.
    pub root: Option<String>,
    /// Whether the owner is the registry of the command, whose running tasks may have an equal world.
    pub joins: bool,
}

/// How a caller that reads and writes the streams itself wants them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    /// Live output is bytes, one character each, if it is not sanitized.
    pub bytes: bool,
    /// Standard input is written while the command runs. Else it is `stdin`.
    pub fed: bool,
}

/// The source of a snapshot of the user's shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawSnapshot {
    /// The rc files of the user.
    User,
    /// This file, absolute.
    File(String),
}

/// How a command is judged before it starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guard {
    /// Rules and wrappers.
    pub policy: Policy,
    /// A command that a person would be asked about is refused.
    pub denies_ask: bool,
}

/// Limits as given.
#[derive(Debug)]
pub struct RawTruncate {
    /// `tail`, `head` or `ends`.
    pub keep: String,
    /// The limits by name.
    pub max_lines: Option<f64>,
    /// `truncate.maxBytes`
    pub max_bytes: Option<f64>,
    /// `truncate.maxChars`
    pub max_chars: Option<f64>,
    /// `truncate.headBytes`
    pub head_bytes: Option<f64>,
    /// `truncate.tailBytes`
    pub tail_bytes: Option<f64>,
}

/// Where whole output goes, as given.
#[derive(Debug, Default)]
pub struct RawSpill {
    /// A directory of the caller's.
    pub dir: Option<String>,
    /// The most a file may hold, bytes.
    pub max_bytes: Option<f64>,
    /// How old a file may become, ms.
    pub retention_ms: Option<f64>,
    /// The caller's artifact store chooses the path.
    pub allocate: bool,
}
