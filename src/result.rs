//! Results as they cross to JavaScript: plain data. Results of commands and lists of tasks cross as JSON, because a
//! text crosses faster than an object with its properties.

use napi_derive::napi;
use serde::Serialize;

use super::confinement::{ConfineMissing, Confinement};
use super::receipt::{Receipt, UndoCoverage};
use super::reduce::NativeView;
use protocol::task::{self, TaskStore};
use runner::error::RunError;
use runner::run;
use runner::run::outcome::{CommandOutcome, CommandStatus};

/// The end and the output of a command: plain own-property data, whole after `structuredClone` and a JSON round trip.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BashResult {
    /// The kept part of standard output as sanitized text, with its notice. With `merge`, of both streams.
    #[serde(skip)]
    pub stdout: String,
    /// The kept part of standard error. Empty with `merge`.
    #[serde(skip)]
    pub stderr: String,
    /// 0…255. 128+n after signal n, 124 after the time limit, 130 after an abort, `null` only when `'backgrounded'`.
    pub exit_code: Option<i32>,
    /// How the command ended.
    #[napi(ts_type = "'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded' | 'lost'")]
    pub status: String,
    /// The signal that ended the shell (`'SIGKILL'`), after a time limit too, or `null` if it exited with a code.
    pub signal: Option<String>,
    /// Process id of the shell, also its process group id; 0 if nothing was started.
    pub pid: i32,
    /// Time from the start of the shell to its exit, in ms.
    pub duration_ms: f64,
    /// The time limit that applied, in ms, counted from the start of the process.
    pub timeout_ms: Option<f64>,
    /// How each stream was cut.
    pub truncation: BashTruncation,
    /// The task that the command became when `'backgrounded'`, otherwise `null`.
    pub background: Option<BackgroundTask>,
    /// Processes that the command left running after the exit of its shell. They are not ended. With a registry, the
    /// survivors that still hold the command's pipes become one task, whose log has the rest of their output. Without a
    /// registry, their later writes are discarded without an error.
    pub survivors: Vec<Survivor>,
    /// Resources of the command's processes. Resources of survivors count up to the exit of the shell.
    pub usage: BashUsage,
    /// The reach of the command, and the denials; `null` if it was not confined.
    pub confinement: Option<Confinement>,
    /// Facts that the caller or the model should know, one per entry.
    pub notes: Vec<String>,
    /// Permanent name of this run: the value of `AGENT_BASH_ID` in its processes, and the argument of `undo`.
    pub run_id: String,
    /// The changes that the command made; `null` if no receipt was wanted, or the command goes on in the background.
    pub receipt: Option<Receipt>,
    /// The extent of `undo`; `null` if the command cannot be undone, or goes on in the background.
    pub undo: Option<UndoCoverage>,
    /// The text that a model reads; `null` if none was wanted, or nothing is gained.
    pub view: Option<NativeView>,
    /// The name of the target that ran the command; `null` for this machine.
    pub target: Option<String>,
    /// The id of the draft in which the command ran; `null` outside of drafts.
    pub draft: Option<String>,
}

/// How each stream was cut, or `null` if its text is the whole stream.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BashTruncation {
    /// Of standard output.
    pub stdout: Option<Truncation>,
    /// Of standard error.
    pub stderr: Option<Truncation>,
}

/// Resources that a command used.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BashUsage {
    /// CPU time in user mode, in ms.
    pub user_ms: f64,
    /// CPU time in the kernel, in ms.
    pub system_ms: f64,
    /// The largest resident size of one process, in bytes.
    pub max_rss_bytes: f64,
}

