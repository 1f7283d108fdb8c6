//! The options of a command: their schema, and the form in which they cross from JavaScript, as a single JSON text.
//!
//! [`RawOptions`] is the one home of an option that crosses as it is. `npm run options` makes `option_schema.json` from
//! it, and from that file the interface and the checks of TypeScript (`scripts/options.mjs`). So the documentation of
//! these fields is what users read.

use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::command_mode::CommandMode;
use super::error::RequestError;
#[cfg(test)]
use super::field_order::fields_of;
use super::limit_options::RawLimits;
use super::number_option::number;
#[cfg(test)]
use super::output_options::{SNAPSHOT_INTERVAL_MS, SPILL_MAX_BYTES, SPILL_RETENTION_MS};
#[cfg(test)]
use super::recording_options::{REUSE_AGE_MS, REUSE_STORE_BYTES, UNDO_FILE_BYTES, UNDO_RUN_BYTES, UNDO_STORE_BYTES};
use super::safety_options::{RawSafety, SafetyCriteria};
#[cfg(test)]
use super::time_options::{GRACE_MS, IDLE_TIMEOUT_MS, TIMEOUT_MS};
use crate::drafts::{DraftCredentials, DraftName};
use crate::pty::CommandTerminal;
use crate::registry::TaskRegistry;
use capture::{ProgressLineHandling, SanitizeRules};
use ledger::Actor;
use protocol::plan::{InheritMode, ShellStartup};

