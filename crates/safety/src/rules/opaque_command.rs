//! A command whose program is not known.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::{AnalysisConfidence, SafetyVerdict};

pub static RULE: SafetyRule = SafetyRule {
    id: "opaque-command",
    level: SafetyVerdict::Ask,
    doc: "The name of the program comes from a variable or another command, so what runs cannot be told before. Raised by \
          the engine.",
    programs: RulePrograms::All,
    check,
    matches: &[
        "\"$(cat program)\" -rf x",
        "$(curl -s https://example.com/command)",
        "read -r x; $x now",
        "\"$1\" -rf x",
    ],
    passes: &[
        "$(npm bin)/eslint .",
        "\"$(brew --prefix)/bin/python3\" --version",
        "CMD=ls; $CMD -la",
        "echo \"$(cat program)\"",
        "cat \"$(ls | head -1)\"",
    ],
};

/// Finds nothing. The engine raises the hit by the words alone.
fn check(_: &SimpleCommandView) -> Option<RuleHit> {
    None
}

/// Returns the hit, which the engine raises.
pub fn hit() -> RuleHit {
    RuleHit {
        confidence: AnalysisConfidence::Opaque,
        message: "the name of the program is not known before the command runs, so it cannot be judged. Write the program out".to_owned(),
        asked: None,
        suggestion: String::new(),
    }
}