/// How a stream was cut. The figures are of the sanitized stream without the notice.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// The policy: which part was kept.
    #[napi(ts_type = "'tail' | 'head' | 'ends'")]
    pub keep: String,
    /// The limit that was hit first.
    #[napi(ts_type = "'lines' | 'bytes' | 'chars'")]
    pub by: String,
    /// Number of lines of the stream, including an unfinished last line.
    pub total_lines: f64,
    /// Bytes of the stream.
    pub total_bytes: f64,
    /// Number of shown lines, including cut lines.
    pub output_lines: f64,
    /// Bytes shown.
    pub output_bytes: f64,
    /// First line shown, 1-based (`'ends'`: of the head part, then see `notice`).
    pub first_line: f64,
    /// Last line shown, 1-based.
    pub last_line: f64,
    /// Whether the first (tail) or last (head) shown line is cut.
    pub partial_line: bool,
    /// The file with the whole sanitized stream, or `null` if it was not written.
    pub path: Option<String>,
    /// The id that `spill.allocate` gave, or `null`.
    pub artifact_id: Option<String>,
    /// The reason why the file is incomplete or missing, at most 80 bytes, or `null`.
    pub spill_error: Option<String>,
    /// The notice that was added to the text.
    pub notice: String,
}

/// A process that a command left running.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Survivor {
    /// The process id.
    pub pid: i32,
    /// The command line, at most 200 characters.
    pub command: String,
    /// The task that the process belongs to from now on, or `null` if the process no longer holds the command's pipes
    /// or there is no registry.
    pub task_id: Option<String>,
}

/// A command that goes on in the background.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackgroundTask {
    /// Names the task in its registry.
    pub id: String,
    /// Process id of the shell, or of the eldest process if the task was adopted. 0 only if the task was lost before
    /// its pid was known.
    pub pid: i32,
    /// The process group of that process.
    pub pgid: i32,
    /// The command as the caller gave it. For an adopted task, the command line of its eldest process.
    pub command: String,
    /// The absolute directory that the task was started in.
    pub cwd: String,
    /// Absolute path of the log: all output as sanitized text, and at the end one line that says how the task ended.
    pub log_path: String,
    /// Unix time in ms.
    pub started_at: f64,
    /// `'exited'` by itself, `'killed'` by `kill`, a signal or a limit, `'lost'` if the end of the task was not
    /// observed, because the machine was restarted or the task's helper process was killed.
    #[napi(ts_type = "'running' | 'exited' | 'killed' | 'lost'")]
    pub state: String,
    /// As in a `BashResult`. `null` while the task runs and after it was lost.
    pub exit_code: Option<i32>,
    /// The signal that ended the task, or the strongest signal that was sent (`'SIGTERM'`). `null` if the task exited
    /// by itself.
    pub signal: Option<String>,
    /// Unix time in ms; `null` while the task runs.
    pub ended_at: Option<f64>,
    /// The name of the target that runs the task, whose paths and pids these are; `null` for this machine.
    pub target: Option<String>,
    /// The id of the draft in which the task runs; `null` outside of drafts.
    pub draft: Option<String>,
}

/// One check of a task.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct NativeCheck {
    /// The task at that time.
    pub task: BackgroundTask,
    /// The output in the task's log since the last check, cut like a result, without the closing line.
    pub output: String,
    /// Number of lines of that output before the cut, including an unfinished last line.
    pub new_lines: f64,
    /// The position up to which the log was read: an offset in bytes, for the `cursor` of a later check.
    pub cursor: f64,
    /// How the output was cut, or `null`.
    pub truncation: Option<Truncation>,
    /// Whether the awaited pattern or port appeared.
    pub matched: bool,
    /// The process that has the awaited port, if it does not belong to the task, such as a server that was left before.
    /// `null` otherwise, and if that is not known.
    pub stranger: Option<PortStranger>,
    /// The parts that the task's confinement holds, and all denials so far; `null` if the task is not confined.
    pub confinement: Option<Confinement>,
    /// Permanent name of the task's run, for `undo`; `null` while the task runs.
    pub run_id: Option<String>,
    /// The changes that the task's command made; `null` while the task runs, and if no receipt was wanted.
    pub receipt: Option<Receipt>,
    /// The extent of `undo`; `null` while the task runs, and if it cannot be undone.
    pub undo: Option<UndoCoverage>,
    /// `BackgroundCheck.evidence` as JSON.
    pub evidence: Option<String>,
}

