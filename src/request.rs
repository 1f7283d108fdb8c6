//! From raw options to a request that can be run as it stands.

mod raw;

use std::borrow::Cow;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::background::{DAY, Order, Registry};
use crate::capture::{Limits, Progress, Sanitize, Truncate};
use crate::error::Error;
use crate::plan::{Environment, RawLimits, Startup};
use crate::pty::Terminal;
use crate::{plan, sys};

pub use raw::{Guard, RawOptions, RawSnapshot, RawSpill, RawTruncate, Streams};

/// The longest argument that a program can be given, bytes.
const MAX_ARGUMENT: usize = 131_071;
/// The longest command, bytes.
const MAX_COMMAND: usize = 64 * 1024 * 1024;
/// A day, the longest time limit, ms.
const MAX_LIMIT: f64 = 86_400_000.0;
const MAX_GRACE: f64 = 15_000.0;
const DEFAULT_GRACE: Duration = Duration::from_secs(2);
const DEFAULT_SNAPSHOT: Duration = Duration::from_millis(250);
const DEFAULT_SPILL: u64 = 1 << 30;
const DEFAULT_RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The largest whole number that JavaScript counts exactly.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// A checked request.
pub struct Request {
    /// The command.
    pub command: String,
    /// Its positional parameters.
    pub args: Vec<String>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// What it inherits and is given.
    pub environment: Arc<Environment>,
    /// The folder for temporary files.
    pub temp: PathBuf,
    /// The shell that was asked for.
    pub shell: Option<String>,
    /// Names the command in files, and marks its processes.
    pub mark: String,
    #[expect(missing_docs, reason = "as in the plan")]
    pub umask: u32,
    #[expect(missing_docs, reason = "as in the plan")]
    pub stdin: Option<Vec<u8>>,
    #[expect(missing_docs, reason = "as in the plan")]
    pub merge: bool,
    #[expect(missing_docs, reason = "as in the plan")]
    pub limit: Option<Duration>,
    #[expect(missing_docs, reason = "as in the plan")]
    pub grace: Duration,
    #[expect(missing_docs, reason = "as in the plan")]
    pub limits: plan::Limits,
    /// What is kept of each stream.
    pub truncate: Truncate,
    /// How it is cleaned.
    pub sanitize: Option<Sanitize>,
    /// Where it goes whole; `None`: nowhere.
    pub spill: Option<Spill>,
    /// Live output is wanted.
    pub live: bool,
    /// The caller has its streams as such, and hears of its start and its end.
    pub streams: Option<Streams>,
    /// Live snapshots are wanted this often.
    pub snapshots: Option<Duration>,
    /// The caller hears when it waits for somebody.
    pub prompts: bool,
    /// The caller hears when it runs, and as which process.
    pub starts: bool,
    /// Given up before it began.
    pub aborted: bool,
    /// Where its tasks go.
    pub registry: Option<Arc<Registry>>,
    /// At its limit it moves to the background.
    pub to_background: bool,
    /// It is started in the background.
    pub background: bool,
    /// How it is judged before it starts.
    pub guard: Option<Guard>,
    /// What was found out before it started: one fact a line of its outcome.
    pub notes: Vec<String>,
    /// It runs in this terminal.
    pub terminal: Option<Arc<Terminal>>,
    /// A shell that waits already may run it.
    pub warm: bool,
    /// What its shell reads before it and does at its end, where it is not a plain one.
    pub startup: Option<Startup>,
    /// Where its shell says that the command has ended, before it has itself.
    pub report: Option<OwnedFd>,
}

/// Where whole output goes.
#[derive(Debug, Clone)]
pub struct Spill {
    /// Who says where.
    pub place: SpillPlace,
    /// The most a file may hold, bytes.
    pub max_bytes: u64,
    /// How old a file may become.
    pub retention: Duration,
}

/// Who says where whole output goes.
#[derive(Debug, Clone)]
pub enum SpillPlace {
    /// A private folder of ours below the one for temporary files.
    Private,
    /// A folder of the caller's.
    Folder(PathBuf),
    /// The caller's artifact store.
    Allocated,
}

