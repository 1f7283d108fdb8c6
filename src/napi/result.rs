//! Results as they cross to JavaScript: plain data.

use napi_derive::napi;

use crate::background::{self, Store};
use crate::capture;
use crate::error::Error;
use crate::outcome::{Outcome, Status};
use crate::run;
use crate::supervise;

/// How a command ended and what it wrote: plain own-property data, whole after `structuredClone` and a JSON round trip.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct BashResult {
    /// What is kept of standard output as sanitized text, with its notice; with `merge` of both streams.
    pub stdout: String,
    /// What is kept of standard error; empty with `merge`.
    pub stderr: String,
    /// 0…255; 128+n after signal n; 124 after the time limit; 130 after an abort; `null` only when `'backgrounded'`.
    pub exit_code: Option<i32>,
    /// How it ended.
    #[napi(ts_type = "'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded'")]
    pub status: String,
    /// What really ended the shell (`'SIGKILL'`), or `null` when it ended with an exit code; after a time limit too.
    pub signal: Option<String>,
    /// Process id of the shell, also its process group id; 0 if nothing was started.
    pub pid: i32,
    /// From the start of the shell to its end, in ms.
    pub duration_ms: f64,
    /// The limit that held, in ms, counted from the start of the process.
    pub timeout_ms: Option<f64>,
    /// How each stream was cut.
    pub truncation: BashTruncation,
    /// The task that it is, when `'backgrounded'`; else `null`.
    pub background: Option<BackgroundTask>,
    /// Processes that the command left running after the shell ended. They are not ended. With a registry those that
    /// still hold the command's pipes become one task, whose log has the rest of their output; without one their later
    /// writes go nowhere and hurt nobody.
    pub survivors: Vec<Survivor>,
    /// What the command's processes used; those that it left running, up to the end of the shell.
    pub usage: BashUsage,
    /// One fact a line that the caller or the model should know.
    pub notes: Vec<String>,
}

/// How each stream was cut; `null` where the text is the whole stream.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct BashTruncation {
    /// Of standard output.
    pub stdout: Option<Truncation>,
    /// Of standard error.
    pub stderr: Option<Truncation>,
}

/// Resources that a command used.
#[napi(object, object_from_js = false)]
pub struct BashUsage {
    /// CPU time in user mode, in ms.
    pub user_ms: f64,
    /// CPU time in the kernel, in ms.
    pub system_ms: f64,
    /// The largest resident size of one process, in bytes.
    pub max_rss_bytes: f64,
}

/// How a stream was cut. Figures are of the sanitized stream and leave the notice out.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Truncation {
    /// What was kept.
    #[napi(ts_type = "'tail' | 'head' | 'ends'")]
    pub keep: String,
    /// The limit that was hit first.
    #[napi(ts_type = "'lines' | 'bytes' | 'chars'")]
    pub by: String,
    /// Lines of the stream, an unfinished last one included.
    pub total_lines: f64,
    /// Bytes of the stream.
    pub total_bytes: f64,
    /// Lines shown, cut ones included.
    pub output_lines: f64,
    /// Bytes shown.
    pub output_bytes: f64,
    /// First line shown, 1-based (`'ends'`: of the head part, then see `notice`).
    pub first_line: f64,
    /// Last line shown, 1-based.
    pub last_line: f64,
    /// The first (tail) or last (head) line shown is cut.
    pub partial_line: bool,
    /// The whole sanitized stream, when it was written out; `null` when it was not.
    pub path: Option<String>,
    /// The id that `spill.allocate` gave, or `null`.
    pub artifact_id: Option<String>,
    /// Why the file is incomplete or missing, at most 80 bytes, or `null`.
    pub spill_error: Option<String>,
    /// The words that were added to the text.
    pub notice: String,
}

/// A process that a command left running.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Survivor {
    /// Its process id.
    pub pid: i32,
    /// Its command line, at most 200 characters.
    pub command: String,
    /// The task that it belongs to from now on, or `null`: it let go of the command's pipes, or there is no registry.
    pub task_id: Option<String>,
}

/// A command that goes on in the background.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct BackgroundTask {
    /// Names the task in its registry.
    pub id: String,
    /// Process id of its shell; of an adopted one that of its eldest process. 0 only of one that was lost before anybody
    /// knew it.
    pub pid: i32,
    /// The process group of that process.
    pub pgid: i32,
    /// As it was given; of an adopted one the command line of its eldest process.
    pub command: String,
    /// The folder it was started in, absolute.
    pub cwd: String,
    /// Its log, absolute: all it wrote as sanitized text, and at the end one line that says how it ended.
    pub log_path: String,
    /// Unix time in ms.
    pub started_at: f64,
    /// `'exited'` by itself; `'killed'` by `kill`, a signal or a limit; `'lost'` when nobody saw its end: the machine was
    /// restarted, or its helper process was killed.
    #[napi(ts_type = "'running' | 'exited' | 'killed' | 'lost'")]
    pub state: String,
    /// As in a `BashResult`; `null` while it runs and when it was lost.
    pub exit_code: Option<i32>,
    /// What ended it, or the strongest that was sent to end it (`'SIGTERM'`); `null` when it ended by itself.
    pub signal: Option<String>,
    /// Unix time in ms; `null` while it runs.
    pub ended_at: Option<f64>,
}

