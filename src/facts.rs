//! Limits, defaults, tables and file names as data: TypeScript, the documents and their tests read them here.

use napi_derive::napi;
use serde_json::{Value, json};

use protocol::plan;
use protocol::task::TaskLoss;
use runner::registry::{DEFAULT_MAX_LOG_BYTES, DEFAULT_MAX_TASKS, DEFAULT_RETENTION, TASK_LIMIT};
use runner::{pattern, request, run, supervise};

/// Everything that the core defines once and others quote, as JSON. Times are in ms, sizes in bytes.
#[napi]
#[must_use]
pub fn facts() -> String {
    all_facts().to_string()
}

fn all_facts() -> Value {
    json!({
        "request": request::facts(),
        "run": run::facts(),
        "capture": capture::facts(),
        "confine": confine_policy::facts(),
        "supervise": supervise::facts(),
        "tasks": {
            "maxTasks": DEFAULT_MAX_TASKS,
            "maxLogBytes": DEFAULT_MAX_LOG_BYTES,
            "retentionMs": DEFAULT_RETENTION.as_millis(),
            "defaultLimitMs": TASK_LIMIT.as_millis(),
            "patternWindowBytes": pattern::WINDOW,
            "lost": TaskLoss::ALL.map(TaskLoss::reason),
        },
        "environment": plan::facts(),
        "blockedNotes": supervise::blocked_notes(),
        "blockedSoonMs": sys::SOON,
        "oomScoreAtLeast": sys::OOM_SCORE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_has_a_value() {
        fn check(path: &str, value: &Value) {
            match value {
                Value::Object(fields) => {
                    fields.iter().for_each(|(name, value)| check(&format!("{path}.{name}"), value))
                }
                Value::Array(items) => {
                    assert!(
                        !items.is_empty()
                            || path.ends_with(".holding")
                            || path.ends_with(".unless")
                            || path.starts_with(".reversal."),
                        "{path}"
                    )
                }
                // A default without a value removes its variable.
                Value::Null => assert!(path.ends_with(".value"), "{path}"),
                Value::String(_) | Value::Number(_) | Value::Bool(_) => {}
            }
        }
        check("", &all_facts());
    }

    #[test]
    fn every_note_on_a_blocked_process_is_different() {
        let mut notes = supervise::blocked_notes();
        notes.sort_unstable();
        notes.dedup();
        assert_eq!(notes.len(), 9);
    }
}