impl Request {
    /// Checks every value.
    ///
    /// # Errors
    /// [`Error::InvalidArg`] that names the option, its value and what it may be.
    pub fn check(raw: RawOptions) -> Result<Self, Error> {
        if raw.command.contains('\0') {
            return Err(Error::InvalidArg("the command holds a NUL character, which no shell can be given".into()));
        }
        if raw.command.len() > MAX_COMMAND {
            let length = raw.command.len();
            return Err(Error::InvalidArg(format!("the command has {length} bytes; at most 64 MiB can be run")));
        }
        if let Some(argument) = raw.args.iter().find(|argument| argument.contains('\0')) {
            return Err(Error::InvalidArg(format!("args: {argument:?} holds a NUL character")));
        }
        if raw.cwd.contains('\0') {
            return Err(Error::InvalidArg(format!("cwd: {:?} holds a NUL character", raw.cwd)));
        }
        let background = raw.background || raw.mode.as_deref() == Some("background");
        let in_terminal = raw.terminal.is_some();
        if in_terminal && (background || raw.stdin.is_some()) {
            let what =
                if background { "a task has none" } else { "what it reads is typed: use write instead of stdin" };
            return Err(Error::InvalidArg(format!("a command in a terminal: {what}")));
        }
        let to_background = raw.to_background && raw.registry.is_some() && !background && !in_terminal;
        let limit = match (raw.timeout_ms, raw.mode.as_deref()) {
            (Some(ms), _) => Some(millis("timeoutMs", ms, 1.0, MAX_LIMIT)?),
            (None, None | Some("default" | "slow")) if in_terminal => None,
            (None, _) if background => Some(DAY),
            (None, None | Some("default")) if to_background => Some(Duration::from_secs(120)),
            (None, None | Some("default")) => Some(Duration::from_secs(30)),
            (None, Some("slow")) => Some(Duration::from_secs(15 * 60)),
            (None, Some(other)) => {
                return Err(Error::InvalidArg(format!("mode: {other:?} is not one of default, slow, background")));
            }
        };
        let grace = raw.grace_ms.map_or(Ok(DEFAULT_GRACE), |ms| millis("graceMs", ms, 0.0, MAX_GRACE))?;
        let limits = raw.limits.as_ref().map_or(Ok(plan::Limits::default()), check_limits)?;
        let interval =
            raw.snapshot_ms.map_or(Ok(DEFAULT_SNAPSHOT), |ms| millis("snapshotIntervalMs", ms, 10.0, 60_000.0))?;
        let truncate = raw.truncate.as_ref().map_or(Ok(Truncate::default()), check_truncate)?;
        let spill = raw.spill.map(check_spill).transpose()?;
        let environment = plan::environment(raw.host_env, raw.inherit, raw.env, in_terminal)?;
        let temp = environment.host_temp.as_deref().unwrap_or("/tmp").into();
        Ok(Self {
            command: raw.command,
            args: raw.args,
            cwd: raw.cwd.into(),
            terminal: raw.terminal,
            warm: !raw.cold && !environment.cold && !in_terminal,
            environment,
            temp,
            shell: raw.shell,
            mark: plan::next_mark(),
            umask: raw.umask & 0o777,
            stdin: if raw.streams.is_some_and(|streams| streams.fed) { Some(Vec::new()) } else { raw.stdin },
            merge: raw.merge,
            limit,
            grace,
            limits,
            truncate,
            sanitize: raw.sanitize,
            spill,
            live: raw.live,
            streams: raw.streams,
            snapshots: raw.snapshots.then_some(interval),
            prompts: raw.prompts,
            starts: raw.starts || in_terminal || raw.streams.is_some(),
            aborted: raw.aborted,
            registry: raw.registry,
            to_background,
            background,
            guard: raw.guard,
            notes: Vec::new(),
            startup: raw.startup,
            report: None,
        })
    }

    /// Whether it goes on in the background once it has reached its limit.
    pub fn may_move(&self) -> bool {
        self.to_background
    }

    /// Whether its standard input is written while it runs.
    pub fn is_fed(&self) -> bool {
        self.streams.is_some_and(|streams| streams.fed)
    }

    /// The limit that its shim keeps. At the caller's own the addon acts first where it has something else to do.
    pub fn shim_limit(&self) -> Option<Duration> {
        if self.may_move() { Some(DAY) } else { self.limit }
    }

    /// What a shim is told of it, should it be a task. `limit` `None`: a day.
    pub fn order(&self, limit: Option<Duration>) -> Option<Order> {
        let registry = self.registry.as_ref()?;
        Some(registry.order(&self.command, &self.cwd.to_string_lossy(), self.sanitize, limit))
    }

    /// The command as its shell gets it.
    pub fn text(&self) -> Cow<'_, str> {
        match self.startup.as_ref().and_then(|startup| startup.tail.as_ref()) {
            // Behind an `eval` that broke off, bash knows no reserved word on the very next line.
            Some(tail) => Cow::Owned(format!("{}\n\n{tail}", self.command)),
            None => Cow::Borrowed(&self.command),
        }
    }

    /// Whether the command is too long for an argument and reaches the shell as a script.
    pub fn is_script(&self) -> bool {
        self.text().len() > MAX_ARGUMENT
    }

    /// The shell's arguments, and where among them the path of the script goes.
    pub fn argv(&self) -> (Vec<Vec<u8>>, Option<u32>) {
        // Messages of bash begin with its name; another shell goes by its own, a busybox even by nothing else.
        let name = self.shell.as_deref().and_then(|shell| shell.rsplit('/').next()).unwrap_or("bash");
        let mut argv: Vec<Vec<u8>> = vec![name.as_bytes().to_vec()];
        if name == "bash" && self.environment.over_ssh {
            argv.push(b"--norc".to_vec());
        }
        let script_at = if self.is_script() {
            argv.push(Vec::new());
            u32::try_from(argv.len() - 1).ok()
        } else {
            argv.push(b"-c".to_vec());
            if self.command.starts_with(['-', '+']) {
                argv.push(b"--".to_vec());
            }
            argv.push(self.text().into_owned().into_bytes());
            if !self.args.is_empty() {
                argv.push(name.as_bytes().to_vec());
            }
            None
        };
        argv.extend(self.args.iter().map(|argument| argument.clone().into_bytes()));
        (argv, script_at)
    }
}

