//! Options as they cross from JavaScript, where their types were checked.

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use super::reduce::NativeReduction;
use super::safety::NativeSafety;
use protocol::plan::{Inherit, RawLimits};
use runner::request::{self, RawOptions, RawReduction, RawSnapshot, RawSpill, RawTruncate, RawUndo, RawWorld, Streams};

/// One command, as it was given to `Bridge.start`: one by one, since every property of an object costs time to cross.
pub struct NativeRequest {
    /// The command.
    pub command: String,
    /// An absolute path.
    pub cwd: String,
    /// `process.env` of the calling thread: `NAME=VALUE`, each ended by a NUL. `None` if that is the environment of the
    /// process itself.
    pub host_env: Option<String>,
    /// `process.umask()`
    pub umask: u32,
    /// Options that differ from the defaults.
    pub options: NativeOptions,
}

/// Options of one command that differ from the defaults. It mirrors the public options, one field for each, since every
/// key that crosses costs time.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct NativeOptions {
    /// Its positional parameters.
    pub args: Option<Vec<String>>,
    /// Names and values in turn.
    pub env: Option<Vec<String>>,
    /// Names to remove.
    pub env_removed: Option<Vec<String>>,
    /// `safe`, `all` or `none`.
    pub inherit: Option<String>,
    /// Exactly these names.
    pub inherit_names: Option<Vec<String>>,
    /// `default`, `slow` or `background`.
    pub mode: Option<String>,
    /// ms
    pub timeout_ms: Option<f64>,
    /// ms
    pub idle_timeout_ms: Option<f64>,
    /// ms
    pub grace_ms: Option<f64>,
    /// Bytes for standard input.
    pub stdin: Option<Uint8Array>,
    /// One pipe for both streams.
    pub merge: Option<bool>,
    /// The part of each stream that is kept.
    pub truncate: Option<NativeTruncate>,
    /// Output is decoded and left as it is.
    pub raw: Option<bool>,
    /// Escape sequences are kept.
    pub keep_ansi: Option<bool>,
    /// Progress lines are kept as they come.
    pub keep_progress: Option<bool>,
    /// Where whole output goes.
    pub spill: Option<NativeSpill>,
    /// Whole output goes nowhere.
    pub no_spill: Option<bool>,
    /// Live output is wanted.
    pub live: Option<bool>,
    /// The caller handles the streams itself: `started` and `exited` are sent.
    pub streams: Option<bool>,
    /// With `streams` and `raw`: live output is bytes, each a character from U+0000 to U+00FF.
    pub bytes: Option<bool>,
    /// With `streams`: its standard input is written by `Bridge.feed`.
    pub fed: Option<bool>,
    /// Live snapshots are wanted.
    pub snapshots: Option<bool>,
    /// How often, ms.
    pub snapshot_ms: Option<f64>,
    /// `prompt` is sent when the command is blocked on input.
    pub prompts: Option<bool>,
    /// `started` is sent with the process id.
    pub starts: Option<bool>,
    /// Its resource limits.
    pub limits: Option<NativeLimits>,
    /// The shell.
    pub shell: Option<String>,
    /// The signal was aborted already.
    pub aborted: Option<bool>,
    /// The registry of its tasks, by its number.
    pub registry: Option<u32>,
    /// At its limit it moves to the background.
    pub to_background: Option<bool>,
    /// How it is judged before it starts.
    pub safety: Option<NativeSafety>,
    /// No warm shell may run it.
    pub cold: Option<bool>,
    /// The user's own shell is wanted: an absolute path of an rc file, empty for those of the user.
    pub snapshot: Option<String>,
    /// The reach of the command: `ConfineOptions` as JSON, whose many shapes cross as one value.
    pub confine: Option<String>,
    /// With `confine`: the owner of its world, by the number of a `NativeOwner`. Left out: the host's plain calls.
    pub owner: Option<u32>,
    /// With `confine`: the directory of that owner, an absolute path. Left out: `cwd`.
    pub root: Option<String>,
    /// With `confine`: the owner is the registry, and joins the worlds of its running tasks.
    pub joins: Option<bool>,
    /// How the command is recorded.
    #[napi(ts_type = "'off' | 'watch' | 'exact'")]
    pub receipt: Option<String>,
    /// Whether it can be undone.
    pub undo: Option<NativeUndo>,
    /// How far the text that a model reads is reduced.
    pub reduce: Option<NativeReduction>,
}

/// `UndoOptions` of the contract.
#[napi(object, object_to_js = false)]
pub struct NativeUndo {
    /// The commands that can be undone.
    #[napi(ts_type = "'off' | 'risky' | 'always'")]
    pub when: String,
    /// A command that an undo would not cover in full is refused.
    pub require: Option<bool>,
    /// At least 1. The largest file that is copied.
    pub max_file_bytes: Option<f64>,
    /// At least 1. Bytes that are kept of one command.
    pub max_bytes: Option<f64>,
    /// At least 1. Bytes that are kept of all commands.
    pub store_bytes: Option<f64>,
    /// The directory of the store, absolute. Left out: that of the user.
    pub dir: Option<String>,
}

