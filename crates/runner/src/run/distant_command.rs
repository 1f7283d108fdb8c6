//! Commands for another machine: judged here, run there. Their entry in the ledger is on this machine.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::guard;
use super::ledger_notes::{PATIENCE, end_of};
use super::ledger_opening::{entry_opening, record_refused, sweep_when_due};
use super::live_registration::run_registration;
use super::outcome::{CommandOutcome, CommandStatus};
use crate::error::RunError;
use crate::ledger_writes::{append_in_background, ledger_changes, verdict_word};
use crate::live::RunRegistration;
use crate::request::{CommandRequest, EvidenceLevel, PlannedRun, RawOptions, ReceiptLevel};
use crate::supervise::HelperProcesses;
use capture::SanitizeRules;
use confine_policy::profile_name;
use ledger::{LedgerLine, LedgerRunNote, LedgerRunTask, own_shim, run_secrets};
use protocol::LedgerOpening;
use sys::Signal;

/// A command that may run on another machine.
pub struct JudgedDistantCommand {
    /// The outcome of the command if it is not started, with the findings as notes.
    pub outcome: CommandOutcome,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// How its output is cleaned.
    pub sanitize: Option<SanitizeRules>,
    /// The most bytes of each stream in its result, notices included.
    pub most_text: u64,
    /// Whether its result has a view, and with it what is left of the whole output.
    pub has_view: bool,
    /// Whether the caller gave the command up before it began.
    pub aborted: bool,
    /// The entry of the command in the ledger. `None`: it gets none.
    pub entry: Option<DistantEntry>,
    /// The facts for the people who watch. `None`: they do not see it.
    pub shown: Option<RunRegistration>,
    /// Whether the caller listens to its output.
    pub is_listened: bool,
    /// Whether the text of its live output has a character for each byte.
    pub keeps_bytes: bool,
}

/// Judges a command by the directory and the environment of the machine that will run it, which is named `target`.
/// `ledger` is the directory of the ledger on this machine.
///
/// # Errors
/// If the options are impossible, or the safety engine refuses the command.
pub fn judge_distant(raw: RawOptions, target: &str, ledger: Option<PathBuf>) -> Result<JudgedDistantCommand, RunError> {
    let confinement = raw.confine.as_ref().and_then(|world| profile_name(&world.options));
    let undo = raw.undo.is_some();
    // What can be confined, recorded and re-used is known there.
    let raw = RawOptions {
        confine: None,
        receipt: ReceiptLevel::Off,
        undo: None,
        evidence: EvidenceLevel::Off,
        reuse: None,
        ..raw
    };
    let mut request = PlannedRun::check(raw)?;
    let shown = run_registration(&request).map(|shown| RunRegistration {
        target: Some(target.to_owned()),
        confinement,
        undo,
        ..shown
    });
    if let Some(entry) = &mut request.entry {
        (entry.directory, entry.target) = (ledger, Some(target.to_owned()));
    }
    guard::judge(&mut request).map_err(|error| record_refused(&request, error))?;
    let entry = request.entry.as_ref().and_then(|entry| {
        let opening = entry_opening(entry, &request, None).ok()?;
        let (opening, run) = ((*opening).clone(), request.mark.clone());
        Some(DistantEntry { opening, run, start: Mutex::default() })
    });
    let outcome = CommandOutcome::not_started(&request);
    let most_text = request.truncate.most_kept() + NOTICES;
    let has_view = request.reduce.is_some();
    let is_listened = request.live;
    let keeps_bytes = request.sanitize.is_none() && request.streams.is_some_and(|streams| streams.bytes);
    let CommandRequest { grace, sanitize, aborted, .. } = *request;
    Ok(JudgedDistantCommand {
        outcome,
        grace,
        sanitize,
        most_text,
        has_view,
        aborted,
        entry,
        shown,
        is_listened,
        keeps_bytes,
    })
}

