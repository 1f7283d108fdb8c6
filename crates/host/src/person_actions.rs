//! What a person may do with a run or a question.

use std::sync::Arc;

use super::host_message::{FailureCode, RequestFailure};
use protocol::task::is_id;
use runner::live::{TaskSource, WatcherInputError, asks, runs};

/// Gives input of a person to a run.
///
/// # Errors
/// If it takes none, not now, or is not there.
pub fn give_input(key: &str, text: &str) -> Result<(), RequestFailure> {
    let Some(run) = runs().find(key) else {
        let of_task = |_| RequestFailure::new(FailureCode::Invalid, "a task reads no input from a person");
        return Err(source_of(key).map_or_else(|| no_run(key), of_task));
    };
    run.give_input(text).map_err(|error| {
        let code = match error {
            WatcherInputError::ReadsNoInput => FailureCode::Invalid,
            WatcherInputError::Full => FailureCode::Busy,
            WatcherInputError::Gone => FailureCode::Gone,
        };
        RequestFailure::new(code, error.to_string())
    })
}

/// Ends a run with its whole tree.
///
/// # Errors
/// If it is not there.
pub fn stop_run(key: &str) -> Result<(), RequestFailure> {
    match runs().find(key) {
        Some(run) => run.stop(),
        None => source_of(key).ok_or_else(|| no_run(key))?.stop(key),
    }
    Ok(())
}

/// Answers a question.
///
/// # Errors
/// If it waits no more.
pub fn answer_question(key: &str, approved: bool, reason: Option<String>) -> Result<(), RequestFailure> {
    asks().answer(key, approved, reason).map_err(|error| RequestFailure::new(FailureCode::Gone, error.to_string()))
}

/// Returns the registry of a task that runs.
pub fn source_of(key: &str) -> Option<Arc<dyn TaskSource>> {
    // Another registry of the same directory may know the task without being able to end it.
    let runs_here = |source: &Arc<dyn TaskSource>| source.running(true).iter().any(|task| task.id == key);
    runs().task_sources().into_iter().find(runs_here)
}

/// Returns a registry that can read the log of a task, whether the task runs or has ended.
pub fn readable_from(key: &str) -> Option<Arc<dyn TaskSource>> {
    let has = |source: &Arc<dyn TaskSource>| is_id(key) && source.readable(key).is_some();
    source_of(key).or_else(|| runs().task_sources().into_iter().find(has))
}

/// Returns the failure for a key without a run.
pub fn no_run(key: &str) -> RequestFailure {
    let key: String = key.chars().take(40).collect();
    RequestFailure::new(FailureCode::Gone, format!("there is no run {key}; it may have ended"))
}
