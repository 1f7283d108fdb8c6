//! Commands that run in a watched bash, and what their traces prove.

mod checks;
mod generated;
mod hostile;
mod table;
mod watch;

use std::path::Path;

use safety::decide::NamedCommandRules;
use sys::WitnessTrace;

use crate::{End, Evidence, KnownBefore, Part, Ran};

/// Reads a command without output.
fn read(command: &str, trace: Option<&WitnessTrace>, end: End) -> Evidence {
    let (rules, cwd, known) = (NamedCommandRules::default(), Path::new("/"), KnownBefore::default());
    crate::read(Ran { command, trace, end, tests: |_: &[Part]| Vec::new(), cwd, rules: &rules, known: &known })
}
