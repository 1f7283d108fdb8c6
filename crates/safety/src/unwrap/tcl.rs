//! Tcl and expect: `expect -c 'spawn words'`.

use super::inner::InnerCommand;
use super::placeholders::PlaceholderText;
use super::words::is_stdin;
use crate::command::{Command, Input};
use crate::options::{OptionSpec, parse};
use crate::value::Value;

/// A Tcl program on standard input.
pub(super) fn tcl(command: &Command, input: &Input) -> Vec<InnerCommand> {
    let name = command.name().unwrap_or_default();
    if command.args().first().is_some_and(|file| !is_stdin(file)) {
        return Vec::new();
    }
    match input {
        Input::Text(text, _) => tcl_lines(text, name),
        Input::Opaque { .. } => vec![InnerCommand::Opaque { via: name.to_owned() }],
        Input::Inherited => Vec::new(),
    }
}

/// `expect -c 'spawn words'`, and the same on standard input.
pub(super) fn expect(command: &Command, input: &Input) -> Vec<InnerCommand> {
    let args = command.args();
    let parsed = parse(args, &OptionSpec::leading("c:dDf:inNbv", ""));
    let given = parsed.options.iter().filter(|given| given.name == "c");
    let mut programs: Vec<&Value> = given.filter_map(|given| given.value.as_ref()).collect();
    let file = parsed.operands.first().map(|at| &args[*at]).or_else(|| parsed.value("f b"));
    let reads = file.map_or(programs.is_empty(), |file| file.known() == Some("-") || is_stdin(file));
    match input {
        Input::Text(text, _) if reads => programs.push(text),
        _ => {}
    }
    let mut found = Vec::new();
    for program in programs {
        found.extend(tcl_lines(program, "expect"));
    }
    found
}

/// The commands that a Tcl program starts at the beginning of a line or of brackets.
fn tcl_lines(program: &Value, via: &str) -> Vec<InnerCommand> {
    let flat = PlaceholderText::of(program);
    let mut found = Vec::new();
    for line in flat.text.split(['\n', ';']) {
        let mut line = line.trim();
        let nested = line.find("[exec ").map(|at| &line[at + 1..]);
        let caught = line.strip_prefix("catch {").filter(|rest| rest.starts_with("exec "));
        if let Some(nested) = nested.or(caught) {
            line = nested.find([']', '}']).map_or(nested, |end| &nested[..end]);
        }
        let script = ["spawn ", "exec ", "system "].iter().find_map(|begin| line.strip_prefix(begin));
        found.extend(script.and_then(|script| InnerCommand::script(flat.value(script), via)));
    }
    found
}
