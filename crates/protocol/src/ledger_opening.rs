//! The start of a command's entry in the ledger, on its way from the addon to the shim that writes it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The start of a command that has an entry in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerOpening {
    /// The directory of the ledger.
    #[serde(with = "crate::plan::bytes::path")]
    pub directory: PathBuf,
    /// Unix time, ms.
    pub at: u64,
    /// The start as JSON.
    pub start: String,
}