/// A command with its options as the caller gave them: their types are right, their values unchecked.
///
/// First come the options of the contract that cross as they are, then what `ts/request.ts` makes of the others, and
/// last the fields that do not cross in the JSON text.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("x-order" = fields_of::<RawOptions>())))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawOptions {
    /// Positional parameters of the command, `$1` and on.
    ///
    /// @default []
    /// @example await bash('printf "%s\n" "$1"', { args: ["it's data"] });
    pub args: Vec<String>,
    /// Which variables of `process.env` the command inherits: `'safe'` all but secrets, `'all'`, `'none'`, or exactly
    /// these names.
    ///
    /// @default 'safe'
    /// @example await bash('env', { inheritEnv: ['PATH', 'HOME'] });
    #[serde(rename = "inheritEnv")]
    #[cfg_attr(test, schemars(with = "String", extend("x-type" = "'safe' | 'all' | 'none' | string[]", "x-check" = "INHERIT_ENV")))]
    pub inherit: InheritMode,
    /// The time limit by kind of work: `'default'` 30 s (120 s if the command then moves to the background), `'slow'`
    /// 15 min. `'background'` starts the command as a task and resolves at once with status `'backgrounded'`; its limit
    /// is 24 h.
    ///
    /// @default 'default'
    /// @example await bash('cargo build --release', { mode: 'slow' });
    pub mode: CommandMode,
    /// The time limit in ms, counted from the start of the process. It replaces the limit of `mode`.
    ///
    /// @default the limit of `mode`
    /// @example await bash('npm ci', { timeoutMs: 300_000 });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = TIMEOUT_MS.least, max = TIMEOUT_MS.most)))]
    pub timeout_ms: Option<f64>,
    /// The longest time without output, in ms. A command that is silent for this long is at its time limit, and a note
    /// reports this. The time counts from the start and from each output on either stream. Any byte is output, also a
    /// carriage return or an escape sequence that `sanitize` removes. A task that was started in the background is
    /// ended. A command that has moved to the background may be silent. The limit never counts in a terminal.
    ///
    /// @default none
    /// @example await bash('npm ci', { mode: 'slow', idleTimeoutMs: 60_000 });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = IDLE_TIMEOUT_MS.least, max = IDLE_TIMEOUT_MS.most)))]
    pub idle_timeout_ms: Option<f64>,
    /// The reaction to the limit, of time or of silence: `'kill'` ends the whole process tree, `'background'` turns the
    /// command into a task, and the promise resolves with the output so far.
    ///
    /// @default 'background' with a `registry`, else 'kill'
    /// @example await bash('npm run dev', { onTimeout: 'background' });
    pub on_timeout: OnTimeout,
    /// Time from SIGTERM to SIGKILL, in ms, when the tree is ended.
    ///
    /// @example await bash('./server', { timeoutMs: 5_000, graceMs: 10_000 });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = GRACE_MS.number.least, max = GRACE_MS.number.most), extend("default" = GRACE_MS.default)))]
    pub grace_ms: Option<f64>,
    /// Whether both streams share one pipe, in the order of writing. All output is then in `stdout`.
    ///
    /// @default false
    /// @example await bash('make', { merge: true });
    pub merge: bool,
    /// The part of each stream that is kept.
    ///
    /// @default TRUNCATE.tail
    /// @example await bash('npm test', { truncate: { keep: 'tail', maxLines: 200 } });
    #[cfg_attr(test, schemars(extend("x-type" = "Truncate", "x-check" = "TRUNCATE")))]
    pub truncate: Option<RawTruncate>,
    /// Whether escape sequences and control characters are removed and progress lines collapse. `true` is `{ ansi:
    /// true, progress: 'collapse' }`.
    ///
    /// @default true
    /// @example await bash('ls --color=always', { sanitize: { ansi: false } });
    #[serde(default = "cleaned", deserialize_with = "sanitize")]
    #[cfg_attr(test, schemars(with = "FlagOr<RawSanitize>"))]
    pub sanitize: Option<SanitizeRules>,
    /// Whether a stream that passes its limit in bytes or characters is also written to a private file as a whole.
    ///
    /// @default true
    /// @example await bash('npm test', { spill: { dir: '/var/tmp/agent-output' } });
    #[serde(default = "spilled", deserialize_with = "spill")]
    #[cfg_attr(test, schemars(with = "FlagOr<RawSpill>"))]
    pub spill: Option<RawSpill>,
    /// Time between two calls of `onSnapshot`, in ms.
    ///
    /// @example await bash('npm test', { onSnapshot: draw, snapshotIntervalMs: 1_000 });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = SNAPSHOT_INTERVAL_MS.number.least, max = SNAPSHOT_INTERVAL_MS.number.most), extend("default" = SNAPSHOT_INTERVAL_MS.default)))]
    pub snapshot_interval_ms: Option<f64>,
    /// The shell: a path, or a name on the PATH of `process.env`. A missing shell is `ERR_BASH_SHELL_NOT_FOUND`.
    ///
    /// @default 'bash'
    /// @example await bash('print -r -- $ZSH_VERSION', { shell: 'zsh' });
    #[cfg_attr(test, schemars(extend("x-check" = "SHELL")))]
    pub shell: Option<String>,
    /// Whether the command has the user's own aliases, functions, options and PATH: `true` reads the rc files of the
    /// user, a path that file alone. A relative path is resolved against `process.cwd()`. Files are read once, for at
    /// most 10 s, and again when they change. If that fails, the command runs without them, with a note.
    ///
    /// @default false
    /// @example await bash('ll', { snapshot: true });
    #[serde(deserialize_with = "snapshot")]
    #[cfg_attr(test, schemars(with = "FlagOr<String>", extend("x-check" = "flagOr(RC_FILE)")))]
    pub snapshot: Option<RawSnapshot>,
    /// Whether a shell that has already started may run the command if no command could tell the difference.
    /// `AGENT_BASH_WARM=0` in the host's environment turns this off.
    ///
    /// @default true
    /// @example await bash('true', { warm: false });
    pub warm: Option<bool>,
    /// Limits in addition to the time limit. A note names a limit that was exceeded.
    ///
    /// @default none
    /// @example await bash('npm test', { limits: { memoryBytes: 2 * 1024 ** 3, cpuSeconds: 600 } });
    pub limits: Option<RawLimits>,
    /// Whether `result.receipt` lists the command's changes: files, directories, ports and git repositories.
    ///
    /// `'watch'` does not affect the command: this process follows the directories of the repository of `cwd` (or of
    /// `cwd`). It does not see other places, and lists what changed while the command ran. `'exact'` records every
    /// change of the command's own processes, wherever it is, before it happens. The command then runs without new
    /// privileges. A command that calls `sudo` gets `'watch'` instead, with a note, and so does every command on macOS.
    ///
    /// A command that starts a background task has its receipt in `BackgroundCheck`.
    ///
    /// @default 'off'
    /// @example const { receipt } = await bash('npm test', { receipt: 'watch' });
    pub receipt: ReceiptLevel,
    /// Whether the files that the command changes are kept, so that `undo(result.runId)` can take the changes back.
    /// `'risky'` keeps the files of commands whose verdict is warn or ask, and of commands that are known to delete
    /// files or to overwrite what exists. `'always'` keeps the files of each command. Such a command has a receipt,
    /// `'exact'`.
    ///
    /// `result.undo` says whether the undo covers all files. No undo is kept for a command in `/` or in the home
    /// directory itself. An object sets details, and with `require` refuses a command whose undo would not cover
    /// everything: `ERR_BASH_UNDO`.
    ///
    /// @default 'off'
    /// @example const { runId } = await bash('git clean -fd', { undo: 'risky' });
    #[serde(deserialize_with = "undo")]
    #[cfg_attr(test, schemars(with = "WordOr<UndoWhen, RawUndo>"))]
    pub undo: Option<RawUndo>,
    /// Whether `result.evidence` has the end of each part of the command, and the failures that its exit code hides, as
    /// that of `npm test | tail -5` hides failing tests. The command is not changed. `'status'` watches the command's
    /// shell. `'tree'` also watches the tree of `cwd`, up to the top of its repository, and says what changed since a
    /// check passed.
    ///
    /// A command in the background has its evidence in `BackgroundCheck`, once it has ended.
    ///
    /// @default 'off'; 'status' for the tools for models and MCP
    /// @example const { evidence } = await bash('npm test 2>&1 | tail -5', { evidence: 'status' });
    pub evidence: EvidenceLevel,
    /// Whether the whole output of a pipeline's first program is kept, as that of `npm test` in `npm test | tail -5`:
    /// `result.evidence.tap` says where. The command is not changed: what the program writes flows through this
    /// process. It needs `evidence`, a pipeline that is the whole command, alone or behind `cd X &&`, and as its first
    /// element one simple command that is worth it: no `cat`, `grep` or `git log`.
    ///
    /// At most `spill.maxBytes` are kept, and no more than the store of outputs holds, until it needs the room or this
    /// process ends. `evidence.tests` counts the tests in the whole output. Commands in a terminal and in the
    /// background have no tap.
    ///
    /// @default 'off'; 'on' for `createBashTool` and MCP, unless they have `onAfterRun`, which does not see what is
    /// kept
    /// @example const { evidence } = await bash('npm test | tail -5', { evidence: 'status', taps: 'on' });
    pub taps: TapSwitch,
    /// Rules that name more commands that are checks, as `allow` of `decide` has them: `'./ci.sh'` names this command
    /// without other words, `'task verify:*'` all that begin with these words. Known test runners, linters, type
    /// checkers and builds are checks anyway. Their runs are in `evidence.checks` and `listChecks`. A rule that names
    /// no command is `ERR_BASH_INVALID_ARG`.
    ///
    /// @default []
    /// @example await bash('./ci.sh', { evidence: 'status', checks: ['./ci.sh'] });
    pub checks: Vec<String>,
    /// Whether a stored result may be given in place of a run: that of the same command in this process, if nothing
    /// that it depends on is known to have changed since. `result.reused` labels it. The command runs if in doubt, and
    /// with `fresh`. With `taps` the output that a program wrote also goes through other filters: after `npm test |
    /// tail`, that of `npm test | grep FAIL`. An object sets details. It implies `evidence: 'tree'`.
    ///
    /// Commands that only read may be given again, those that `commands` names, and those whose confinement reaches no
    /// host and writes inside of the tree only. A command in a terminal or in the background always runs, and so does
    /// one whose streams an adapter reads and writes while it runs.
    ///
    /// @default 'off'
    /// @example await bash('npm test', { reuse: { commands: ['npm test:*'] } });
    #[serde(deserialize_with = "reuse")]
    #[cfg_attr(test, schemars(with = "WordOr<ReuseSwitch, RawReuse>"))]
    pub reuse: Option<RawReuse>,
    /// Whether the command runs whatever `reuse` has stored. Its result may be given again later.
    ///
    /// @default false
    /// @example await bash('npm test', { reuse: { commands: ['npm test:*'] }, fresh: true });
    pub fresh: bool,
    /// Whether the command has an entry in the ledger, the record on disk that `readLedger` and `agent-bash log` read.
    /// If this option is left out, `AGENT_BASH_LEDGER`, `on` or `off`, decides. Secrets are taken out of the command. A
    /// ledger that cannot be written costs the entry and never the command, and is a note once per process.
    ///
    /// @default false; true for the tools for models, MCP and `agent-bash run`
    /// @example await bash('npm publish', { ledger: true });
    pub ledger: bool,
    /// The parties that ask for the command, for the ledger and for subscribers.
    ///
    /// @default none
    /// @example await bash('npm test', { ledger: true, actor: { agent: 'reviewer', user: 'ada' } });
    #[cfg_attr(test, schemars(with = "String", extend("x-type" = "Actor", "x-check" = "ACTOR")))]
    pub actor: Option<Actor>,

    /// The caller's variables, by name. `None` removes a variable.
    #[cfg_attr(test, schemars(skip))]
    pub env: Vec<(String, Option<String>)>,
    /// Variables of this command of a session alone. `None` removes a variable.
    #[cfg_attr(test, schemars(skip))]
    pub own_env: Vec<(String, Option<String>)>,
    /// Whether the listener gets live output.
    #[cfg_attr(test, schemars(skip))]
    pub live: bool,
    /// Set if the caller reads and writes the streams of the command itself.
    #[cfg_attr(test, schemars(skip))]
    pub streams: Option<CallerStreamOptions>,
    /// Whether the listener gets live views.
    #[cfg_attr(test, schemars(skip))]
    pub snapshots: bool,
    /// Whether the listener gets an event when the command is blocked on input.
    #[cfg_attr(test, schemars(skip))]
    pub prompts: bool,
    /// Whether the listener gets an event with the pid when the command runs.
    #[cfg_attr(test, schemars(skip))]
    pub starts: bool,
    /// Whether the caller gave the command up before it began.
    #[cfg_attr(test, schemars(skip))]
    pub aborted: bool,
    /// The number of the registry in its host.
    #[cfg_attr(test, schemars(skip))]
    #[serde(rename = "registry")]
    pub registry_number: Option<u32>,
    /// `safety`, as given.
    #[cfg_attr(test, schemars(skip))]
    pub safety: RawSafety,
    /// The reach of the command. `None`: no confinement.
    #[cfg_attr(test, schemars(skip))]
    pub confine: Option<RawWorld>,
    /// The draft in which the command runs. `None`: it runs in none.
    #[cfg_attr(test, schemars(skip))]
    pub draft: Option<DraftName>,
    /// What commands of the draft may use of this host.
    #[cfg_attr(test, schemars(skip))]
    pub credentials: DraftCredentials,
    /// Whether the command was the producer of a pipeline whose filter was taken away.
    #[cfg_attr(test, schemars(skip))]
    pub is_producer: bool,
    /// Most bytes that the store of outputs keeps of a tap. `None`: it has no bound of its own.
    #[cfg_attr(test, schemars(skip))]
    pub tap_bytes: Option<u64>,
    /// The reduction of the text that a model reads. `None`: no view is made.
    #[cfg_attr(test, schemars(skip))]
    pub reduce: Option<RawReduction>,
    /// Where a person has approved the command: `host` or `page`.
    #[cfg_attr(test, schemars(skip))]
    pub decided_by: Option<String>,

    /// The command, as it goes to the shell.
    #[serde(skip)]
    pub command: String,
    /// The directory to start in, absolute.
    #[serde(skip)]
    pub cwd: String,
    /// The name of the run. `None`: it gets a new one.
    #[serde(skip)]
    pub mark: Option<String>,
    /// The host's environment: `NAME=VALUE`, each ended by a NUL.
    #[serde(skip)]
    pub host_env: String,
    /// The host's file mode creation mask.
    #[serde(skip)]
    pub umask: u32,
    /// Bytes for standard input.
    #[serde(skip)]
    pub stdin: Option<Vec<u8>>,
    /// The registry of the command's tasks.
    #[serde(skip)]
    pub registry: Option<Arc<TaskRegistry>>,
    /// Whether the command starts in the background, whatever the mode.
    #[serde(skip)]
    pub background: bool,
    /// The safety rules. `None`: the command is not judged.
    #[serde(skip)]
    pub guard: Option<SafetyCriteria>,
    /// The code that the shell runs beyond a plain shell.
    #[serde(skip)]
    pub startup: Option<ShellStartup>,
    /// The terminal in which the command runs.
    #[serde(skip)]
    pub terminal: Option<Arc<CommandTerminal>>,
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
        self.undo.as_ref().is_some_and(|undo| undo.when != UndoWhen::Off) || self.receipt == ReceiptLevel::Exact
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

