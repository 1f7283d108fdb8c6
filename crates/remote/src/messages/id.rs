//! Names of runs and tasks.

/// Returns whether a text can be the name of a run or a task: it is a value in an environment, and people copy it into
/// commands.
pub fn is_id(text: &str) -> bool {
    (1..=100).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
