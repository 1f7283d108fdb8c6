//! The files that a command writes.

use super::operand_paths::DirectoryLandmarks;
use crate::name_lists::{has_word, words};
use crate::options::{OptionSpec, ParsedArguments, parse};
use crate::programs;
use crate::programs::program::{ProgramFact, WrittenFileWords};
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::WordValue;

/// Calls back with each file that the command writes by a redirect or by its words, and the directory that the path is
/// relative to.
pub fn for_each_written(command: &SimpleCommandView, mut found: impl FnMut(&WordValue, &WordValue)) {
    for redirect in command.redirects.iter().filter(|redirect| redirect.writes_file()) {
        found(&redirect.target, &redirect.cwd);
    }
    let Some(name) = command.name() else { return };
    let program = programs::of(name);
    for fact in program.facts {
        if let ProgramFact::Writes(target) = *fact {
            for_each_named(command, target, &program.options, &mut found);
        }
    }
}

/// Calls back with each file whose contents the words of the command erase: `shred FILE`, `truncate -s 0 FILE`.
pub fn for_each_erased(command: &SimpleCommandView, mut found: impl FnMut(&WordValue, &WordValue)) {
    let Some(program) = command.name().map(programs::of) else { return };
    for fact in program.facts {
        let ProgramFact::Erases(target, with) = *fact else { continue };
        let parsed = parse(command.args(), &program.options);
        let given = |entry: &str| match entry.split_once('=') {
            Some((option, wanted)) => parsed.value(option).is_some_and(|value| value.known() == Some(wanted)),
            None => parsed.has(entry),
        };
        if with.is_empty() || words(with).any(given) {
            for_each_named(command, target, &program.options, &mut found);
        }
    }
}

/// The files that words of the command name.
pub fn for_each_named(
    command: &SimpleCommandView,
    target: WrittenFileWords,
    options: &OptionSpec,
    found: &mut impl FnMut(&WordValue, &WordValue),
) {
    let (args, cwd) = (command.args(), command.cwd);
    if let WrittenFileWords::Prefixed(start) = target {
        let files = args.iter().filter(|arg| arg.prefix().starts_with(start));
        return files.for_each(|arg| found(&arg.after(start.len()), cwd));
    }
    let parsed = parse(args, options);
    if parsed.has("help version") {
        return;
    }
    let operands = parsed.operands.iter().filter_map(|at| args.get(*at));
    match target {
        WrittenFileWords::Operands => operands.for_each(|file| found(file, cwd)),
        // For sed without -e or -f the first operand is the script. On macOS the value of -i may come before it.
        // Neither looks like a file that rules are about.
        WrittenFileWords::OperandsWith(with) if parsed.has(with) => operands.for_each(|file| found(file, cwd)),
        WrittenFileWords::LastUnless(unless) if !parsed.has(unless) => for_copy_target(command, &parsed, found),
        WrittenFileWords::Values(names) => {
            let directory = parsed.value("output-dir").map_or_else(|| cwd.clone(), |value| value.seen_from(cwd));
            let given = parsed.options.iter().filter(|given| has_word(names, &given.name));
            given.filter_map(|given| given.value.as_ref()).for_each(|file| found(file, &directory));
        }
        WrittenFileWords::OperandsWith(_) | WrittenFileWords::LastUnless(_) | WrittenFileWords::Prefixed(_) => {}
    }
}

/// Reports the target of `cp A B DIR`: the directory or file that comes last, or the value of `-t`.
fn for_copy_target(
    command: &SimpleCommandView,
    parsed: &ParsedArguments,
    found: &mut impl FnMut(&WordValue, &WordValue),
) {
    let args = command.args();
    let words: Vec<&WordValue> = parsed.operands.iter().filter_map(|at| args.get(*at)).collect();
    let given = parsed.value("t target-directory");
    let (sources, target) = match (given, words.split_last()) {
        (Some(folder), _) => (words.as_slice(), folder),
        (None, Some((last, sources))) if !sources.is_empty() => (sources, *last),
        _ => return,
    };
    let landmarks = DirectoryLandmarks::new(command.directories);
    found(target, command.cwd);
    // In a home itself the names of the sources count.
    if landmarks.names_home(target, command.cwd) {
        let folder = target.seen_from(command.cwd);
        for source in sources {
            let name = source.known().map(|text| text.trim_end_matches('/')).and_then(|text| text.rsplit('/').next());
            if let Some(name) = name.filter(|name| !matches!(*name, "" | "." | "..")) {
                found(&WordValue::of(name), &folder);
            }
        }
    }
}