/// The reaction to the limit of time or of silence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnTimeout {
    /// The tree is ended.
    Kill,
    /// The command becomes a task, if it has a registry.
    #[default]
    Background,
}

/// How the changes of a command are recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReceiptLevel {
    /// Not at all.
    #[default]
    Off,
    /// By a watch of directories.
    Watch,
    /// Each change, before it happens.
    Exact,
}

/// How much evidence a result has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EvidenceLevel {
    /// None.
    #[default]
    Off,
    /// The end of each part of the command.
    Status,
    /// Also the changes of the tree since a check.
    Tree,
}

/// Whether the output of a pipeline's first program is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TapSwitch {
    /// It is not.
    #[default]
    Off,
    /// It is, if the command is such a pipeline.
    On,
}

/// Which commands can be undone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum UndoWhen {
    /// None.
    Off,
    /// Those that are known to delete or overwrite.
    #[default]
    Risky,
    /// All.
    Always,
}

/// `undo`, as given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "UndoOptions", extend("x-order" = fields_of::<RawUndo>())))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawUndo {
    /// The commands that can be undone. `'always'`: all commands. `'risky'`: commands whose verdict is warn or ask, and
    /// commands that are known to delete files or to overwrite what exists (`rm`, `mv`, `sed -i`, `git checkout` …).
    ///
    /// @default 'risky'
    /// @example await bash('make clean', { undo: { when: 'always' } });
    #[cfg_attr(test, schemars(extend("enum" = ["risky", "always"])))]
    pub when: UndoWhen,
    /// Whether a command whose undo would not cover all files is refused with `ERR_BASH_UNDO`. A file that turns out
    /// too large while the command runs then fails to change (EDQUOT). Without it the command runs, and a note reports
    /// this.
    ///
    /// @default false
    /// @example await bash('rm -rf build', { undo: { require: true } });
    pub require: bool,
    /// The largest file that is copied before it is written to, in bytes. A file that is only removed or replaced needs
    /// no copy, and may be larger.
    ///
    /// @example await bash('sed -i s/a/b/ big.csv', { undo: { maxFileBytes: 1024 ** 3 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = UNDO_FILE_BYTES.number.least, max = UNDO_FILE_BYTES.number.most), extend("default" = UNDO_FILE_BYTES.default, "x-check" = "wholeNumber(1)")))]
    pub max_file_bytes: Option<f64>,
    /// The most that is kept for one run, in bytes.
    ///
    /// @example await bash('npm run format', { undo: { when: 'always', maxBytes: 100 * 1024 ** 2 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = UNDO_RUN_BYTES.number.least, max = UNDO_RUN_BYTES.number.most), extend("default" = UNDO_RUN_BYTES.default, "x-check" = "wholeNumber(1)")))]
    pub max_bytes: Option<f64>,
    /// The most that the store may take of the disk, in bytes. Files count in whole blocks, with their inodes. Before
    /// and after a command, the oldest runs that exceed this size are removed; see `undoPoints`.
    ///
    /// @example await bash('git clean -fd', { undo: { storeBytes: 500 * 1024 ** 2 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = UNDO_STORE_BYTES.number.least, max = UNDO_STORE_BYTES.number.most), extend("default" = UNDO_STORE_BYTES.default, "x-check" = "wholeNumber(1)")))]
    pub store_bytes: Option<f64>,
    /// The directory of the store, made with mode 0700 if it is missing. An existing directory must be empty or a
    /// store. A relative path is resolved against `process.cwd()`. `undo` and `undoPoints` need the same `dir`.
    ///
    /// @default `$XDG_STATE_HOME/agent-bash/undo`, else `~/.local/state/agent-bash/undo`
    /// @example await bash('rm notes.txt', { undo: { dir: '/srv/agent/undo' } });
    #[cfg_attr(test, schemars(extend("x-check" = "path")))]
    pub dir: Option<String>,
}

