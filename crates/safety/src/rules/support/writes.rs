//! The files that a command writes.

use super::paths::Landmarks;
use crate::command::Command;
use crate::lists::{has_word, words};
use crate::options::{OptionSpec, Parsed, parse};
use crate::programs;
use crate::programs::program::{Fact, Target};
use crate::value::Value;

/// Calls back with each file that the command writes by a redirect or by its words, and the directory that the path is
/// relative to.
pub fn each(command: &Command, mut found: impl FnMut(&Value, &Value)) {
    for redirect in command.redirects.iter().filter(|redirect| redirect.writes_file()) {
        found(&redirect.target, &redirect.cwd);
    }
    let Some(name) = command.name() else { return };
    let program = programs::of(name);
    for fact in program.facts {
        if let Fact::Writes(target) = *fact {
            named(command, target, &program.options, &mut found);
        }
    }
}

/// Calls back with each file whose contents the words of the command erase: `shred FILE`, `truncate -s 0 FILE`.
pub fn erased(command: &Command, mut found: impl FnMut(&Value, &Value)) {
    let Some(program) = command.name().map(programs::of) else { return };
    for fact in program.facts {
        let Fact::Erases(target, with) = *fact else { continue };
        let parsed = parse(command.args(), &program.options);
        let given = |entry: &str| match entry.split_once('=') {
            Some((option, wanted)) => parsed.value(option).is_some_and(|value| value.known() == Some(wanted)),
            None => parsed.has(entry),
        };
        if with.is_empty() || words(with).any(given) {
            named(command, target, &program.options, &mut found);
        }
    }
}

/// The files that words of the command name.
pub fn named(command: &Command, target: Target, options: &OptionSpec, found: &mut impl FnMut(&Value, &Value)) {
    let (args, cwd) = (command.args(), command.cwd);
    if let Target::Prefixed(start) = target {
        let files = args.iter().filter(|arg| arg.prefix().starts_with(start));
        return files.for_each(|arg| found(&arg.after(start.len()), cwd));
    }
    let parsed = parse(args, options);
    if parsed.has("help version") {
        return;
    }
    let operands = parsed.operands.iter().filter_map(|at| args.get(*at));
    match target {
        Target::Operands => operands.for_each(|file| found(file, cwd)),
        // For sed without -e or -f the first operand is the script. On macOS the value of -i may come before it.
        // Neither looks like a file that rules are about.
        Target::OperandsWith(with) if parsed.has(with) => operands.for_each(|file| found(file, cwd)),
        Target::LastUnless(unless) if !parsed.has(unless) => copies(command, &parsed, found),
        Target::Values(names) => {
            let directory = parsed.value("output-dir").map_or_else(|| cwd.clone(), |value| value.seen_from(cwd));
            let given = parsed.options.iter().filter(|given| has_word(names, &given.name));
            given.filter_map(|given| given.value.as_ref()).for_each(|file| found(file, &directory));
        }
        Target::OperandsWith(_) | Target::LastUnless(_) | Target::Prefixed(_) => {}
    }
}

/// Reports the target of `cp A B DIR`: the directory or file that comes last, or the value of `-t`.
fn copies(command: &Command, parsed: &Parsed, found: &mut impl FnMut(&Value, &Value)) {
    let args = command.args();
    let words: Vec<&Value> = parsed.operands.iter().filter_map(|at| args.get(*at)).collect();
    let given = parsed.value("t target-directory");
    let (sources, target) = match (given, words.split_last()) {
        (Some(folder), _) => (words.as_slice(), folder),
        (None, Some((last, sources))) if !sources.is_empty() => (sources, *last),
        _ => return,
    };
    let landmarks = Landmarks::new(command.directories);
    found(target, command.cwd);
    // In a home itself the names of the sources count.
    if landmarks.home(target, command.cwd) {
        let folder = target.seen_from(command.cwd);
        for source in sources {
            let name = source.known().map(|text| text.trim_end_matches('/')).and_then(|text| text.rsplit('/').next());
            if let Some(name) = name.filter(|name| !matches!(*name, "" | "." | "..")) {
                found(&Value::of(name), &folder);
            }
        }
    }
}
