//! Records of the ledger that the addon writes: what it alone knows of a run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinHandle;

use crate::supervise::HelperProcesses;
use evidence::EvidenceVerdict;
use ledger::{LedgerRunChanges, LedgerWriter, PendingLedgerRecord};
use receipt::RunReceipt;

/// Writes a record on a thread of its own. A reader in this process waits for it.
pub fn append_in_background(helpers: &HelperProcesses, directory: PathBuf, at: u64, line: Vec<u8>) -> JoinHandle<()> {
    let pending = PendingLedgerRecord::begin();
    helpers.runtime().spawn_blocking(move || {
        // The shim of a command reports a ledger that cannot be written. The record of a refusal is just missing.
        let _ = LedgerWriter::new(directory).append(at, &line);
        drop(pending);
    })
}

/// Returns the changes of a receipt, for a note.
pub fn ledger_changes(receipt: &RunReceipt) -> LedgerRunChanges<'static> {
    let counts = receipt.counts;
    let paths = receipt.paths().chain(receipt.directories.iter().map(|path| &**path));
    ledger::run_changes(receipt.state.name(), [counts.created, counts.modified, counts.deleted, counts.renamed], paths)
}

/// Returns the word for what a command proved, for a note.
pub fn verdict_word(verdict: EvidenceVerdict) -> &'static str {
    match verdict {
        EvidenceVerdict::Passed => "passed",
        EvidenceVerdict::Failed => "failed",
        EvidenceVerdict::Unproven => "unproven",
    }
}

/// Returns the note on a ledger that cannot be written, once per process: the reason hardly changes.
pub fn unwritable_note(why: &dyn std::fmt::Display) -> Option<String> {
    static NOTED: AtomicBool = AtomicBool::new(false);
    let is_first = !NOTED.swap(true, Ordering::Relaxed);
    is_first.then(|| format!("the ledger cannot be written, so entries are missing: {why}"))
}
