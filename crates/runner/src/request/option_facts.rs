//! The ranges and defaults of options as data, for TypeScript, the documents and their tests.

use serde_json::{Map, Value, json};

use super::command_mode::CommandMode;
use super::command_options::{MAX_ARGUMENT, MAX_COMMAND};
use super::output_options::{SNAPSHOT_INTERVAL_MS, SPILL_MAX_BYTES, SPILL_RETENTION_MS};
use super::time_options::{GRACE_MS, MOVING_LIMIT, TIMEOUT_MS};

/// Returns the ranges and defaults. Times are in ms, sizes in bytes.
pub fn facts() -> Value {
    let modes = CommandMode::ALL.map(|mode| (mode.name().to_owned(), json!(mode.limit().as_millis())));
    json!({
        "maxArgumentBytes": MAX_ARGUMENT,
        "maxCommandBytes": MAX_COMMAND,
        "maxLimitMs": TIMEOUT_MS.most,
        "modeLimitsMs": Map::from_iter(modes),
        "movingLimitMs": MOVING_LIMIT.as_millis(),
        "maxGraceMs": GRACE_MS.number.most,
        "defaultGraceMs": GRACE_MS.default,
        "defaultSpillBytes": SPILL_MAX_BYTES.default,
        "spillKeptMs": SPILL_RETENTION_MS.default,
        "defaultSnapshotMs": SNAPSHOT_INTERVAL_MS.default,
        "snapshotMs": [SNAPSHOT_INTERVAL_MS.number.least, SNAPSHOT_INTERVAL_MS.number.most],
    })
}
