//! Counts of tests in complete text, as JSON. `ts/evidence/types.ts` has its type.

use napi_derive::napi;

use reduce::counts::{CommandTermination, read_tests as read};

/// Counts the tests in an output, for each runner in it. `is_ended`: the command has ended, with `code` or
/// by a signal.
#[napi]
#[must_use]
pub fn read_tests(text: String, command: Option<String>, is_ended: bool, code: Option<i64>) -> String {
    let ended = if is_ended { CommandTermination::with(code) } else { CommandTermination::Unknown };
    serde_json::to_string(&read(&text, command.as_deref(), ended)).unwrap_or_default()
}
