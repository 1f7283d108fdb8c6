//! The bounds of supervisor and shims as data, for the documents and their tests.

use protocol::drain;
use serde_json::{Value, json};

use super::blocked::scan;
use super::limits;
use super::shim::{left, output_reader, running};

/// Times are in ms, sizes in bytes or characters.
pub fn facts() -> Value {
    json!({
        "drainIdleMs": drain::IDLE.as_millis(),
        "drainWholeMs": drain::WHOLE.as_millis(),
        "commandShownChars": left::COMMAND_SHOWN,
        "settleMs": left::SETTLE.as_millis(),
        "graceWithoutHostMs": running::GRACE_WITHOUT_HOST.as_millis(),
        "limits": {
            "firstMs": limits::FIRST.as_millis(),
            "usualMs": limits::USUAL.as_millis(),
            "nearMs": limits::NEAR.as_millis(),
            "shortestMs": limits::SHORTEST.as_millis(),
            "fastestGiBPerS": limits::FASTEST >> 30,
            "idleMs": limits::IDLE.as_millis(),
            "share": limits::SHARE,
        },
        "outflowQuietMs": output_reader::QUIET.as_millis(),
        "blocked": {
            "boundMs": scan::BOUND.as_millis(),
            "othersMs": scan::OTHERS.as_millis(),
            "most": scan::MOST,
            "commandChars": scan::COMMAND,
        },
    })
}