/// `BashLimits` of the contract.
#[napi(object, object_to_js = false)]
pub struct NativeLimits {
    /// Above 0.
    pub cpu_seconds: Option<f64>,
    /// At least 1.
    pub memory_bytes: Option<f64>,
    /// At least 1.
    pub processes: Option<f64>,
    /// At least 1.
    pub open_files: Option<f64>,
    /// At least 1.
    pub file_bytes: Option<f64>,
}

/// `Truncate` of the contract.
#[napi(object, object_to_js = false)]
pub struct NativeTruncate {
    /// `tail`, `head` or `ends`.
    pub keep: String,
    /// At least 1.
    pub max_lines: Option<f64>,
    /// At least 1.
    pub max_bytes: Option<f64>,
    /// At least 1, UTF-16 units.
    pub max_chars: Option<f64>,
    /// At least 1.
    pub head_bytes: Option<f64>,
    /// At least 1.
    pub tail_bytes: Option<f64>,
}

/// `SpillOptions` of the contract.
#[napi(object, object_to_js = false)]
pub struct NativeSpill {
    /// A directory.
    pub dir: Option<String>,
    /// bytes
    pub max_bytes: Option<f64>,
    /// ms
    pub retention_ms: Option<f64>,
    /// Whether the caller says where.
    pub allocate: Option<bool>,
}

impl From<NativeRequest> for RawOptions {
    fn from(native: NativeRequest) -> Self {
        let NativeRequest { command, cwd, host_env, umask, options: given } = native;
        let is = |flag: Option<bool>| flag.unwrap_or(false);
        let spill = (!is(given.no_spill)).then(|| given.spill.map(RawSpill::from).unwrap_or_default());
        let inherit = match (given.inherit_names, given.inherit.as_deref()) {
            (Some(names), _) => Inherit::Names(names),
            (None, Some("all")) => Inherit::All,
            (None, Some("none")) => Inherit::None,
            (None, _) => Inherit::Safe,
        };
        let mut env: Vec<(String, Option<String>)> = Vec::new();
        let mut pairs = given.env.unwrap_or_default().into_iter();
        while let (Some(name), Some(value)) = (pairs.next(), pairs.next()) {
            env.push((name, Some(value)));
        }
        env.extend(given.env_removed.unwrap_or_default().into_iter().map(|name| (name, None)));
        Self {
            command,
            args: given.args.unwrap_or_default(),
            cwd,
            host_env: host_env.unwrap_or_else(sys::environment),
            env,
            inherit,
            mode: given.mode,
            timeout_ms: given.timeout_ms,
            idle_timeout_ms: given.idle_timeout_ms,
            grace_ms: given.grace_ms,
            umask,
            stdin: given.stdin.map(|bytes| bytes.to_vec()),
            merge: is(given.merge),
            truncate: given.truncate.map(RawTruncate::from),
            sanitize: request::sanitize(!is(given.raw), !is(given.keep_ansi), is(given.keep_progress)),
            spill,
            live: is(given.live),
            streams: is(given.streams).then(|| Streams { bytes: is(given.bytes), fed: is(given.fed) }),
            snapshots: is(given.snapshots),
            snapshot_ms: given.snapshot_ms,
            prompts: is(given.prompts),
            starts: is(given.starts),
            limits: given.limits.map(RawLimits::from),
            shell: given.shell,
            aborted: is(given.aborted),
            // `Calls` knows the registry by its number, and makes the guard where it can report an error.
            registry: None,
            to_background: is(given.to_background),
            background: false,
            guard: None,
            cold: is(given.cold),
            startup: None,
            terminal: None,
            snapshot: given.snapshot.map(snapshot),
            confine: given.confine.map(|options| {
                let owner = given.owner.map_or(0, u64::from);
                RawWorld { options, owner, root: given.root, joins: is(given.joins) }
            }),
            receipt: given.receipt,
            undo: given.undo.map(RawUndo::from),
            reduce: given.reduce.map(RawReduction::from),
        }
    }
}

fn snapshot(file: String) -> RawSnapshot {
    if file.is_empty() { RawSnapshot::User } else { RawSnapshot::File(file) }
}

impl From<NativeUndo> for RawUndo {
    fn from(native: NativeUndo) -> Self {
        Self {
            when: native.when,
            require: native.require.unwrap_or(false),
            max_file_bytes: native.max_file_bytes,
            max_bytes: native.max_bytes,
            store_bytes: native.store_bytes,
            dir: native.dir,
        }
    }
}

impl From<NativeLimits> for RawLimits {
    fn from(native: NativeLimits) -> Self {
        Self {
            cpu_seconds: native.cpu_seconds,
            memory_bytes: native.memory_bytes,
            processes: native.processes,
            open_files: native.open_files,
            file_bytes: native.file_bytes,
        }
    }
}

impl From<NativeTruncate> for RawTruncate {
    fn from(native: NativeTruncate) -> Self {
        Self {
            keep: native.keep,
            max_lines: native.max_lines,
            max_bytes: native.max_bytes,
            max_chars: native.max_chars,
            head_bytes: native.head_bytes,
            tail_bytes: native.tail_bytes,
        }
    }
}

impl From<NativeSpill> for RawSpill {
    fn from(native: NativeSpill) -> Self {
        Self {
            dir: native.dir,
            max_bytes: native.max_bytes,
            retention_ms: native.retention_ms,
            allocate: native.allocate.unwrap_or(false),
        }
    }
}
