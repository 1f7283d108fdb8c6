//! Options of common programs that name a command: `tar --to-command`, `rsync -e`, `ssh -o ProxyCommand`.

use super::inner_command::InnerCommand;
use crate::name_lists::has_word;
use crate::options::{ParsedArguments, parse};
use crate::programs;
use crate::simple_command_view::SimpleCommandView;
use crate::word_alternatives::alternatives;
use crate::word_value::WordValue;

/// Returns the commands in a program's options.
pub(super) fn hooks(command: &SimpleCommandView, name: &str) -> Vec<InnerCommand> {
    let args = command.args();
    let mut found = Vec::new();
    let program = programs::of(name);
    let parsed = if program.hooks.is_empty() { ParsedArguments::default() } else { parse(args, &program.options) };
    for hook in program.hooks {
        for given in parsed.options.iter().filter(|given| has_word(hook.options, &given.name)) {
            let Some(value) = &given.value else { continue };
            let via = if given.name.len() == 1 {
                format!("{name} -{}", given.name)
            } else {
                format!("{name} --{}", given.name)
            };
            found.extend(command_after_prefix(value, hook.begins).and_then(|script| InnerCommand::script(script, via)));
        }
    }
    if let Some((_, options)) = command.assignments.iter().rfind(|(variable, _)| variable == "TAR_OPTIONS")
        && matches!(name, "tar" | "gtar")
    {
        for options in alternatives(options) {
            let words = options.known().unwrap_or_default().split_ascii_whitespace().map(WordValue::of);
            let argv = std::iter::once(WordValue::of(name)).chain(words).chain(args.iter().cloned());
            found.push(InnerCommand::argv(argv.collect(), "TAR_OPTIONS"));
        }
    }
    found.extend(removal_of_archived(args, name));
    if name == "cmake" {
        found.extend(cmake(args));
    }
    found
}

/// Returns the command behind the prefix. `None` if the value has none of the prefixes.
pub(super) fn command_after_prefix(value: &WordValue, begins: &[&str]) -> Option<WordValue> {
    if begins.is_empty() {
        return Some(value.clone());
    }
    let text = value.prefix().trim_start();
    let skipped = value.prefix().len() - text.len();
    let begin =
        begins.iter().find(|begin| text.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin)))?;
    Some(value.after(skipped + begin.len()))
}

/// `cmake -E rm -rf DIR`
fn cmake(args: &[WordValue]) -> Option<InnerCommand> {
    if args.first()?.known() != Some("-E") {
        return None;
    }
    let words = match args.get(1)?.known()? {
        "rm" => &args[2..],
        "remove_directory" => return Some(removal_of(&args[2..], "cmake -E")),
        _ => return None,
    };
    let argv = std::iter::once(WordValue::of("rm")).chain(words.iter().cloned());
    Some(InnerCommand::argv(argv.collect(), "cmake -E"))
}

/// `tar --remove-files`, `zip -m`: what was packed is removed.
fn removal_of_archived(args: &[WordValue], name: &str) -> Option<InnerCommand> {
    if !matches!(name, "tar" | "gtar" | "bsdtar" | "zip") {
        return None;
    }
    let parsed = parse(args, &programs::of(name).options);
    let operands: Vec<WordValue> = parsed.operands.iter().map(|at| args[*at].clone()).collect();
    if name == "zip" {
        return parsed.has("m move").then(|| Some(removal_of(operands.get(1..)?, "zip -m")))?;
    }
    args.iter().find(|arg| arg.known() == Some("--remove-files"))?;
    // The letters of `tar cf FILE` take the first operand.
    let letters = !args[0].prefix().starts_with('-');
    let skipped = if letters { 1 + usize::from(args[0].prefix().contains('f')) } else { 0 };
    Some(removal_of(operands.get(skipped..)?, "tar --remove-files"))
}

/// Makes a command that removes directories.
fn removal_of(paths: &[WordValue], via: &str) -> InnerCommand {
    let argv = ["rm", "-rf", "--"].into_iter().map(WordValue::of).chain(paths.iter().cloned());
    InnerCommand::argv(argv.collect(), via)
}

/// `gdb -ex 'shell script'`
pub(super) fn debugger(command: &SimpleCommandView, name: &str) -> Vec<InnerCommand> {
    if !matches!(name, "gdb" | "cgdb" | "lldb") {
        return Vec::new();
    }
    let begins = &["shell ", "!", "platform shell "];
    let commands = command.args().iter().filter(|word| !word.prefix().starts_with('-'));
    commands
        .filter_map(|word| command_after_prefix(word, begins))
        .filter_map(|script| InnerCommand::script(script, name))
        .collect()
}
