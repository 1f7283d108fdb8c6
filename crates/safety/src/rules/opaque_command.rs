//! A command whose program is not known.

use super::rule::{Hit, Programs, Rule};
use crate::command::Command;
use crate::level::{Confidence, Verdict};

pub static RULE: Rule = Rule {
    id: "opaque-command",
    level: Verdict::Ask,
    doc: "The name of the program comes from a variable or another command, so what runs cannot be told before. Raised by \
          the engine.",
    programs: Programs::All,
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
fn check(_: &Command) -> Option<Hit> {
    None
}

/// Returns the hit, which the engine raises.
pub fn hit() -> Hit {
    Hit {
        confidence: Confidence::Opaque,
        message: "the name of the program is not known before the command runs, so it cannot be judged. Write the program out".to_owned(),
        asked: None,
        suggestion: String::new(),
    }
}
