//! Wrappers with words that no table can describe.

use super::exec_rest::{command_start, exec_rest};
use super::inner::{Inner, WrapperKind};
use super::items::{Cut, cut, words};
use super::stdin::from_stdin;
use super::words::same;
use crate::safety::command::{Command, Input};
use crate::safety::options::parse;
use crate::safety::tables::wrappers::{self, Dashes, Form, Wrapper};
use crate::safety::value::Value;

/// What a wrapper runs that the host has named.
pub(super) fn custom(command: &Command, name: &str, input: &Input, kind: WrapperKind) -> Vec<Inner> {
    let mut rest = Wrapper::rest(&[], "", &[]).assignments();
    // An option of one that nobody has described: with `--` it is clear where the command begins.
    rest.dashes = Dashes::Begin;
    match kind {
        WrapperKind::ExecRest => exec_rest(command, name, input, &rest).unwrap_or_default(),
        WrapperKind::ShellString => {
            let joined =
                Wrapper { form: Form::Joined, ..Wrapper::joined(&[], "c:", &["command="]).script(&["c", "command"]) };
            exec_rest(command, name, input, &joined).unwrap_or_default()
        }
        WrapperKind::StdinScript => from_stdin(input, name, command.args().to_vec(), false, false),
        WrapperKind::PerItem => {
            let mut found = exec_rest(command, name, input, &rest.child()).unwrap_or_default();
            for inner in &mut found {
                if let Inner::Words { items, stdin, .. } = inner {
                    *items = match input {
                        Input::Text(text, _) => cut(text, Cut::Words),
                        _ => vec![Value::unknown()],
                    };
                    *stdin = false;
                }
            }
            found
        }
    }
}

/// `env -S 'words of a command' more`: env again, with these words in their place.
pub(super) fn split_string(command: &Command) -> Option<Vec<Inner>> {
    let args = command.args();
    let wrapper = wrappers::of("env").next()?;
    let parsed = parse(args, &wrapper.spec);
    let given = parsed.options.iter().find(|given| matches!(given.name.as_str(), "S" | "split-string"))?;
    let word = args.get(given.at)?;
    let attached = match word.prefix().strip_prefix("--") {
        Some(long) => long.contains('='),
        None => !word.prefix().ends_with('S') || word.has_hole(),
    };
    let rest = args.get(given.at + if attached { 1 } else { 2 }..).unwrap_or_default();
    let Some(known) = given.value.as_ref()?.known() else {
        return Some(vec![Inner::Opaque { via: "env -S".to_owned() }]);
    };
    let split = words(known).into_iter().map(Value::of);
    let argv = command.argv[..=given.at].iter().cloned().chain(split).chain(rest.iter().cloned());
    Some(vec![Inner::argv(argv.collect(), "env -S")])
}

/// `capsh options -- words for bash`
pub(super) fn capsh(command: &Command) -> Vec<Inner> {
    let args = command.args();
    let Some(at) = args.iter().position(|word| same(word, "--")) else { return Vec::new() };
    let argv = std::iter::once(Value::of("bash")).chain(args[at + 1..].iter().cloned());
    vec![Inner::argv(argv.collect(), "capsh")]
}

/// `docker run --entrypoint program image words…`
pub(super) fn entrypoint(command: &Command) -> Option<Vec<Inner>> {
    let named = |word: &Value| word.prefix().starts_with("--entrypoint");
    // Looked for in the options only: the image's own words come later.
    command.args().iter().take(64).find(|word| named(word))?;
    let name = command.name()?;
    for wrapper in wrappers::of(name) {
        let Some(start) = command_start(command, name, wrapper) else { continue };
        let parsed = parse(
            &command.argv[1..start.saturating_sub(1).max(1)],
            &crate::safety::options::Spec { permute: true, ..wrapper.spec },
        );
        // An empty one is none: the words are the command, as elsewhere.
        let program = parsed.value(&["entrypoint"]).filter(|program| program.known() != Some(""))?;
        let mut argv = vec![program.clone()];
        argv.extend(command.argv[start..].iter().cloned());
        let mut inner = Inner::argv(argv, "docker run");
        if let Inner::Argv { elsewhere, .. } = &mut inner {
            *elsewhere = true;
        }
        return Some(vec![inner]);
    }
    None
}

/// `rimraf paths…`: rm by another name.
pub(super) fn rimraf(command: &Command) -> Vec<Inner> {
    let paths = command.args().iter().filter(|word| !word.prefix().starts_with('-'));
    let argv: Vec<_> = ["rm", "-rf", "--"].into_iter().map(Value::of).chain(paths.cloned()).collect();
    vec![Inner::argv(argv, "rimraf")]
}
