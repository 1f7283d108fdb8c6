//! The events that the core sends to one JavaScript thread.

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use serde::Serialize;
use serde_json::Value;

use super::confinement::Confinement;
use super::evidence::SerializedEvidence;
use super::ledger::NativeLedgerBatch;
use super::prompt::BashPrompt;
use super::receipt::{Receipt, UndoCoverage};
use super::result::{
    BackgroundTask, BashResult, BashSnapshot, NativeAnswer, NativeCheck, NativeError, OutputChunk, TerminalWaited,
};
use super::undo::{UndoPoint, Undone};
use runner::error::RunError;
use runner::run::outcome::{CommandOutcome, ReusedRun};

/// One event of one call or registry. The number beside the event names the call or registry.
///
/// The last event of a call is `result`, `error`, `task`, `check`, `done`, `warm`, `waited`, `undone`, `undoPoints`,
/// `checks`, `ledger`, `answered`, `connected`, `read` or `told`. A registry sends `taskExited` and `taskOutput`, a
/// target `targetChanged`, a pool `watched`. All others come from a command that is still running.
#[napi(discriminant = "kind", discriminant_case = "camelCase", object_from_js = false)]
#[expect(clippy::large_enum_variant, reason = "an event is moved once and never kept")]
pub enum NativeEvent {
    /// A command has ended.
    Result {
        /// `BashResult.stdout`
        stdout: String,
        /// `BashResult.stderr`
        stderr: String,
        /// All other fields of the `BashResult`, as JSON, with `evidence` and `reused`.
        rest: String,
        /// The current directory of the session. `None` for a command without a session.
        cwd: Option<String>,
    },
    /// Nothing could be run, or a call failed.
    Error {
        /// The reason.
        error: NativeError,
    },
    /// A task was started.
    Task {
        /// The task.
        task: BackgroundTask,
    },
    /// A task was checked, awaited or killed.
    Check {
        /// The new part of the task's log.
        check: NativeCheck,
    },
    /// A registry was closed, a session was reset, or a terminal has taken its input.
    Done,
    /// A warm-up has ended.
    Warm {
        /// Whether a warm shell is ready.
        ready: bool,
    },
    /// A wait for a terminal has ended.
    Waited {
        /// The reason.
        waited: TerminalWaited,
    },
    /// A run was undone.
    Undone {
        /// The result of the undo.
        undone: Undone,
    },
    /// The undo points.
    UndoPoints {
        /// The newest first.
        points: Vec<UndoPoint>,
    },
    /// The run that an undo without a named run takes back.
    NewestToUndo {
        /// The run. `None`: there is nothing to undo.
        run: Option<String>,
    },
    /// The checks of this process.
    Checks {
        /// The newest first, as JSON.
        checks: String,
    },
    /// Entries of the ledger were read.
    Ledger {
        /// The entries.
        batch: NativeLedgerBatch,
    },
    /// A question was answered, or nobody is there to answer.
    Answered {
        /// The answer. `None`: the question was withdrawn, or no page is there.
        answer: Option<NativeAnswer>,
    },
    /// A target is connected.
    Connected {
        /// The number of the target.
        target: u32,
        /// The name in results.
        id: String,
        /// The kind of its address.
        #[napi(js_name = "targetKind")]
        target_kind: String,
    },
    /// A file of a target was read.
    Read {
        /// Its bytes. `None`: it is missing.
        bytes: Option<Uint8Array>,
    },
    /// Someone watches this process, and wants reports of a pool.
    Watched,
    /// A target has answered, or a registry has listed its tasks.
    Told {
        /// The answer as JSON.
        answer: String,
    },
    /// The shell runs. Sent with the option `starts` or `streams`, and for a terminal, which waits for
    /// `NativeTerminal.ready`.
    Started {
        /// Process id of the shell.
        pid: i32,
        /// The directory that the shell was started in.
        cwd: String,
    },
    /// Live output; acknowledged by `Bridge.outputTaken`.
    Output {
        /// The text and its stream.
        chunk: OutputChunk,
    },
    /// A live view; acknowledged by `Bridge.snapshotTaken`.
    Snapshot {
        /// The command as it looks now.
        snapshot: BashSnapshot,
    },
    /// The command is blocked on input; acknowledged by `Bridge.promptTaken`.
    Prompt {
        /// The blocked process.
        prompt: BashPrompt,
    },
    /// A whole stream needs a file; answered by `Bridge.allocated`.
    Allocate {
        /// The stream.
        #[napi(ts_type = "'stdout' | 'stderr'")]
        stream: String,
    },
    /// The shell of a command with the option `streams` has exited. The rest of its pipes and `result` follow.
    Exited,
    /// The last `Bridge.feed` was written.
    Fed {
        /// Whether the command still reads its standard input.
        open: bool,
    },
    /// Output of a terminal as its program wrote it; acknowledged by `NativeTerminal.dataTaken`.
    Data {
        /// Whole characters, escape sequences included.
        text: String,
    },
    /// A task of a registry has ended.
    TaskExited {
        /// The task.
        task: BackgroundTask,
        /// The confinement of the task, with all denials; `null` if the task was not confined.
        confinement: Option<Confinement>,
        /// Names the run of the task's command.
        run_id: String,
        /// The changes that the task's command made; `null` if no receipt was wanted.
        receipt: Option<Receipt>,
        /// The extent of the task's undo; `null` if the task cannot be undone.
        undo: Option<UndoCoverage>,
        /// What the task's command proved, as JSON; `null` if that was not wanted.
        evidence: Option<String>,
    },
    /// The state of a target has changed.
    TargetChanged {
        /// What has happened.
        #[napi(ts_type = "'connected' | 'disconnected' | 'reconnected' | 'lost' | 'closed'")]
        turn: String,
        /// The reason, in words. Empty with a new link.
        reason: String,
        /// How long there was no link, ms. `None`: there was one.
        #[napi(js_name = "downMs")]
        down_ms: Option<f64>,
        /// The names of the runs whose end will not be known.
        lost: Vec<String>,
    },
    /// A task of a registry has written; acknowledged by `NativeRegistry.outputTaken`.
    TaskOutput {
        /// The task.
        task: BackgroundTask,
        /// At most 64 KiB of UTF-8.
        text: String,
    },
}

/// A result, with what is no type of napi.
#[derive(Serialize)]
struct SerializedResult<'a> {
    #[serde(flatten)]
    result: BashResult,
    evidence: Option<SerializedEvidence<'a>>,
    reused: Option<ReusedRun>,
}

impl NativeEvent {
    /// Returns the event of an answer.
    pub fn from_answer(answer: &Value) -> Self {
        Self::Told { answer: answer.to_string() }
    }

    /// Makes the event for the end of a command. `cwd` is the current directory of its session, if it has one, and
    /// `target` the one that ran it.
    pub fn result(mut outcome: CommandOutcome, cwd: Option<String>, target: Option<&str>) -> Self {
        let (evidence, tap, reused) = (outcome.evidence.take(), outcome.tap.take(), outcome.reused.take());
        let mut result = BashResult::of(outcome, target);
        let (stdout, stderr) = (std::mem::take(&mut result.stdout), std::mem::take(&mut result.stderr));
        let evidence = evidence.as_ref().map(|parts| SerializedEvidence::of(parts, tap.as_ref()));
        let rest = SerializedResult { result, evidence, reused };
        let rest = serde_json::to_string(&rest).unwrap_or_default();
        Self::Result { stdout, stderr, rest, cwd }
    }
}

impl From<RunError> for NativeEvent {
    fn from(error: RunError) -> Self {
        Self::Error { error: error.into() }
    }
}
