//! The bounds of the helpers as data, for the documents and their tests.

use serde_json::{Value, json};

use super::blocked::scan;
use super::client::{admission, helpers, pool};
use super::limits;
use super::shim::{output_reader, running, survivors};
use protocol::{BlockedOn, BlockedProcess, drain, note_of_prompt};

/// Times are in ms, sizes in bytes or characters.
pub fn facts() -> Value {
    json!({
        "supervisorFile": helpers::SUPERVISOR,
        "drainIdleMs": drain::IDLE.as_millis(),
        "drainWholeMs": drain::WHOLE.as_millis(),
        "commandShownChars": survivors::COMMAND_SHOWN,
        "settleMs": survivors::SETTLE.as_millis(),
        "graceWithoutHostMs": running::GRACE_WITHOUT_HOST.as_millis(),
        "admission": {
            "perCommand": admission::PER_COMMAND,
            "perTask": admission::PER_TASK,
            "perSessionShare": admission::PER_SESSION,
            "perTerminalShare": admission::PER_TERMINAL,
            "reserve": admission::RESERVE,
            "most": admission::MOST,
        },
        "warm": {
            "kept": pool::KEEP,
            "sweepMs": pool::SWEEP.as_millis(),
            "pauseMs": pool::PAUSE.as_millis(),
        },
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

/// An example of each note on a blocked process, in the order of the table in docs/waiting.md.
pub fn blocked_notes() -> Vec<String> {
    let path = || "/tmp/p".to_owned();
    let reasons = [
        BlockedOn::Terminal(0),
        BlockedOn::Pipe(3),
        BlockedOn::Fifo(3, path()),
        BlockedOn::Writer(path()),
        BlockedOn::Reader(path()),
        BlockedOn::Continue(true),
        BlockedOn::Continue(false),
        BlockedOn::Unknown,
    ];
    let note = |on| BlockedProcess { pid: 4021, command: "cat".to_owned(), on, others: 0, sure: true }.note("Name: ");
    reasons.into_iter().map(note).chain([note_of_prompt("Name: ")]).collect()
}
