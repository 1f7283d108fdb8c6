//! The entry of a launched command in the ledger: opened before its start, completed after its end.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::CommandLaunch;
use super::completion::{EndSeenByShim, SilenceLimit};
use super::ledger_opening::{entry_opening, has_receipt, sweep_when_due};
use super::outcome::{CommandOutcome, CommandStatus};
use crate::ledger_writes::{append_in_background, ledger_changes, unwritable_note, verdict_word};
use ledger::{LedgerLine, LedgerRunEnd, LedgerRunNote, LedgerRunSilence, LedgerRunState};
use protocol::task::{Task, now_ms};

/// Time for which a result waits for its note to be written. A disk that does not answer holds nothing up.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);

impl CommandLaunch {
    /// Opens the entry of the command, if it gets one. Called right before the command starts.
    pub(super) fn open_entry(&mut self) {
        let Some(entry) = self.request.entry.as_ref().filter(|_| self.order.opening.is_none()) else { return };
        match entry_opening(entry, &self.request, self.order.task.as_ref()) {
            Ok(opening) => self.order.opening = Some(Arc::new(opening)),
            Err(error) => self.request.notes.extend(unwritable_note(&error)),
        }
    }

    /// Has the changes and the verdict of a task noted once they are known.
    pub(super) fn note_facts_of(&self, task: &Task) {
        let Some(opening) = &self.order.opening else { return };
        sweep_when_due(self.helpers, &opening.directory);
        let Some(registry) = &self.request.registry else { return };
        if has_receipt(&self.request) {
            registry.note_changes_in(&task.id, &opening.directory);
        }
        if self.request.evidence.is_some() {
            registry.note_verdict_in(&task.id, &opening.directory);
        }
    }

    /// Writes what only the addon knows of a run that has ended.
    pub(super) async fn note_end(&self, outcome: &CommandOutcome, seen: EndSeenByShim, silent: Option<SilenceLimit>) {
        let Some(opening) = &self.order.opening else { return };
        sweep_when_due(self.helpers, &opening.directory);
        let run = outcome.run.as_str();
        let goes_on = outcome.status == CommandStatus::Backgrounded;
        if seen == EndSeenByShim::Unseen {
            // The shim may have been killed before it wrote the start.
            let end = LedgerRunEnd::with_state(now_ms(), LedgerRunState::Lost);
            let line = LedgerLine::of(run).with_json("start", &opening.start).with("end", &end).finish();
            let _ = timeout(PATIENCE, append_in_background(self.helpers, opening.directory.clone(), opening.at, line))
                .await;
        }
        let note = LedgerRunNote {
            changes: outcome.receipt.as_ref().map(ledger_changes),
            output: outcome.files().first().map(|path| path.to_string_lossy().into_owned().into()),
            task: None,
            end: (seen == EndSeenByShim::Different && !goes_on).then(|| end_of(outcome)),
            silence: silent.map(|SilenceLimit { most, waited_for }| LedgerRunSilence::of(most, waited_for)),
            evidence: None,
            reused: outcome.reused.as_ref().map(|reused| reused.run_id.clone().into()),
            // The shim has noted them.
            secrets: Vec::new(),
        };
        let is_awaited = note != LedgerRunNote::default() || has_receipt(&self.request) && !goes_on;
        let note = LedgerRunNote {
            evidence: outcome.evidence.as_ref().map(|found| verdict_word(found.verdict).into()),
            ..note
        };
        if is_awaited || note != LedgerRunNote::default() {
            let written =
                append_in_background(self.helpers, opening.directory.clone(), now_ms(), ledger::note_line(run, &note));
            // The verdict alone delays no result.
            if is_awaited {
                let _ = timeout(PATIENCE, written).await;
            }
        }
    }

    /// Writes the whole entry of a command whose result was given again: it has no shim.
    pub(super) async fn note_reuse(&self, outcome: &CommandOutcome) {
        let Some(opening) = &self.order.opening else { return };
        sweep_when_due(self.helpers, &opening.directory);
        let note = LedgerRunNote {
            changes: outcome.receipt.as_ref().map(ledger_changes),
            output: outcome.files().first().map(|path| path.to_string_lossy().into_owned().into()),
            evidence: outcome.evidence.as_ref().map(|found| verdict_word(found.verdict).into()),
            reused: outcome.reused.as_ref().map(|reused| reused.run_id.clone().into()),
            ..LedgerRunNote::default()
        };
        let line = LedgerLine::of(&outcome.run).with_json("start", &opening.start);
        let line = line.with("end", &end_of(outcome)).with("note", &note).finish();
        let _ =
            timeout(PATIENCE, append_in_background(self.helpers, opening.directory.clone(), opening.at, line)).await;
    }
}

pub(super) fn end_of(outcome: &CommandOutcome) -> LedgerRunEnd<'static> {
    LedgerRunEnd {
        code: outcome.exit_code,
        signal: outcome.signal.clone().map(Cow::Owned),
        ..LedgerRunEnd::with_state(now_ms(), outcome.status.into()).with_costs(outcome.duration, outcome.usage)
    }
}
