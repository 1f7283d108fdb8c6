//! Options as a caller gave them. They cross from JavaScript as a single JSON text, with the names of the contract.

use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::error::RequestError;
use super::safety_options::{RawSafety, SafetyCriteria};
use crate::pty::CommandTerminal;
use crate::registry::TaskRegistry;
use capture::{ProgressLineHandling, SanitizeRules};
use ledger::Actor;
use protocol::plan::{InheritMode, RawLimits, ShellStartup, number};

/// A command with its options as the caller gave them: their types are right, their values unchecked. A missing option
/// has its default. The skipped fields do not cross as options.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawOptions {
    /// The command, as it goes to the shell.
    #[serde(skip)]
    pub command: String,
    /// Positional parameters of the command.
    pub args: Vec<String>,
    /// The directory to start in, absolute.
    #[serde(skip)]
    pub cwd: String,
    /// The name of the run. `None`: it gets a new one.
    #[serde(skip)]
    pub mark: Option<String>,
    /// The host's environment: `NAME=VALUE`, each ended by a NUL.
    #[serde(skip)]
    pub host_env: String,
    /// The caller's variables, by name. `None` removes a variable.
    pub env: Vec<(String, Option<String>)>,
    /// Variables of this command of a session alone. `None` removes a variable.
    pub own_env: Vec<(String, Option<String>)>,
    /// The variables of the host that the command inherits.
    #[serde(rename = "inheritEnv")]
    pub inherit: InheritMode,
    /// `default`, `slow` or `background`.
    pub mode: Option<String>,
    /// Time limit, ms.
    #[serde(deserialize_with = "number")]
    pub timeout_ms: Option<f64>,
    /// Longest silence, ms.
    #[serde(deserialize_with = "number")]
    pub idle_timeout_ms: Option<f64>,
    /// Time between SIGTERM and SIGKILL, ms.
    #[serde(deserialize_with = "number")]
    pub grace_ms: Option<f64>,
    /// The host's file mode creation mask.
    #[serde(skip)]
    pub umask: u32,
    /// Bytes for standard input.
    #[serde(skip)]
    pub stdin: Option<Vec<u8>>,
    /// Whether both streams share one pipe.
    pub merge: bool,
    /// The part of each stream that is kept.
    pub truncate: Option<RawTruncate>,
    /// How output is cleaned. `None`: it is only decoded.
    #[serde(default = "cleaned", deserialize_with = "sanitize")]
    pub sanitize: Option<SanitizeRules>,
    /// Files for whole output. `None`: no files.
    #[serde(default = "spilled", deserialize_with = "spill")]
    pub spill: Option<RawSpill>,
    /// Whether the listener gets live output.
    pub live: bool,
    /// Set if the caller reads and writes the streams of the command itself.
    pub streams: Option<CallerStreamOptions>,
    /// Whether the listener gets live views.
    pub snapshots: bool,
    /// Time between two live views, ms.
    #[serde(deserialize_with = "number")]
    pub snapshot_interval_ms: Option<f64>,
    /// Whether the listener gets an event when the command is blocked on input.
    pub prompts: bool,
    /// Whether the listener gets an event with the pid when the command runs.
    pub starts: bool,
    /// The resources that the command may use. `None`: no limit.
    pub limits: Option<RawLimits>,
    /// The shell, as a path or a name.
    pub shell: Option<String>,
    /// Whether the caller gave the command up before it began.
    pub aborted: bool,
    /// The number of the registry in its host.
    #[serde(rename = "registry")]
    pub registry_number: Option<u32>,
    /// The registry of the command's tasks.
    #[serde(skip)]
    pub registry: Option<Arc<TaskRegistry>>,
    /// Whether the command moves to the background at its limit, if it has a registry.
    #[serde(rename = "onTimeout", default = "moved", deserialize_with = "moves")]
    pub to_background: bool,
    /// Whether the command starts in the background, whatever the mode.
    #[serde(skip)]
    pub background: bool,
    /// `safety`, as given.
    pub safety: RawSafety,
    /// The safety rules. `None`: the command is not judged.
    #[serde(skip)]
    pub guard: Option<SafetyCriteria>,
    /// Whether a warm shell may be used.
    pub warm: Option<bool>,
    /// The code that the shell runs beyond a plain shell.
    #[serde(skip)]
    pub startup: Option<ShellStartup>,
    /// The terminal in which the command runs.
    #[serde(skip)]
    pub terminal: Option<Arc<CommandTerminal>>,
    /// The snapshot of the user's shell with which the command begins.
    #[serde(deserialize_with = "snapshot")]
    pub snapshot: Option<RawSnapshot>,
    /// The reach of the command. `None`: no confinement.
    pub confine: Option<RawWorld>,
    /// `off`, `watch` or `exact`.
    pub receipt: Option<String>,
    /// `off`, `status` or `tree`.
    pub evidence: Option<String>,
    /// Rules that name commands that are checks.
    pub checks: Vec<String>,
    /// The re-use of results. `None`: each command runs.
    #[serde(deserialize_with = "reuse")]
    pub reuse: Option<RawReuse>,
    /// Whether the command runs whatever is stored.
    pub fresh: bool,
    /// `off` or `on`.
    pub taps: Option<String>,
    /// Whether the command was the producer of a pipeline whose filter was taken away.
    pub is_producer: bool,
    /// Most bytes that the store of outputs keeps of a tap. `None`: it has no bound of its own.
    pub tap_bytes: Option<u64>,
    /// The undo of the command. `None`: it cannot be undone.
    #[serde(deserialize_with = "undo")]
    pub undo: Option<RawUndo>,
    /// The reduction of the text that a model reads. `None`: no view is made.
    pub reduce: Option<RawReduction>,
    /// Whether the command has an entry in the ledger.
    pub ledger: bool,
    /// Who asked for the command.
    pub actor: Option<Actor>,
    /// Where a person has approved the command: `host` or `page`.
    pub decided_by: Option<String>,
}

