//! Commands for tests, made from text, and the found commands as text.

use super::argument_items::words;
use super::{CustomWrappers, InnerCommand, unwrap};
use crate::simple_command_view::{CommandDirectories, CommandStdin, SimpleCommandView, StdinTextSource};
use crate::verdict::AnalysisConfidence;
use crate::word_value::{ValuePiece, WordValue};

/// Returns the words of a text, with the usual quotes and backslashes. `<?>` is an unknown word, `<*>` several of them.
pub(crate) fn value(text: &str) -> WordValue {
    let mut value = WordValue::default();
    let mut rest = text;
    while let Some(at) = rest.find("<?>").into_iter().chain(rest.find("<*>")).min() {
        value.push(ValuePiece::Text(rest[..at].to_owned()));
        value.push(ValuePiece::Unknown(rest[at..].starts_with("<*>")));
        rest = &rest[at + 3..];
    }
    value.push(ValuePiece::Text(rest.to_owned()));
    value
}

/// Unwraps a command with this input.
pub(crate) fn found(line: &str, input: &CommandStdin, custom: &CustomWrappers) -> Vec<InnerCommand> {
    let mut argv: Vec<WordValue> = words(line).iter().map(|word| value(word)).collect();
    let mut assignments = Vec::new();
    while let Some(assignment) = argv.first().and_then(super::words::split_assignment) {
        assignments.push(assignment);
        argv.remove(0);
    }
    let directories = CommandDirectories {
        cwd: "/home/dev/project".into(),
        home: "/home/dev".into(),
        temp: vec!["/tmp".into()],
        writable: None,
    };
    let cwd = WordValue::of("/home/dev/project");
    let command = SimpleCommandView {
        argv: &argv,
        assignments: &assignments,
        redirects: &[],
        cwd: &cwd,
        input,
        via: &[],
        directories: &directories,
    };
    unwrap(&command, input, custom).iter().map(|inner| resolved(inner, &argv)).collect()
}

/// Returns the command with its words written out, so that it can be shown.
fn resolved(inner: &InnerCommand, argv: &[WordValue]) -> InnerCommand {
    match inner {
        InnerCommand::Words { from, to, assignments, cwd, items, via, confidence, elsewhere, stdin, .. } => {
            let set = assignments.iter().map(|(name, value)| {
                let mut word = WordValue::of(format!("{name}="));
                word.extend(value);
                word
            });
            InnerCommand::Argv {
                argv: set.chain(argv[*from..*to].iter().cloned()).chain(items.iter().cloned()).collect(),
                via: via.clone(),
                confidence: *confidence,
                cwd: cwd.clone(),
                elsewhere: *elsewhere,
                stdin: *stdin,
            }
        }
        other => other.clone(),
    }
}

/// Returns a word as text.
pub(crate) fn text(value: &WordValue) -> String {
    let piece = |piece: &ValuePiece| match piece {
        ValuePiece::Text(text) => text.clone(),
        ValuePiece::Glob(text) => format!("<{text}>"),
        ValuePiece::OneOf(texts) => format!("<{}>", texts.join("|")),
        ValuePiece::Unknown(several) => if *several { "<*>" } else { "<?>" }.to_owned(),
    };
    value.pieces().iter().map(piece).collect()
}

/// Returns the found commands, one per line: `sudo: rm -rf /`, `bash -c: {git add -A}`. `?` partial, `@` elsewhere, `!`
/// opaque.
pub(crate) fn shown(found: &[InnerCommand]) -> String {
    let line = |inner: &InnerCommand| {
        let marks = |confidence: &AnalysisConfidence, elsewhere: &bool| {
            let sure = if *confidence == AnalysisConfidence::Exact { "" } else { "?" };
            format!("{sure}{}", if *elsewhere { "@" } else { "" })
        };
        match inner {
            InnerCommand::Words { via, .. } => via.clone(),
            InnerCommand::Argv { argv, via, confidence, cwd, elsewhere, .. } => {
                let folder = cwd.as_ref().map_or(String::new(), |cwd| format!(" in {}", text(cwd)));
                let argv: Vec<_> = argv.iter().map(text).collect();
                format!("{via}{}{folder}: {}", marks(confidence, elsewhere), argv.join(" "))
            }
            InnerCommand::Script { text: script, args, via, confidence, elsewhere, .. } => {
                let args: String = args.iter().map(|arg| format!(" {}", text(arg))).collect();
                format!("{via}{}: {{{}}}{args}", marks(confidence, elsewhere), text(script))
            }
            InnerCommand::Opaque { via } => format!("{via}!"),
        }
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns input from text. `!` is unknown input, and an empty text no input.
pub(crate) fn input(from: &str) -> CommandStdin {
    match from {
        "" => CommandStdin::Inherited,
        "!" => CommandStdin::Opaque { program: Some("curl".into()), contents: None },
        other => CommandStdin::Text(value(other), StdinTextSource::Heredoc),
    }
}

/// Checks a table of commands, inputs and found commands.
pub(crate) fn check(table: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (line, from, expected) in table {
        let got = shown(&found(line, &input(from), &CustomWrappers::new()));
        if got != *expected {
            wrong.push(format!("{line}\n  expected {expected:?}\n  got      {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
