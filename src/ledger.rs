//! Entries of the ledger as JavaScript gets them.

use ledger::{EntryBatch, PassedOverLines};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

/// Entries of the ledger, as far as they were read.
#[napi(object, object_from_js = false)]
pub struct NativeLedgerBatch {
    /// One line per entry, UTF-8: JSON, or text for people.
    pub text: Buffer,
    /// Whether no entry follows.
    pub done: bool,
    /// Damaged lines so far.
    pub damaged: f64,
    /// Files that were removed so far, according to their records.
    pub removed: f64,
}

impl NativeLedgerBatch {
    /// Converts entries that were read.
    #[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles; exact up to 2^53")]
    pub fn of(batch: EntryBatch, passed: &PassedOverLines) -> Self {
        let (damaged, removed) = (passed.damaged as f64, passed.removed.len() as f64);
        Self { text: batch.text.into_bytes().into(), done: batch.is_over, damaged, removed }
    }
}