/// A process that listens at the port of a wait and does not belong to the task.
#[napi(object, object_from_js = false)]
pub struct PortStranger {
    /// Its process id.
    pub pid: i32,
    /// Its command line.
    pub command: String,
}

/// A piece of live output.
#[napi(object, object_from_js = false)]
pub struct OutputChunk {
    /// The stream. With `merge` always `'stdout'`.
    #[napi(ts_type = "'stdout' | 'stderr'")]
    pub stream: String,
    /// Sanitized text, at most 64 KiB of UTF-8, never cut inside a character.
    pub text: String,
}

/// The current state of a running command.
#[napi(object, object_from_js = false)]
pub struct BashSnapshot {
    /// Process id of the shell, also its process group id.
    pub pid: i32,
    /// The last 8 KiB of sanitized standard output, the unfinished line included.
    pub stdout: String,
    /// The last 8 KiB of sanitized standard error, the unfinished line included. Empty with `merge`.
    pub stderr: String,
    /// Time since the start of the process, in ms.
    pub duration_ms: f64,
}

/// The result of a wait.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct TerminalWaited {
    /// The event that came first.
    #[napi(ts_type = "'exit' | 'idle' | 'pattern' | 'timeout'")]
    pub reason: String,
    /// As in `BashResult`; `null` while the program runs.
    pub exit_code: Option<i32>,
}

/// The reason why nothing could be run.
#[napi(object, object_from_js = false)]
pub struct NativeError {
    /// The stable code.
    pub code: String,
    /// The problem, the value, and a remedy.
    pub message: String,
    /// The error of the system (`EAGAIN`), if there is one.
    pub errno: Option<String>,
    /// The reasons why a command was refused: `Finding[]` as JSON.
    pub findings: Option<String>,
    /// The parts of a confinement that cannot be held: `ConfineMissing[]` as JSON.
    pub missing: Option<String>,
    /// The name of a target that cannot be used.
    pub target: Option<String>,
    /// Why a target cannot be used: `TargetReason`.
    pub reason: Option<String>,
    /// What the transport of a target has said.
    pub stderr: Option<String>,
}

#[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles; exact up to 2^53")]
fn number(value: u64) -> f64 {
    value as f64
}