impl RawOptions {
    /// Reads options from JSON.
    ///
    /// # Errors
    /// [`RequestError::Options`] for an unknown option, and a value of another type.
    pub fn from_json(text: &str) -> Result<Self, RequestError> {
        serde_json::from_str(text).map_err(RequestError::Options)
    }

    /// Returns whether each change of the command may be recorded.
    pub fn is_recorded(&self) -> bool {
        self.undo.as_ref().is_some_and(|undo| undo.when != "off") || self.receipt.as_deref() == Some("exact")
    }
}

/// The reduction of an output, as given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawReduction {
    /// The number of tokens that the view must not exceed. `None`: only lossless folds.
    #[serde(deserialize_with = "number")]
    pub budget_tokens: Option<f64>,
    /// Texts of the user's files of rules.
    pub rules: Vec<String>,
    /// Names of rules that must not apply. `None`: no rule applies.
    pub off: Option<Vec<String>>,
    /// Texts. A line that contains any of them must stay.
    pub keep: Vec<String>,
    /// Regular expressions of JavaScript, each with its flags. A line that matches any of them must stay.
    pub keep_patterns: Vec<(String, String)>,
    /// Earlier results that a model still reads, the latest last.
    pub earlier: Vec<RawEarlier>,
}

/// An earlier result that is still in a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawEarlier {
    /// The number of the output.
    pub id: u64,
    /// Text of the output: stdout, then stderr.
    pub text: String,
    /// Ranges of lines of the text, from 1, that a model does not read there.
    pub hidden: Vec<(usize, usize)>,
}

/// The undo of a command, as given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawUndo {
    /// `off`, `risky` (default) or `always`.
    pub when: String,
    /// Whether a command is refused that an undo would not cover in full.
    pub require: bool,
    /// The largest file that is copied, bytes.
    #[serde(deserialize_with = "number")]
    pub max_file_bytes: Option<f64>,
    /// The most bytes that are kept of one command.
    #[serde(deserialize_with = "number")]
    pub max_bytes: Option<f64>,
    /// The most bytes that are kept of all commands.
    #[serde(deserialize_with = "number")]
    pub store_bytes: Option<f64>,
    /// The directory of the store, absolute. `None`: the user's store.
    pub dir: Option<String>,
}

impl Default for RawUndo {
    fn default() -> Self {
        let when = "risky".to_owned();
        Self { when, require: false, max_file_bytes: None, max_bytes: None, store_bytes: None, dir: None }
    }
}

/// The re-use of results, as given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawReuse {
    /// `off` or `verified` (default).
    #[serde(skip_deserializing)]
    pub how: String,
    /// Rules that name commands for which the host vouches.
    pub commands: Vec<String>,
    /// The highest age of a result, ms.
    #[serde(deserialize_with = "number")]
    pub max_age_ms: Option<f64>,
    /// The most bytes of all outputs.
    #[serde(deserialize_with = "number")]
    pub store_bytes: Option<f64>,
}

impl Default for RawReuse {
    fn default() -> Self {
        Self { how: "verified".to_owned(), commands: Vec::new(), max_age_ms: None, store_bytes: None }
    }
}

/// The world in which a command has to run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawWorld {
    /// `ConfineOptions` as JSON.
    #[serde(deserialize_with = "text")]
    pub options: String,
    /// The owner of the world, by its number. 0: the plain calls of the host.
    pub owner: u64,
    /// The directory of the owner, absolute. `None`: the `cwd` of the command.
    pub root: Option<String>,
    /// Whether the owner is the registry of the command, whose running tasks may have an equal world.
    pub joins: bool,
}