impl JudgedDistantCommand {
    /// Returns whether the program that runs this command can have told this outcome: it keeps to the options of the
    /// call, and to what its own operating system can report.
    #[must_use]
    pub fn can_end_as(&self, told: &CommandOutcome) -> bool {
        let fits = |text: &String| text.len() as u64 <= self.most_text;
        fits(&told.stdout)
            && fits(&told.stderr)
            && told
                .view
                .as_ref()
                .is_none_or(|draft| self.has_view && draft.view.text.len() as u64 <= 2 * self.most_text)
            && told.exit_code.is_none_or(|code| (0..=255).contains(&code))
            && told.signal.as_ref().is_none_or(|name| Signal::from_name(name).is_ok())
            && told.pid >= 0
            && told.survivors.len() <= LISTED_SURVIVORS
            && told.notes.len() <= MOST_NOTES
    }
}

/// Most bytes that the notices of a cut add to a stream: they name a path.
const NOTICES: u64 = 16 * 1024;
/// Most survivors that the result of a command on a target lists.
pub const LISTED_SURVIVORS: usize = 1_000;
/// Most notes of a result of a target. No program of ours comes near.
const MOST_NOTES: usize = 1_000;

/// The entry of a command that another machine runs. This process writes it, and counts as its shim.
#[derive(Debug)]
pub struct DistantEntry {
    opening: LedgerOpening,
    run: String,
    /// The write of its start. `None`: it has not begun.
    start: Mutex<Option<JoinHandle<()>>>,
}

impl DistantEntry {
    /// Writes the start. Called when the command has started.
    pub fn open(&self) {
        let mut start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
        if start.is_none() {
            *start = self.write(self.ledger_line());
        }
    }

    /// Writes the end. A command that was not started has no entry.
    pub async fn close(&self, outcome: &CommandOutcome) {
        let start = self.start.lock().unwrap_or_else(PoisonError::into_inner).take();
        if outcome.pid == 0 && start.is_none() && outcome.status != CommandStatus::Lost {
            return;
        }
        let line = if start.is_some() { LedgerLine::of(&self.run) } else { self.ledger_line() };
        if let Some(start) = start {
            // The start stands before the end. A disk that does not answer holds nothing up.
            let _written = timeout(PATIENCE, start).await;
        }
        let task = outcome.background.as_ref().map(|(task, store)| LedgerRunTask {
            id: task.id.clone().into(),
            log: store.log_path(&task.id).to_string_lossy().into_owned().into(),
        });
        let note = LedgerRunNote {
            changes: outcome.receipt.as_ref().map(ledger_changes),
            output: outcome.files().first().map(|path| path.to_string_lossy().into_owned().into()),
            task,
            evidence: outcome.evidence.as_ref().map(|found| verdict_word(found.verdict).into()),
            reused: outcome.reused.as_ref().map(|reused| Cow::Owned(reused.run_id.clone())),
            ..LedgerRunNote::default()
        };
        let secrets = outcome.confinement.as_ref().map(|held| run_secrets(&held.denials.secrets)).unwrap_or_default();
        if !secrets.is_empty() {
            // In a record of its own, since that of a start has no room for them.
            let note = LedgerRunNote { secrets, ..LedgerRunNote::default() };
            drop(self.write(LedgerLine::of(&self.run).with("note", &note)));
        }
        // A reader in this process waits for it.
        drop(self.write(line.with("end", &end_of(outcome)).with("note", &note)));
    }

    fn ledger_line(&self) -> LedgerLine {
        LedgerLine::of(&self.run).with("shim", &own_shim()).with_json("start", &self.opening.start)
    }

    fn write(&self, line: LedgerLine) -> Option<JoinHandle<()>> {
        let helpers = HelperProcesses::shared().ok()?;
        let directory = &self.opening.directory;
        sweep_when_due(helpers, directory);
        Some(append_in_background(helpers, directory.clone(), self.opening.at, line.finish()))
    }
}
