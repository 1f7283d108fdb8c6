//! A command that could not be judged completely.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::{AnalysisConfidence, SafetyVerdict};

pub static RULE: SafetyRule = SafetyRule {
    id: "incomplete",
    level: SafetyVerdict::Ask,
    doc: "Not all of the command could be judged: it has a syntax error or a NUL, or it is past a limit of the engine. \
          Raised by the engine.",
    programs: RulePrograms::All,
    check,
    matches: &["echo 'x", "if true; then echo x", "echo $(ls", "for", "echo )"],
    passes: &["echo x", "cat <<'EOF'\nit's\nEOF", "if true; then echo x; fi", "for x in a b; do echo $x; done"],
};

/// Finds nothing. The engine raises the hit by the syntax.
fn check(_: &SimpleCommandView) -> Option<RuleHit> {
    None
}

/// Returns the hit, which the engine raises.
pub fn hit() -> RuleHit {
    RuleHit {
        confidence: AnalysisConfidence::Opaque,
        message: "the command could not be read as a whole, so it cannot be judged. Check its syntax, or split it into shorter commands".to_owned(),
        asked: None,
        suggestion: String::new(),
    }
}