/// A look at a task.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct BackgroundCheck {
    /// As it was at that time.
    pub task: BackgroundTask,
    /// What is new in its log since the last look, cut like a result; without the closing line.
    pub output: String,
    /// Lines of that before the cut, an unfinished last one included.
    pub new_lines: f64,
    /// Up to where the log was read: an offset in bytes, for the `cursor` of a later check.
    pub cursor: f64,
    /// How it was cut, or `null`.
    pub truncation: Option<Truncation>,
    /// Whether the pattern or the port was there that was waited for.
    pub matched: bool,
}

/// A piece of live output.
#[napi(object, object_from_js = false)]
pub struct OutputChunk {
    /// Where it was written; with `merge` always `'stdout'`.
    #[napi(ts_type = "'stdout' | 'stderr'")]
    pub stream: String,
    /// Sanitized text, at most 64 KiB of UTF-8, never cut inside a character.
    pub text: String,
}

/// A running command as it looks now.
#[napi(object, object_from_js = false)]
pub struct BashSnapshot {
    /// Process id of the shell, also its process group id.
    pub pid: i32,
    /// The last 8 KiB of sanitized standard output, the unfinished line included.
    pub stdout: String,
    /// The same of standard error; empty with `merge`.
    pub stderr: String,
    /// Since the start of the process, in ms.
    pub duration_ms: f64,
}

/// Why nothing could be run.
#[napi(object, object_from_js = false)]
pub struct NativeError {
    /// The stable code.
    pub code: String,
    /// What was wrong, with which value, and what to do.
    pub message: String,
    /// The system's error (`EAGAIN`), where there is one.
    pub errno: Option<String>,
    /// Why a command was not let through: `Finding[]` as JSON.
    pub findings: Option<String>,
}

#[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles; exact up to 2^53")]
fn number(value: u64) -> f64 {
    value as f64
}

fn millis(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

impl From<Outcome> for BashResult {
    fn from(outcome: Outcome) -> Self {
        let status = match outcome.status {
            Status::Exited => "exited",
            Status::Signaled => "signaled",
            Status::TimedOut => "timed-out",
            Status::Aborted => "aborted",
            Status::Backgrounded => "backgrounded",
        };
        let [stdout, stderr] = outcome.truncation.map(|truncation| truncation.map(Truncation::from));
        Self {
            stdout: outcome.stdout,
            stderr: outcome.stderr,
            exit_code: outcome.exit_code,
            status: status.to_owned(),
            signal: outcome.signal,
            pid: outcome.pid,
            duration_ms: millis(outcome.duration),
            timeout_ms: outcome.limit.map(millis),
            truncation: BashTruncation { stdout, stderr },
            background: outcome.background.map(|(task, store)| BackgroundTask::of(task, &store)),
            survivors: outcome.survivors.into_iter().map(Survivor::from).collect(),
            usage: BashUsage {
                user_ms: number(outcome.usage.user_us) / 1000.0,
                system_ms: number(outcome.usage.system_us) / 1000.0,
                max_rss_bytes: number(outcome.usage.max_rss),
            },
            notes: outcome.notes,
        }
    }
}

impl From<capture::Truncation> for Truncation {
    fn from(cut: capture::Truncation) -> Self {
        Self {
            keep: cut.keep.name().to_owned(),
            by: cut.by.name().to_owned(),
            total_lines: number(cut.total_lines),
            total_bytes: number(cut.total_bytes),
            output_lines: number(cut.output_lines),
            output_bytes: number(cut.output_bytes),
            first_line: number(cut.first_line),
            last_line: number(cut.last_line),
            partial_line: cut.partial_line,
            path: cut.path.map(|path| path.to_string_lossy().into_owned()),
            artifact_id: cut.artifact_id,
            spill_error: cut.spill_error,
            notice: cut.notice,
        }
    }
}

impl From<(supervise::Survivor, Option<String>)> for Survivor {
    fn from((survivor, task_id): (supervise::Survivor, Option<String>)) -> Self {
        Self { pid: survivor.pid, command: survivor.command, task_id }
    }
}

impl BackgroundTask {
    /// A task and the folder of its files.
    pub fn of(task: background::Task, store: &Store) -> Self {
        let log = store.log_path(&task.id);
        let state = match task.state {
            background::State::Running => "running",
            background::State::Exited => "exited",
            background::State::Killed => "killed",
            background::State::Lost => "lost",
        };
        Self {
            id: task.id,
            pid: task.pid,
            pgid: task.pgid,
            command: task.command,
            cwd: task.cwd,
            log_path: log.to_string_lossy().into_owned(),
            started_at: number(task.started_at),
            state: state.to_owned(),
            exit_code: task.exit_code,
            signal: task.signal,
            ended_at: task.ended_at.map(number),
        }
    }
}

impl BackgroundCheck {
    /// A look and the folder of the task's files.
    pub fn of(check: background::Check, store: &Store) -> Self {
        Self {
            task: BackgroundTask::of(check.task, store),
            output: check.output,
            new_lines: number(check.new_lines),
            cursor: number(check.cursor),
            truncation: check.truncation.map(Truncation::from),
            matched: check.matched,
        }
    }
}

impl From<run::Snapshot> for BashSnapshot {
    fn from(snapshot: run::Snapshot) -> Self {
        Self {
            pid: snapshot.pid,
            stdout: snapshot.stdout,
            stderr: snapshot.stderr,
            duration_ms: millis(snapshot.elapsed),
        }
    }
}

impl From<Error> for NativeError {
    fn from(error: Error) -> Self {
        let findings = match &error {
            Error::Blocked { findings, .. } => serde_json::to_string(findings).ok(),
            _ => None,
        };
        Self { code: error.code().to_owned(), message: error.to_string(), errno: error.errno(), findings }
    }
}
