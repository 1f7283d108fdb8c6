//! Options as they cross from JavaScript, where their types were checked.

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::plan::Inherit;
use crate::request::{self, RawOptions, RawSpill, RawTruncate};

/// One command; what is left out has its default.
#[napi(object, object_to_js = false)]
pub struct NativeRequest {
    /// The command.
    pub command: String,
    /// Its positional parameters.
    pub args: Option<Vec<String>>,
    /// An absolute path.
    pub cwd: String,
    /// `process.env` of the calling thread: `NAME=VALUE`, each ended by a NUL.
    pub host_env: String,
    /// Names and values in turn; a name without a value stands in `env_removed`.
    pub env: Option<Vec<String>>,
    /// Names to remove.
    pub env_removed: Option<Vec<String>>,
    /// `safe`, `all` or `none`.
    pub inherit: Option<String>,
    /// Exactly these names.
    pub inherit_names: Option<Vec<String>>,
    /// `default` or `slow`.
    pub mode: Option<String>,
    /// ms
    pub timeout_ms: Option<f64>,
    /// ms
    pub grace_ms: Option<f64>,
    /// `process.umask()`
    pub umask: u32,
    /// Bytes for standard input.
    pub stdin: Option<Uint8Array>,
    /// One pipe for both streams.
    pub merge: Option<bool>,
    /// What is kept.
    pub truncate: Option<NativeTruncate>,
    /// Whether output is cleaned at all.
    pub sanitize: Option<bool>,
    /// Whether escape sequences are kept.
    pub keep_ansi: Option<bool>,
    /// Whether progress lines are kept as they come.
    pub keep_progress: Option<bool>,
    /// Where whole output goes; left out: nowhere.
    pub spill: Option<NativeSpill>,
    /// Whether live output is wanted.
    pub live: Option<bool>,
    /// Live snapshots are wanted, every so many ms.
    pub snapshot_ms: Option<f64>,
    /// The shell.
    pub shell: Option<String>,
    /// The signal was aborted already.
    pub aborted: Option<bool>,
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
    /// A folder.
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
        let inherit = match (native.inherit_names, native.inherit.as_deref()) {
            (Some(names), _) => Inherit::Names(names),
            (None, Some("all")) => Inherit::All,
            (None, Some("none")) => Inherit::None,
            (None, _) => Inherit::Safe,
        };
        let mut env: Vec<(String, Option<String>)> = Vec::new();
        let mut pairs = native.env.unwrap_or_default().into_iter();
        while let (Some(name), Some(value)) = (pairs.next(), pairs.next()) {
            env.push((name, Some(value)));
        }
        env.extend(native.env_removed.unwrap_or_default().into_iter().map(|name| (name, None)));
        Self {
            command: native.command,
            args: native.args.unwrap_or_default(),
            cwd: native.cwd,
            host_env: native.host_env,
            env,
            inherit,
            mode: native.mode,
            timeout_ms: native.timeout_ms,
            grace_ms: native.grace_ms,
            umask: native.umask,
            stdin: native.stdin.map(|bytes| bytes.to_vec()),
            merge: native.merge.unwrap_or(false),
            truncate: native.truncate.map(RawTruncate::from),
            sanitize: request::sanitize(
                native.sanitize.unwrap_or(true),
                !native.keep_ansi.unwrap_or(false),
                native.keep_progress.unwrap_or(false),
            ),
            spill: native.spill.map(RawSpill::from),
            live: native.live.unwrap_or(false),
            snapshot_ms: native.snapshot_ms,
            shell: native.shell,
            aborted: native.aborted.unwrap_or(false),
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
