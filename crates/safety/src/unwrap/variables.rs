//! Variables that hold a command: `PROMPT_COMMAND`, `BASH_ENV`, exported functions.

use super::inner::InnerCommand;
use super::words::variable;
use crate::command::Command;
use crate::level::Confidence;
use crate::value::Value;

/// `export PROMPT_COMMAND='script'`: the next shell that has a prompt runs it.
pub(super) fn exported(command: &Command) -> Vec<InnerCommand> {
    let assignments: Vec<_> = command.args().iter().filter_map(variable).collect();
    by_variables(&assignments, Confidence::Partial)
}

/// The commands that a shell runs because of its environment.
pub(super) fn by_variables(assignments: &[(String, Value)], sure: Confidence) -> Vec<InnerCommand> {
    let mut found: Vec<InnerCommand> = assignments
        .iter()
        .filter_map(|(name, text)| InnerCommand::script(script_in(name, text)?, name.as_str()))
        .collect();
    for inner in &mut found {
        if let InnerCommand::Script { confidence, stdin, .. } = inner {
            *confidence = sure;
            *stdin = false;
        }
    }
    found
}

/// The script that a variable of this name is.
fn script_in(name: &str, text: &Value) -> Option<Value> {
    if name == "PROMPT_COMMAND" {
        return Some(text.clone());
    }
    let known = text.known()?;
    // Names of files and prompts: substitutions in them run.
    if matches!(name, "BASH_ENV" | "ENV" | "PS0" | "PS1" | "PS2" | "PS4") && known.contains(['$', '`']) {
        return Some(Value::of(format!(": \"{known}\"")));
    }
    // A function for every bash below, which may call it.
    let body = known.strip_prefix("()").filter(|_| name.starts_with("BASH_FUNC_"))?;
    Some(Value::of(format!("imported () {body}\nimported")))
}
