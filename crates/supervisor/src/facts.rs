//! The bounds of supervisor and shims as data, for the documents and their tests.

use protocol::output_drain;
use serde_json::{Value, json};

use super::blocked::scan;
use super::shim::{supervised_command, survivor_scan, task_output_reader};
use super::tree_limits;

/// Times are in ms, sizes in bytes or characters.
pub fn facts() -> Value {
    json!({
        "drainIdleMs": output_drain::IDLE.as_millis(),
        "drainWholeMs": output_drain::WHOLE.as_millis(),
        "commandShownChars": survivor_scan::COMMAND_SHOWN,
        "settleMs": survivor_scan::SETTLE.as_millis(),
        "graceWithoutHostMs": supervised_command::GRACE_WITHOUT_HOST.as_millis(),
        "limits": {
            "shortestMs": tree_limits::SHORTEST.as_millis(),
            "idleMs": tree_limits::IDLE.as_millis(),
            "share": tree_limits::SHARE,
        },
        "outflowQuietMs": task_output_reader::QUIET.as_millis(),
        "blocked": {
            "most": scan::MOST,
            "commandChars": scan::COMMAND,
        },
    })
}