/// The wishes of a caller that reads and writes the streams itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallerStreamOptions {
    /// Whether live output is bytes, one character each, if it is not sanitized.
    pub bytes: bool,
    /// Whether standard input is written while the command runs. Otherwise it is `stdin`.
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

/// Limits as given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RawTruncate {
    /// `tail`, `head` or `ends`.
    pub keep: String,
    /// The limits by name.
    #[serde(default, deserialize_with = "number")]
    pub max_lines: Option<f64>,
    /// `truncate.maxBytes`
    #[serde(default, deserialize_with = "number")]
    pub max_bytes: Option<f64>,
    /// `truncate.maxChars`
    #[serde(default, deserialize_with = "number")]
    pub max_chars: Option<f64>,
    /// `truncate.headBytes`
    #[serde(default, deserialize_with = "number")]
    pub head_bytes: Option<f64>,
    /// `truncate.tailBytes`
    #[serde(default, deserialize_with = "number")]
    pub tail_bytes: Option<f64>,
}

/// Where whole output goes, as given.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawSpill {
    /// A directory of the caller's.
    pub dir: Option<String>,
    /// The most bytes of a file.
    #[serde(default, deserialize_with = "number")]
    pub max_bytes: Option<f64>,
    /// The highest age of a file, ms.
    #[serde(default, deserialize_with = "number")]
    pub retention_ms: Option<f64>,
    /// Whether the caller's artifact store chooses the path.
    pub allocate: bool,
}

/// An option that is a flag or an object.
#[derive(Deserialize)]
#[serde(untagged)]
enum FlagOr<T> {
    Flag(bool),
    More(T),
}

#[expect(clippy::unnecessary_wraps, reason = "the default of an option that can be off")]
const fn cleaned() -> Option<SanitizeRules> {
    Some(SanitizeRules { ansi: true, progress: ProgressLineHandling::Collapse })
}

fn sanitize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SanitizeRules>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct SanitizeParts {
        ansi: Option<bool>,
        progress: Option<ProgressWord>,
    }
    #[derive(PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum ProgressWord {
        Collapse,
        Keep,
    }
    Ok(match FlagOr::<SanitizeParts>::deserialize(from)? {
        FlagOr::Flag(on) => cleaned().filter(|_| on),
        FlagOr::More(SanitizeParts { ansi, progress }) => {
            let progress = if progress == Some(ProgressWord::Keep) {
                ProgressLineHandling::Keep
            } else {
                ProgressLineHandling::Collapse
            };
            Some(SanitizeRules { ansi: ansi != Some(false), progress })
        }
    })
}

#[expect(clippy::unnecessary_wraps, reason = "the default of an option that can be off")]
fn spilled() -> Option<RawSpill> {
    Some(RawSpill::default())
}

fn spill<'de, D: Deserializer<'de>>(from: D) -> Result<Option<RawSpill>, D::Error> {
    Ok(match FlagOr::deserialize(from)? {
        FlagOr::Flag(on) => spilled().filter(|_| on),
        FlagOr::More(spill) => Some(spill),
    })
}

fn snapshot<'de, D: Deserializer<'de>>(from: D) -> Result<Option<RawSnapshot>, D::Error> {
    Ok(match FlagOr::deserialize(from)? {
        FlagOr::Flag(on) => on.then_some(RawSnapshot::User),
        FlagOr::More(file) => Some(RawSnapshot::File(file)),
    })
}

/// An option that is a word or an object.
#[derive(Deserialize)]
#[serde(untagged)]
enum WordOr<T> {
    Word(String),
    More(T),
}

fn undo<'de, D: Deserializer<'de>>(from: D) -> Result<Option<RawUndo>, D::Error> {
    Ok(Some(match WordOr::deserialize(from)? {
        WordOr::Word(when) => RawUndo { when, ..RawUndo::default() },
        WordOr::More(undo) => undo,
    }))
}

fn reuse<'de, D: Deserializer<'de>>(from: D) -> Result<Option<RawReuse>, D::Error> {
    Ok(Some(match WordOr::deserialize(from)? {
        WordOr::Word(how) => RawReuse { how, ..RawReuse::default() },
        WordOr::More(reuse) => reuse,
    }))
}

const fn moved() -> bool {
    true
}

fn moves<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    #[derive(PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum OnTimeout {
        Kill,
        Background,
    }
    Ok(OnTimeout::deserialize(from)? == OnTimeout::Background)
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Box::<RawValue>::deserialize(from)?.get().to_owned())
}

#[cfg(test)]
#[path = "raw_tests.rs"]
mod tests;
