//! The bounds of a run as data, for the documents and their tests.

use serde_json::{Value, json};

use super::drive::{deadlines, delivery, streams};
use super::{blocked, outcome};

/// Times are in ms, sizes in bytes.
pub fn facts() -> Value {
    json!({
        "hardBoundMs": deadlines::HARD_BOUND.as_millis(),
        "snapshotBytes": streams::VIEW,
        "batchBytes": delivery::BATCH,
        "fewReplaced": outcome::FEW_REPLACED,
        "blockedQuietMs": blocked::QUIET.as_millis(),
        "blockedAgainMs": blocked::AGAIN.as_millis(),
    })
}