fn millis(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

impl BashResult {
    /// Converts the outcome of a command on this target; `None` for this machine.
    pub fn of(outcome: CommandOutcome, target: Option<&str>) -> Self {
        let status = match outcome.status {
            CommandStatus::Exited => "exited",
            CommandStatus::Signaled => "signaled",
            CommandStatus::TimedOut => "timed-out",
            CommandStatus::Aborted => "aborted",
            CommandStatus::Backgrounded => "backgrounded",
            CommandStatus::Lost => "lost",
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
            background: outcome.background.map(|(task, store)| BackgroundTask::of(task, &store, target)),
            survivors: outcome.survivors.into_iter().map(Survivor::from).collect(),
            usage: BashUsage {
                user_ms: number(outcome.usage.user_us) / 1000.0,
                system_ms: number(outcome.usage.system_us) / 1000.0,
                max_rss_bytes: number(outcome.usage.max_rss),
            },
            confinement: outcome.confinement.map(Confinement::from),
            notes: outcome.notes.into_iter().map(plain).collect(),
            run_id: outcome.run,
            receipt: outcome.receipt.map(Receipt::from),
            undo: outcome.undo.map(UndoCoverage::from),
            view: outcome.view.map(NativeView::from),
            draft: outcome.draft,
            target: target.map(str::to_owned),
        }
    }
}

impl From<capture::StreamTruncation> for Truncation {
    fn from(cut: capture::StreamTruncation) -> Self {
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

impl From<(protocol::SurvivingProcess, Option<String>)> for Survivor {
    fn from((survivor, task_id): (protocol::SurvivingProcess, Option<String>)) -> Self {
        Self { pid: survivor.pid, command: survivor.command, task_id }
    }
}

impl BackgroundTask {
    /// Converts a task on this target; `None` for this machine. `store` is the directory of its files.
    pub fn of(task: task::Task, store: &TaskStore, target: Option<&str>) -> Self {
        let log = store.log_path(&task.id);
        let state = match task.state {
            task::TaskState::Running => "running",
            task::TaskState::Exited => "exited",
            task::TaskState::Killed => "killed",
            task::TaskState::Lost => "lost",
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
            target: target.map(str::to_owned),
            draft: task.draft,
        }
    }
}

impl NativeCheck {
    /// Converts a check of this task.
    pub fn of(check: runner::registry::TaskCheck, task: BackgroundTask) -> Self {
        let confinement = check.task.confinement.clone().map(Confinement::from);
        let recorded = check.recorded.as_deref();
        Self {
            confinement,
            run_id: (!check.task.is_running()).then(|| check.task.mark.clone()),
            receipt: recorded.and_then(|recorded| recorded.receipt.clone()).map(Receipt::from),
            undo: recorded.and_then(|recorded| recorded.undo.clone()).map(UndoCoverage::from),
            evidence: check.evidence.as_deref().map(super::evidence::evidence_json),
            task,
            output: check.output,
            new_lines: number(check.new_lines),
            cursor: number(check.cursor),
            truncation: check.truncation.map(Truncation::from),
            matched: check.matched,
            stranger: check.stranger.map(|stranger| PortStranger { pid: stranger.pid, command: stranger.command }),
        }
    }
}

impl From<run::LiveView> for BashSnapshot {
    fn from(snapshot: run::LiveView) -> Self {
        Self {
            pid: snapshot.pid,
            stdout: snapshot.stdout,
            stderr: snapshot.stderr,
            duration_ms: millis(snapshot.elapsed),
        }
    }
}

impl From<RunError> for NativeError {
    fn from(error: RunError) -> Self {
        let findings = match &error {
            RunError::Blocked { findings, .. } => serde_json::to_string(findings).ok(),
            _ => None,
        };
        let (code, message, errno) = (error.code().to_owned(), plain(error.to_string()), error.errno());
        let reason = match &error {
            RunError::Draft(fault) => Some(fault.reason.name().to_owned()),
            _ => None,
        };
        let missing = match error {
            RunError::Confinement(missing) => {
                let missing: Vec<_> = missing.into_iter().map(ConfineMissing::from).collect();
                serde_json::to_string(&missing).ok()
            }
            _ => None,
        };
        Self { code, message, errno, findings, missing, target: None, reason, stderr: None }
    }
}

/// Removes Rust's number of a system error, ` (os error 13)`, behind the words of the error.
fn plain(mut text: String) -> String {
    const MARK: &str = " (os error ";
    let mut from = 0;
    while let Some(at) = text[from..].find(MARK).map(|at| from + at) {
        let digits = text[at + MARK.len()..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + MARK.len() + digits;
        from = end;
        if digits > 0 && text[end..].starts_with(')') {
            text.replace_range(at..=end, "");
            from = at;
        }
    }
    text
}

/// The answer of a person to a question.
#[napi(object, object_from_js = false)]
pub struct NativeAnswer {
    /// Whether the command may run.
    pub approved: bool,
    /// The person's words.
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn the_words_of_a_system_error_stay_alone() {
        for (text, expected) in [
            ("/x: Permission denied (os error 13)", "/x: Permission denied"),
            ("a (os error 2) (os error 13); b (os error 1)", "a; b"),
            ("echo '(os error x)' (os error ) (os error 1", "echo '(os error x)' (os error ) (os error 1"),
        ] {
            assert_eq!(plain(text.to_owned()), expected);
        }
    }
}
