//! The entries of commits and discards in the ledger. A draft has them if one of its commands has one.

use std::path::PathBuf;
use std::time::Instant;

use crate::ledger_writes::append_in_background;
use crate::request::ledger_directory;
use crate::supervise::HelperProcesses;
use draft::draft_store::StoredDraft;
use ledger::{LedgerLine, LedgerRunEnd, LedgerRunStart, LedgerRunState, in_milliseconds};
use protocol::task::now_ms;

/// A commit or a discard that is under way.
#[derive(Debug)]
pub(super) struct DraftEntry {
    act: &'static str,
    id: String,
    root: PathBuf,
    at: u64,
    began: Instant,
}

impl DraftEntry {
    /// Begins an entry. `act`: the word of the command line. `None`: the draft has no entries.
    pub(super) fn begin(act: &'static str, stored: &StoredDraft) -> Option<Self> {
        let (id, root) = (stored.record.id.clone(), stored.record.root.clone());
        stored.is_listed().then(|| Self { act, id, root, at: now_ms(), began: Instant::now() })
    }

    /// Writes the entry, as of the command that does the same. `run`: what an undo takes back.
    pub(super) fn end(self, run: &str, code: i32, environment: &str) {
        let Self { act, id, root, at, began } = self;
        let Some((directory, helpers)) = ledger_directory(environment).zip(HelperProcesses::shared().ok()) else {
            return;
        };
        let start = LedgerRunStart {
            at,
            command: format!("agent-bash draft {act} {id}").into(),
            redacted: false,
            cwd: root.to_string_lossy(),
            host: ledger::own_host().clone(),
            actor: None,
            verdict: None,
            rules: Vec::new(),
            decided_by: None,
            confinement: None,
            task: None,
            target: None,
            draft: Some(id.into()),
            noted: false,
        };
        let (code, ms) = (Some(code), Some(in_milliseconds(began.elapsed())));
        let end = LedgerRunEnd { code, ms, ..LedgerRunEnd::with_state(now_ms(), LedgerRunState::Exited) };
        let line =
            LedgerLine::of(run).with_json("start", &ledger::to_json_within_record(start)).with("end", &end).finish();
        // Nothing waits for the write but a reader in this process.
        drop(append_in_background(helpers, directory, at, line));
    }
}
