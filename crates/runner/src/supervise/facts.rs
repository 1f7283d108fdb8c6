//! The bounds of the helpers as data, for the documents and their tests.

use serde_json::{Value, json};

use super::client::{admission, helpers, shim_pool};
use protocol::{BlockedOn, BlockedProcess, note_of_prompt};

/// Returns the bounds. Times are in ms, sizes in bytes or characters.
pub fn facts() -> Value {
    let mut facts = supervisor::facts();
    let own = json!({
        "supervisorFile": helpers::SUPERVISOR,
        "admission": {
            "perCommand": admission::PER_COMMAND,
            "perTask": admission::PER_TASK,
            "perSessionShare": admission::PER_SESSION,
            "reserve": admission::RESERVE,
            "most": admission::MAX_COMMANDS,
        },
        "warm": {
            "kept": shim_pool::KEEP,
            "sweepMs": shim_pool::SWEEP.as_millis(),
            "pauseMs": shim_pool::PAUSE.as_millis(),
        },
    });
    if let (Value::Object(facts), Value::Object(own)) = (&mut facts, own) {
        facts.extend(own);
    }
    facts
}

/// Returns an example of each note on a blocked process, in the order of the table in docs/terminals.md.
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