/// Whether a stored result may take the place of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReuseSwitch {
    /// Each command runs.
    Off,
    /// It may, if nothing that it depends on is known to have changed.
    #[default]
    Verified,
}

/// Options of the re-use of results.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ReuseOptions", extend("x-order" = fields_of::<RawReuse>())))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawReuse {
    /// The word that was given.
    #[serde(skip)]
    pub switch: ReuseSwitch,
    /// Rules that name commands whose results depend on nothing but their tree, as `checks` has them: the host vouches
    /// for it. A command with a redirect into a file is not named by them.
    ///
    /// @default []
    /// @example await bash('npm test', { reuse: { commands: ['npm test:*', './ci.sh'] } });
    pub commands: Vec<String>,
    /// The highest age of a result, in ms.
    ///
    /// @example await bash('npm test', { reuse: { commands: ['npm test:*'], maxAgeMs: 600_000 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = REUSE_AGE_MS.number.least, max = REUSE_AGE_MS.number.most), extend("default" = REUSE_AGE_MS.default)))]
    pub max_age_ms: Option<f64>,
    /// The most bytes of all stored outputs; the oldest go first. An output of more than a quarter of it is not stored.
    /// Most of it lies in files without names, which end with the process.
    ///
    /// @example await bash('npm test', { reuse: { commands: ['npm test:*'], storeBytes: 16_777_216 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = REUSE_STORE_BYTES.number.least, max = REUSE_STORE_BYTES.number.most), extend("default" = REUSE_STORE_BYTES.default)))]
    pub store_bytes: Option<f64>,
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

