//! The entry of a run in the ledger, as the addon begins it. The shim writes it.

use std::borrow::Cow;
use std::path::Path;

use crate::error::Error;
use crate::noting::append;
use crate::request::{Entry, Request};
use crate::supervise::Helpers;
use ledger::{End, LedgerError, Line, Start, State, Sweeper, TaskOf};
use protocol::Opening;
use protocol::plan::next_mark;
use protocol::task::{Store, TaskSpec, now_ms};
use safety::Verdict;

/// Longest part of a command that is read for the ledger, bytes. A record holds less.
const READ: usize = 64 * 1024;
/// Bytes at the end of that part which may hold half a secret.
const MARGIN: usize = 1024;
static SWEEPER: Sweeper = Sweeper::new();

/// A command that was refused before it came here.
#[derive(Debug, Default)]
pub struct Refusal {
    /// The command.
    pub command: String,
    /// The directory in which it would have started, absolute.
    pub cwd: String,
    /// The rest of the entry.
    pub entry: Entry,
}

/// Records a command that the safety engine refuses. Returns the error.
pub(super) fn refused(request: &Request, error: Error) -> Error {
    if let (Error::Blocked { .. }, Some(entry), Ok(helpers)) = (&error, &request.entry, Helpers::shared())
        && let Ok(opening) = opening(entry, request, None)
    {
        record(helpers, opening, &request.mark);
    }
    error
}

/// Records a command that was refused before it came here. Returns its run.
///
/// # Errors
/// If the system creates no threads.
pub fn record_refusal(refusal: &Refusal) -> Result<String, Error> {
    let Refusal { command, cwd, entry } = refusal;
    let helpers = Helpers::shared().map_err(|error| Error::helper(error, command))?;
    let run = next_mark();
    if let Some(directory) = &entry.directory {
        let now = now_ms();
        let start = ledger::cut(start(entry, command, cwd, now));
        record(helpers, Opening { directory: directory.clone(), at: now, start }, &run);
    }
    Ok(run)
}

fn record(helpers: &'static Helpers, Opening { directory, at, start }: Opening, run: &str) {
    sweep_when_due(helpers, &directory);
    let line = Line::of(run).with_json("start", &start).with("end", &End::bare(at, State::Refused)).finish();
    // Nothing waits for the write but a reader in this process.
    drop(append(helpers, directory, at, line));
}

/// Returns the start of a command's entry, for its shim.
///
/// # Errors
/// If the user has no directory for it.
pub(super) fn opening(entry: &Entry, request: &Request, task: Option<&TaskSpec>) -> Result<Opening, LedgerError> {
    let directory = entry.directory.clone().ok_or(LedgerError::NoDirectory)?;
    let log = |task: &TaskSpec| Store::at(task.folder.clone()).log_path(&task.id).to_string_lossy().into_owned();
    let (cwd, at) = (request.cwd.to_string_lossy(), now_ms());
    let start = Start {
        confinement: request.confine.as_ref().map(|confine| confine.policy.profile.name().into()),
        task: task.map(|task| TaskOf { id: (&*task.id).into(), log: log(task).into() }),
        noted: has_receipt(request),
        ..start(entry, &request.command, &cwd, at)
    };
    Ok(Opening { directory, at, start: ledger::cut(start) })
}

/// Returns the start of a command, without its secrets.
fn start<'a>(entry: &'a Entry, command: &'a str, cwd: &'a str, at: u64) -> Start<'a> {
    let part = &command[..command.floor_char_boundary(READ)];
    let redact::Redacted { mut text, redacted } = redact::redact(part);
    if part.len() < command.len() {
        let kept = text.floor_char_boundary(text.len().saturating_sub(MARGIN));
        text = Cow::Owned(text[..kept].to_owned());
    }
    Start {
        at,
        command: text,
        redacted,
        cwd: cwd.into(),
        host: ledger::host().clone(),
        actor: entry.actor.as_ref().map(Cow::Borrowed),
        verdict: (entry.verdict != Verdict::Allow).then(|| entry.verdict.name().into()),
        rules: entry.rules.iter().map(|rule| rule.as_str().into()).collect(),
        decided_by: entry.decided_by.as_deref().map(Cow::Borrowed),
        confinement: None,
        task: None,
        noted: false,
    }
}

/// Returns whether the addon adds a receipt after the end of the command.
pub(super) fn has_receipt(request: &Request) -> bool {
    request.record.as_ref().is_some_and(|wanted| wanted.receipt.is_some())
}

/// Removes old files when this process first writes, and when the day changes.
pub(super) fn sweep_when_due(helpers: &Helpers, directory: &Path) {
    let now = now_ms();
    if SWEEPER.is_due(directory, now) {
        let directory = directory.to_owned();
        drop(helpers.runtime().spawn_blocking(move || ledger::sweep(&directory, now)));
    }
}
