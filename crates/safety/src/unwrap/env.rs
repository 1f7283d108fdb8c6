//! `env -S 'words of a command'`, and `capsh -- words`.

use super::argument_items::words;
use super::inner_command::InnerCommand;
use super::words::is_text;
use crate::options::parse;
use crate::programs;
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::WordValue;

/// Reads `env -S 'words of a command' more` as `env` with these words in the place of the text.
pub(super) fn split_string(command: &SimpleCommandView) -> Option<Vec<InnerCommand>> {
    let args = command.args();
    let wrapper = programs::of("env").wrappers.first()?;
    let parsed = parse(args, &wrapper.spec);
    let given = parsed.options.iter().find(|given| matches!(given.name.as_str(), "S" | "split-string"))?;
    let word = args.get(given.at)?;
    let attached = match word.prefix().strip_prefix("--") {
        Some(long) => long.contains('='),
        None => !word.prefix().ends_with('S') || word.has_unknown(),
    };
    let rest = args.get(given.at + if attached { 1 } else { 2 }..).unwrap_or_default();
    let Some(known) = given.value.as_ref()?.known() else {
        return Some(vec![InnerCommand::Opaque { via: "env -S".to_owned() }]);
    };
    let split = words(known).into_iter().map(WordValue::of);
    let argv = command.argv[..=given.at].iter().cloned().chain(split).chain(rest.iter().cloned());
    Some(vec![InnerCommand::argv(argv.collect(), "env -S")])
}

/// `capsh options -- words for bash`
pub(super) fn capsh(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let args = command.args();
    let Some(at) = args.iter().position(|word| is_text(word, "--")) else { return Vec::new() };
    let argv = std::iter::once(WordValue::of("bash")).chain(args[at + 1..].iter().cloned());
    vec![InnerCommand::argv(argv.collect(), "capsh")]
}
