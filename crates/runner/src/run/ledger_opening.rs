//! The entry of a run in the ledger, as the addon begins it. The shim writes it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::error::RunError;
use crate::ledger_writes::append_in_background;
use crate::request::{CommandRequest, LedgerEntryDraft, PlannedRun};
use crate::supervise::HelperProcesses;
use ledger::{
    Actor, LedgerError, LedgerLine, LedgerRunEnd, LedgerRunStart, LedgerRunState, LedgerRunTask, LedgerSweepSchedule,
};
use protocol::plan::next_mark;
use protocol::task::{TaskSpec, TaskStore, now_ms};
use protocol::{LazyLedgerOpening, LedgerOpening};
use safety::SafetyVerdict;

static SWEEPER: LedgerSweepSchedule = LedgerSweepSchedule::new();

/// A command that was refused before it came here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RefusedCommand {
    /// The command.
    #[serde(skip)]
    pub command: String,
    /// The directory in which it would have started, absolute.
    #[serde(skip)]
    pub cwd: String,
    /// The directory of the ledger. `None`: its user has none.
    #[serde(skip)]
    pub directory: Option<PathBuf>,
    /// Who asked for the command.
    pub actor: Option<Actor>,
    /// Where a person has refused the command.
    pub decided_by: Option<String>,
    /// The strictest finding.
    pub verdict: SafetyVerdict,
    /// The rules of all findings.
    pub rules: Vec<String>,
}

/// Records a command that the safety engine refuses. Returns the error.
pub(super) fn record_refused(request: &PlannedRun, error: RunError) -> RunError {
    if let (RunError::Blocked { .. }, Some(entry), Ok(helpers)) = (&error, &request.entry, HelperProcesses::shared())
        && let Ok(opening) = entry_opening(entry, request, None)
    {
        write_refusal(helpers, (*opening).clone(), &request.mark);
    }
    error
}

/// Records a command that was refused before it came here. Returns its run.
///
/// # Errors
/// If the system creates no threads.
pub fn record_refusal(refusal: RefusedCommand) -> Result<String, RunError> {
    let RefusedCommand { command, cwd, directory, actor, decided_by, verdict, rules } = refusal;
    let helpers = HelperProcesses::shared().map_err(|error| RunError::helper(error, &command))?;
    let run = next_mark();
    if let Some(directory) = directory {
        let now = now_ms();
        let entry = LedgerEntryDraft { decided_by, verdict, rules, ..LedgerEntryDraft::default() };
        let start = ledger::to_json_within_record(entry_start(
            &entry,
            actor.as_ref(),
            &CommandExcerpt::of(&command),
            &cwd,
            now,
        ));
        write_refusal(helpers, LedgerOpening { directory, at: now, start }, &run);
    }
    Ok(run)
}

fn write_refusal(helpers: &'static HelperProcesses, LedgerOpening { directory, at, start }: LedgerOpening, run: &str) {
    sweep_when_due(helpers, &directory);
    let line = LedgerLine::of(run)
        .with_json("start", &start)
        .with("end", &LedgerRunEnd::with_state(at, LedgerRunState::Refused))
        .finish();
    // Nothing waits for the write but a reader in this process.
    drop(append_in_background(helpers, directory, at, line));
}

/// Returns the start of a command's entry, for its shim. The search for secrets is left for later.
///
/// # Errors
/// If the user has no directory for it.
pub(super) fn entry_opening(
    entry: &LedgerEntryDraft,
    request: &CommandRequest,
    task: Option<&TaskSpec>,
) -> Result<LazyLedgerOpening, LedgerError> {
    let directory = entry.directory.clone().ok_or(LedgerError::NoDirectory)?;
    let log = |task: &TaskSpec| TaskStore::at(task.folder.clone()).log_path(&task.id).to_string_lossy().into_owned();
    let task = task.map(|task| LedgerRunTask { id: task.id.clone().into(), log: log(task).into() });
    let confinement = request.confine.as_ref().map(|confine| Cow::Borrowed(confine.policy.profile.name()));
    let noted = has_receipt(request);
    let (entry, actor, part) = (entry.clone(), request.actor.clone(), CommandExcerpt::of(&request.command));
    let cwd = request.cwd.to_string_lossy().into_owned();
    Ok(LazyLock::new(Box::new(move || {
        let at = now_ms();
        let start = LedgerRunStart { confinement, task, noted, ..entry_start(&entry, actor.as_ref(), &part, &cwd, at) };
        LedgerOpening { directory, at, start: ledger::to_json_within_record(start) }
    })))
}

/// The part of a command that is read.
struct CommandExcerpt {
    text: String,
    /// Whether the command is longer.
    is_cut: bool,
}

impl CommandExcerpt {
    fn of(command: &str) -> Self {
        let (text, is_cut) = redact::beginning_to_redact(command);
        Self { text: text.to_owned(), is_cut }
    }
}

/// Returns the start of a command, without its secrets.
fn entry_start<'a>(
    entry: &'a LedgerEntryDraft,
    actor: Option<&'a Actor>,
    part: &'a CommandExcerpt,
    cwd: &'a str,
    at: u64,
) -> LedgerRunStart<'a> {
    let redact::RedactedCommand { text: command, redacted } = redact::redact_beginning((&part.text, part.is_cut));
    LedgerRunStart {
        at,
        command,
        redacted,
        cwd: cwd.into(),
        host: ledger::own_host().clone(),
        actor: actor.map(Cow::Borrowed),
        verdict: (entry.verdict != SafetyVerdict::Allow).then(|| entry.verdict.name().into()),
        rules: entry.rules.iter().map(|rule| rule.as_str().into()).collect(),
        decided_by: entry.decided_by.as_deref().map(Cow::Borrowed),
        confinement: None,
        task: None,
        target: entry.target.as_deref().map(Cow::Borrowed),
        draft: entry.draft.as_deref().map(Cow::Borrowed),
        noted: false,
    }
}

/// Returns whether the addon adds a receipt after the end of the command.
pub(super) fn has_receipt(request: &CommandRequest) -> bool {
    request.record.as_ref().is_some_and(|wanted| wanted.receipt.is_some())
}

/// Removes old files when this process first writes, and when the day changes.
pub(super) fn sweep_when_due(helpers: &HelperProcesses, directory: &Path) {
    let now = now_ms();
    if SWEEPER.is_due(directory, now) {
        let directory = directory.to_owned();
        drop(helpers.runtime().spawn_blocking(move || ledger::sweep_files(&directory, now)));
    }
}
