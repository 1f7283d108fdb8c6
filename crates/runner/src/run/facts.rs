//! The bounds of a run as data, for the documents and their tests.

use serde_json::{Value, json};

use super::drive::{exits, output, pipes};
use super::{blocked, outcome};

/// Returns the bounds. Times are in ms, sizes in bytes.
pub fn facts() -> Value {
    json!({
        "hardBoundMs": exits::HARD_BOUND.as_millis(),
        "snapshotBytes": pipes::VIEW,
        "batchBytes": output::BATCH,
        "fewReplaced": outcome::FEW_REPLACED,
        "blockedQuietMs": blocked::QUIET_BEFORE_SCAN.as_millis(),
        "blockedAgainMs": blocked::RESCAN_INTERVAL.as_millis(),
    })
}
