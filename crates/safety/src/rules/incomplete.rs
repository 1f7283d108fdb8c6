//! A command that could not be judged completely.

use super::rule::{Hit, Programs, Rule};
use crate::command::Command;
use crate::level::{Confidence, Verdict};

pub static RULE: Rule = Rule {
    id: "incomplete",
    level: Verdict::Ask,
    doc: "Not all of the command could be judged: it has a syntax error or a NUL, or it is past a limit of the engine. \
          Raised by the engine.",
    programs: Programs::All,
    check,
    matches: &["echo 'x", "if true; then echo x", "echo $(ls", "for", "echo )"],
    passes: &["echo x", "cat <<'EOF'\nit's\nEOF", "if true; then echo x; fi", "for x in a b; do echo $x; done"],
};

/// Finds nothing. The engine raises the hit by the syntax.
fn check(_: &Command) -> Option<Hit> {
    None
}

/// Returns the hit, which the engine raises.
pub fn hit() -> Hit {
    Hit {
        confidence: Confidence::Opaque,
        message: "the command could not be read as a whole, so it cannot be judged. Check its syntax, or split it into shorter commands".to_owned(),
        asked: None,
        suggestion: String::new(),
    }
}