/// The end of a stream that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptEnd {
    /// The end.
    Tail,
    /// The beginning.
    Head,
    /// Both ends of a stream that is too long.
    Ends,
}

/// `truncate`, as given. Its type in TypeScript is a union, which `ts/output.ts` has.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RawTruncate {
    /// `truncate.keep`
    #[cfg_attr(test, schemars(skip))]
    pub keep: KeptEnd,
    /// `truncate.maxLines`
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

/// How output is cleaned.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SanitizeOptions", extend("x-order" = fields_of::<RawSanitize>())))]
#[serde(deny_unknown_fields)]
struct RawSanitize {
    /// Whether escape sequences are removed.
    ///
    /// @default true
    /// @example await bash('ls --color=always', { sanitize: { ansi: false } });
    ansi: Option<bool>,
    /// `'collapse'` shows a progress line as a terminal would in the end, `'keep'` delivers it as it comes.
    ///
    /// @default 'collapse'
    /// @example await bash('curl -O https://example.com/file', { sanitize: { progress: 'keep' } });
    #[serde(default)]
    progress: ProgressWord,
}

/// How a progress line is shown.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum ProgressWord {
    #[default]
    Collapse,
    Keep,
}

/// Where whole output goes.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SpillOptions", extend("x-order" = fields_of::<RawSpill>())))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawSpill {
    /// The directory of the files, made with mode 0700 if it is missing.
    ///
    /// @default a private directory below `TMPDIR`
    /// @example await bash('npm test', { spill: { dir: '/var/tmp/agent-output' } });
    pub dir: Option<String>,
    /// The most that a file may hold, in bytes. The file of a longer stream keeps the beginning.
    ///
    /// @example await bash('npm test', { spill: { maxBytes: 10 * 1024 ** 2 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = SPILL_MAX_BYTES.number.least, max = SPILL_MAX_BYTES.number.most), extend("default" = SPILL_MAX_BYTES.default)))]
    pub max_bytes: Option<f64>,
    /// Age in ms from which files of this package are removed when a new one is written.
    ///
    /// @example await bash('npm test', { spill: { retentionMs: 3_600_000 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = SPILL_RETENTION_MS.number.least, max = SPILL_RETENTION_MS.number.most), extend("default" = SPILL_RETENTION_MS.default)))]
    pub retention_ms: Option<f64>,
    /// Gives the place in an artifact store of the host, when a stream overflows. `null` or a throw sets `spillError`,
    /// and the command goes on.
    ///
    /// @default none: a file in `dir`
    /// @example await bash('npm test', { spill: { allocate: (stream) => store.place(`${stream}.log`) } });
    #[cfg_attr(test, schemars(extend(
        "x-type" = "((stream: 'stdout' | 'stderr') => { id: string; path: string } | null)",
        "x-check" = "type('function')"
    )))]
    pub allocate: bool,
}

/// An option that is a flag or an object.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    Ok(match FlagOr::<RawSanitize>::deserialize(from)? {
        FlagOr::Flag(on) => cleaned().filter(|_| on),
        FlagOr::More(RawSanitize { ansi, progress }) => {
            let progress = match progress {
                ProgressWord::Collapse => ProgressLineHandling::Collapse,
                ProgressWord::Keep => ProgressLineHandling::Keep,
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum WordOr<W, T> {
    Word(W),
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
        WordOr::Word(switch) => RawReuse { switch, ..RawReuse::default() },
        WordOr::More(reuse) => reuse,
    }))
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Box::<RawValue>::deserialize(from)?.get().to_owned())
}

#[cfg(test)]
#[path = "raw_tests.rs"]
mod tests;
