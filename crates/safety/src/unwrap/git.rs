//! The commands that git runs: aliases, `submodule foreach`, `bisect run`, `rebase --exec`, programs named by `-c`.

use super::argument_items::words;
use super::inner_command::InnerCommand;
use crate::name_lists::{has_word, words as words_of};
use crate::options::{ParsedArguments, parse};
use crate::programs;
use crate::programs::git::{COMMAND_OPTIONS, COMMAND_SETTING_ENDS, COMMAND_SETTINGS, COMMAND_VARIABLES};
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::WordValue;

/// Returns the commands that git runs.
pub(super) fn git(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let args = command.args();
    let parsed = parse(args, &programs::of("git").options);
    let mut found = Vec::new();
    for (name, value) in command.assignments {
        if has_word(COMMAND_VARIABLES, name) {
            found.extend(known_script(value.clone(), name));
        }
    }
    let Some(at) = parsed.operands.first().copied() else { return found };
    let subcommand = args[at].known().unwrap_or_default();
    settings(&parsed, subcommand, &args[at + 1..], &mut found);
    let rest = &args[at + 1..];
    match subcommand {
        "submodule" => foreach(command, at + 2, &mut found),
        "bisect" if rest.first().is_some_and(|word| word.known() == Some("run")) && rest.len() > 1 => {
            found.push(child(InnerCommand::words(at + 3, command.argv.len(), "git bisect run")));
        }
        _ => {}
    }
    for option in COMMAND_OPTIONS.iter().filter(|option| has_word(option.subcommands, subcommand)) {
        let parsed = parse(rest, &option.spec);
        let given = parsed.options.iter().filter(|given| has_word(option.options, &given.name));
        found.extend(given.filter_map(|given| InnerCommand::script(given.value.clone()?, option.via)));
    }
    found
}

/// Reads `git submodule foreach --recursive 'script'`, or with the words of a command.
fn foreach(command: &SimpleCommandView, from: usize, found: &mut Vec<InnerCommand>) {
    let argv = command.argv;
    let word = |at: usize| argv.get(at).and_then(WordValue::known);
    let mut at = from;
    while word(at).is_some_and(|text| text.starts_with('-')) {
        at += 1;
    }
    if word(at) != Some("foreach") {
        return;
    }
    at += 1;
    while word(at).is_some_and(|text| text.starts_with('-')) {
        at += 1;
    }
    match argv.len().saturating_sub(at) {
        0 => {}
        1 => found.extend(InnerCommand::script(argv[at].clone(), "git submodule foreach")),
        _ => found.push(child(InnerCommand::words(at, argv.len(), "git submodule foreach"))),
    }
}

/// Reads the commands in `-c name=value`: programs, and the alias that the subcommand names.
fn settings(parsed: &ParsedArguments, subcommand: &str, rest: &[WordValue], found: &mut Vec<InnerCommand>) {
    for given in parsed.options.iter().filter(|given| given.name == "c") {
        let Some(word) = &given.value else { continue };
        let Some((name, _)) = word.prefix().split_once('=') else { continue };
        let lower = name.to_ascii_lowercase();
        let value = word.after(name.len() + 1);
        if let Some(alias) = lower.strip_prefix("alias.") {
            if alias.trim_end_matches(".command").eq_ignore_ascii_case(subcommand) {
                found.extend(alias_command(&value, rest));
            }
        } else if has_word(COMMAND_SETTINGS, &lower) || words_of(COMMAND_SETTING_ENDS).any(|end| lower.ends_with(end)) {
            // `core.fsmonitor=false` switches the built-in monitor off and names no program.
            if lower == "core.fsmonitor"
                && value.known().is_some_and(|value| matches!(value, "true" | "false" | "0" | "1"))
            {
                continue;
            }
            let script = if value.prefix().starts_with('!') { value.after(1) } else { value };
            found.extend(known_script(script, "git -c"));
        }
    }
}

/// Returns the command of an alias with the words behind it.
fn alias_command(value: &WordValue, rest: &[WordValue]) -> Option<InnerCommand> {
    if value.prefix().starts_with('!') {
        let mut script = value.after(1);
        for word in rest {
            script.push(crate::word_value::ValuePiece::Text(" ".to_owned()));
            script.extend(word);
        }
        return InnerCommand::script(script, "git -c alias");
    }
    let text = value.known()?;
    let words = words(text);
    let argv =
        std::iter::once(WordValue::of("git")).chain(words.into_iter().map(WordValue::of)).chain(rest.iter().cloned());
    Some(InnerCommand::argv(argv.collect(), "git -c alias"))
}

/// Returns a script, unless nothing of it is known: an editor in a variable is common.
fn known_script(text: WordValue, via: &str) -> Option<InnerCommand> {
    InnerCommand::script(text, via).filter(|inner| !matches!(inner, InnerCommand::Opaque { .. }))
}

fn child(mut inner: InnerCommand) -> InnerCommand {
    if let InnerCommand::Words { prefix, .. } = &mut inner {
        *prefix = false;
    }
    inner
}
