//! Commands that run in a watched bash, and what their traces prove.

mod checks;
mod generated;
mod hostile;
mod table;
mod watch;

use std::path::Path;

use safety::decide::NamedCommandRules;
use sys::WitnessTrace;

use crate::{CommandEnd, CommandEvidence, EvidenceInput, EvidencePart, ShellKnowledge};

/// Reads a command without output.
fn read(command: &str, trace: Option<&WitnessTrace>, end: CommandEnd) -> CommandEvidence {
    let (rules, cwd, known) = (NamedCommandRules::default(), Path::new("/"), ShellKnowledge::default());
    crate::read(EvidenceInput {
        command,
        trace,
        end,
        tests: |_: &[EvidencePart]| Vec::new(),
        cwd,
        rules: &rules,
        known: &known,
    })
}
