//! The bounds of a run as data, for the documents and their tests.

use serde_json::{Value, json};

use super::drive::{command_pipes, early_ends, output_delivery};
use super::outcome;

/// Returns the bounds. Times are in ms, sizes in bytes.
pub fn facts() -> Value {
    json!({
        "hardBoundMs": early_ends::HARD_BOUND.as_millis(),
        "snapshotBytes": command_pipes::VIEW,
        "batchBytes": output_delivery::BATCH,
        "fewReplaced": outcome::FEW_REPLACED,
    })
}
