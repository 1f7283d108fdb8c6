//! Commands that run in a watched bash, and what their traces prove.

mod checks;
mod generated;
mod hostile;
mod table;
mod watch;

use std::path::Path;

use safety::decide::Commands;
use sys::Trace;

use crate::{End, Evidence, Part, Ran};

/// Reads a command without output.
fn read(command: &str, trace: Option<&Trace>, end: End) -> Evidence {
    read_with(command, "", trace, end)
}

/// Reads a command in a shell that knew these functions before.
fn read_with(command: &str, functions: &str, trace: Option<&Trace>, end: End) -> Evidence {
    let (rules, cwd) = (Commands::default(), Path::new("/"));
    crate::read(Ran { command, trace, end, tests: |_: &[Part]| Vec::new(), cwd, rules: &rules, functions })
}
