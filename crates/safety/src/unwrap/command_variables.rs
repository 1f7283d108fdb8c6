//! Variables that hold a command: `PROMPT_COMMAND`, `BASH_ENV`, exported functions.

use super::inner_command::InnerCommand;
use super::words::split_assignment;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::AnalysisConfidence;
use crate::word_alternatives::alternatives;
use crate::word_value::WordValue;

/// Reads `export PROMPT_COMMAND='script'`. The next shell that has a prompt runs the script.
pub(super) fn exported_commands(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let assignments: Vec<_> = command.args().iter().filter_map(split_assignment).collect();
    by_variables(&assignments, AnalysisConfidence::Partial)
}

/// Returns the commands that a shell runs because of its environment.
pub(super) fn by_variables(assignments: &[(String, WordValue)], sure: AnalysisConfidence) -> Vec<InnerCommand> {
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

/// Returns the script in a variable of this name.
fn script_in(name: &str, text: &WordValue) -> Option<WordValue> {
    if name == "PROMPT_COMMAND" {
        return Some(text.clone());
    }
    // Names of files and prompts. The shell runs substitutions in them.
    if matches!(name, "BASH_ENV" | "ENV" | "PS0" | "PS1" | "PS2" | "PS4") {
        let texts = alternatives(text);
        let mut texts = texts.iter().filter_map(WordValue::known);
        return texts.any(|text| text.contains(['$', '`'])).then(|| {
            let mut script = WordValue::of(": \"");
            script.extend(text);
            script.push_text("\"");
            script
        });
    }
    let known = text.known()?;
    // An exported function. Every bash below may call it.
    let body = known.strip_prefix("()").filter(|_| name.starts_with("BASH_FUNC_"))?;
    Some(WordValue::of(format!("imported () {body}\nimported")))
}