fn whole(name: &str, value: f64, least: f64, most: f64) -> Result<f64, Error> {
    if value.fract() == 0.0 && value >= least && value <= most {
        return Ok(value);
    }
    Err(Error::InvalidArg(format!("{name}: {value} is not a whole number from {least} to {most}")))
}

fn count(name: &str, value: f64, least: f64) -> Result<u64, Error> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
    whole(name, value, least, MAX_SAFE).map(|value| value as u64)
}

fn millis(name: &str, value: f64, least: f64, most: f64) -> Result<Duration, Error> {
    whole(name, value, least, most).map(|ms| Duration::from_secs_f64(ms / 1000.0))
}

/// What is kept of a stream.
///
/// # Errors
/// [`Error::InvalidArg`] that names the limit, its value and what it may be.
pub fn check_truncate(raw: &RawTruncate) -> Result<Truncate, Error> {
    let at_least_one = |name: &str, value: Option<f64>| value.map(|value| count(name, value, 1.0)).transpose();
    let limits = Limits {
        max_lines: at_least_one("truncate.maxLines", raw.max_lines)?,
        max_bytes: at_least_one("truncate.maxBytes", raw.max_bytes)?,
        max_chars: at_least_one("truncate.maxChars", raw.max_chars)?,
    };
    match raw.keep.as_str() {
        "tail" => Ok(Truncate::Tail(limits)),
        "head" => Ok(Truncate::Head(limits)),
        "ends" => {
            let needed = |name: &str, value: Option<f64>| {
                at_least_one(name, value)?.ok_or_else(|| Error::InvalidArg(format!("{name} is missing")))
            };
            let max_bytes = needed("truncate.maxBytes", raw.max_bytes)?;
            let head_bytes = needed("truncate.headBytes", raw.head_bytes)?;
            let tail_bytes = needed("truncate.tailBytes", raw.tail_bytes)?;
            if head_bytes.saturating_add(tail_bytes) > max_bytes {
                return Err(Error::InvalidArg(format!(
                    "truncate: headBytes {head_bytes} and tailBytes {tail_bytes} are more than maxBytes {max_bytes}"
                )));
            }
            Ok(Truncate::Ends { max_bytes, head_bytes, tail_bytes })
        }
        other => Err(Error::InvalidArg(format!("truncate.keep: {other:?} is not one of tail, head, ends"))),
    }
}

fn check_limits(raw: &RawLimits) -> Result<plan::Limits, Error> {
    let limits = plan::Limits::check(raw).map_err(Error::InvalidArg)?;
    if limits.over_tree() && !sys::can_sample() {
        let missing = "limits: cpuSeconds, memoryBytes and processes cannot be held here, where /proc does not list the \
                       children of a process";
        return Err(Error::Unsupported(missing.into()));
    }
    Ok(limits)
}

fn check_spill(raw: RawSpill) -> Result<Spill, Error> {
    let place = match raw.dir {
        _ if raw.allocate => SpillPlace::Allocated,
        Some(dir) if dir.contains('\0') => {
            return Err(Error::InvalidArg(format!("spill.dir: {dir:?} holds a NUL character")));
        }
        Some(dir) => SpillPlace::Folder(dir.into()),
        None => SpillPlace::Private,
    };
    let max_bytes = raw.max_bytes.map_or(Ok(DEFAULT_SPILL), |bytes| count("spill.maxBytes", bytes, 1.0))?;
    let retention =
        raw.retention_ms.map_or(Ok(DEFAULT_RETENTION), |ms| millis("spill.retentionMs", ms, 0.0, MAX_SAFE))?;
    Ok(Spill { place, max_bytes, retention })
}

/// How [`Sanitize`] is given: `None` leaves everything but the decoding out.
pub fn sanitize(on: bool, ansi: bool, keep_progress: bool) -> Option<Sanitize> {
    let progress = if keep_progress { Progress::Keep } else { Progress::Collapse };
    on.then_some(Sanitize { ansi, progress })
}
