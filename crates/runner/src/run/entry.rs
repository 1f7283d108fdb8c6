//! The entry of a run in the ledger: its start, which travels to the shim, and what the addon alone knows.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Deserialize;
use tokio::time::timeout;

use super::Launch;
use super::completion::Seen;
use super::outcome::{Outcome, Status};
use crate::error::Error;
use crate::noting::{append, changes};
use crate::request::{Entry, Request};
use crate::supervise::Helpers;
use ledger::{Actor, End, LedgerError, Line, Note, Silence, Start, State, Sweeper, TaskOf};
use protocol::Opening;
use protocol::plan::next_mark;
use protocol::task::{Store, Task, TaskSpec, now_ms};
use safety::Verdict;

/// Longest part of a command that is read for the ledger, bytes. A record holds less.
const READ: usize = 64 * 1024;
/// Bytes at the end of that part which may hold half a secret.
const MARGIN: usize = 1024;
/// Time for which a result waits for its note to be written. A disk that does not answer holds nothing up.
const PATIENCE: Duration = Duration::from_millis(50);

static SWEEPER: Sweeper = Sweeper::new();

/// A command that was refused before it came here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Refusal {
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
    pub verdict: Verdict,
    /// The rules of all findings.
    pub rules: Vec<String>,
}

impl Launch {
    /// Opens the entry of the command, if it gets one. Called right before the command starts.
    pub(super) fn open_entry(&mut self) {
        let Some(entry) = self.request.entry.as_ref().filter(|_| self.order.opening.is_none()) else { return };
        match opening(entry, &self.request, self.order.task.as_ref()) {
            Ok(opening) => {
                sweep_when_due(self.helpers, &opening.directory);
                self.order.opening = Some(opening);
            }
            Err(error) => self.request.notes.extend(unwritten(&error)),
        }
    }

    /// Has the changes of a task noted once they are known.
    pub(super) fn note_changes_of(&self, task: &Task) {
        let has_receipt = has_receipt(&self.request);
        if let (Some(opening), Some(registry), true) = (&self.order.opening, &self.request.registry, has_receipt) {
            registry.note_changes_in(&task.id, &opening.directory);
        }
    }

    /// Writes what only the addon knows of a run that has ended.
    pub(super) async fn note_end(&self, outcome: &Outcome, seen: Seen, silence: Option<Silence<'_>>) {
        let Some(opening) = &self.order.opening else { return };
        let run = outcome.run.as_str();
        let goes_on = outcome.status == Status::Backgrounded;
        if seen == Seen::Nothing {
            // The shim may have been killed before it wrote the start.
            let end = End::bare(now_ms(), State::Lost);
            let line = Line::of(run).with_json("start", &opening.start).with("end", &end).finish();
            let _ = timeout(PATIENCE, append(self.helpers, opening.directory.clone(), opening.at, line)).await;
        }
        let note = Note {
            changes: outcome.receipt.as_ref().map(changes),
            output: outcome.files().first().map(|path| path.to_string_lossy().into_owned().into()),
            task: None,
            end: (seen == Seen::Other && !goes_on).then(|| end_of(outcome)),
            silence,
        };
        let is_awaited = has_receipt(&self.request) && !goes_on;
        if note != Note::default() || is_awaited {
            let line = ledger::note(run, &note);
            let _ = timeout(PATIENCE, append(self.helpers, opening.directory.clone(), now_ms(), line)).await;
        }
    }
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
pub fn record_refusal(refusal: Refusal) -> Result<String, Error> {
    let Refusal { command, cwd, directory, actor, decided_by, verdict, rules } = refusal;
    let helpers = Helpers::shared().map_err(|error| Error::helper(error, &command))?;
    let run = next_mark();
    if let Some(directory) = directory {
        let now = now_ms();
        let entry = Entry { directory: None, decided_by, verdict, rules };
        let start = ledger::cut(start(&entry, actor.as_ref(), &command, &cwd, now));
        record(helpers, Opening { directory, at: now, start }, &run);
    }
    Ok(run)
}

fn record(helpers: &'static Helpers, Opening { directory, at, start }: Opening, run: &str) {
    sweep_when_due(helpers, &directory);
    let line = Line::of(run).with_json("start", &start).with("end", &End::bare(at, State::Refused)).finish();
    // Nothing waits for the write but a reader in this process.
    drop(append(helpers, directory, at, line));
}

fn opening(entry: &Entry, request: &Request, task: Option<&TaskSpec>) -> Result<Opening, LedgerError> {
    let directory = entry.directory.clone().ok_or(LedgerError::NoDirectory)?;
    let log = |task: &TaskSpec| Store::at(task.folder.clone()).log_path(&task.id).to_string_lossy().into_owned();
    let (cwd, at) = (request.cwd.to_string_lossy(), now_ms());
    let start = Start {
        confinement: request.confine.as_ref().map(|confine| confine.policy.profile.name().into()),
        task: task.map(|task| TaskOf { id: (&*task.id).into(), log: log(task).into() }),
        noted: has_receipt(request),
        ..start(entry, request.actor.as_ref(), &request.command, &cwd, at)
    };
    Ok(Opening { directory, at, start: ledger::cut(start) })
}

/// Returns the start of a command, without its secrets.
fn start<'a>(entry: &'a Entry, actor: Option<&'a Actor>, command: &'a str, cwd: &'a str, at: u64) -> Start<'a> {
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
        actor: actor.map(Cow::Borrowed),
        verdict: (entry.verdict != Verdict::Allow).then(|| entry.verdict.name().into()),
        rules: entry.rules.iter().map(|rule| rule.as_str().into()).collect(),
        decided_by: entry.decided_by.as_deref().map(Cow::Borrowed),
        confinement: None,
        task: None,
        noted: false,
    }
}

/// Returns whether the addon adds a receipt after the end of the command.
fn has_receipt(request: &Request) -> bool {
    request.record.as_ref().is_some_and(|wanted| wanted.receipt.is_some())
}

fn end_of(outcome: &Outcome) -> End<'static> {
    End {
        code: outcome.exit_code,
        signal: outcome.signal.clone().map(Cow::Owned),
        ..End::bare(now_ms(), outcome.status.into()).after(outcome.duration, outcome.usage)
    }
}

fn sweep_when_due(helpers: &Helpers, directory: &Path) {
    let now = now_ms();
    if SWEEPER.is_due(directory, now) {
        let directory = directory.to_owned();
        drop(helpers.runtime().spawn_blocking(move || ledger::sweep(&directory, now)));
    }
}

/// Returns the note on a ledger that cannot be written, once per process: the reason hardly changes.
pub fn unwritten(why: &dyn std::fmt::Display) -> Option<String> {
    static NOTED: AtomicBool = AtomicBool::new(false);
    let is_first = !NOTED.swap(true, Ordering::Relaxed);
    is_first.then(|| format!("the ledger cannot be written, so entries are missing: {why}"))
}
