//! Recipes of a makefile that is read from standard input or given by `--eval`.

use super::inner_command::InnerCommand;
use super::placeholder_text::{PlaceholderText, is_placeholder};
use super::words::is_stdin;
use crate::options::{OptionSpec, parse};
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::word_value::{ValuePiece, WordValue};

/// Returns the recipes of a makefile on standard input and in `--eval`.
pub(super) fn make(command: &SimpleCommandView, input: &CommandStdin) -> Vec<InnerCommand> {
    let long = "eval= file= makefile= directory= include-dir= jobs=? just-print dry-run question touch";
    let parsed = parse(command.args(), &OptionSpec::gnu("bBC:def:hij::I:kl::mnNo:O::pqrRsStvwW:", long));
    let mut found = Vec::new();
    let stdin = |file: &WordValue| file.known() == Some("-") || is_stdin(file);
    if let (Some(file), CommandStdin::Text(text, _)) = (parsed.value("f file makefile"), input)
        && stdin(file)
    {
        let flat = PlaceholderText::of(text);
        // `all: ; recipe`
        let inline = |line: &'_ str| {
            let (rule, _) = line.split_once(';')?;
            (rule.contains(':') && !rule.contains(['=', '#'])).then_some(rule.len() + 1)
        };
        let lines = flat
            .text
            .lines()
            .filter_map(|line| line.strip_prefix('\t').or_else(|| inline(line).map(|from| line[from..].trim_start())));
        let lines: Vec<&str> = lines.collect();
        found.extend(recipe(&flat, &lines));
    }
    for given in parsed.options.iter().filter(|given| given.name == "eval") {
        let Some(text) = &given.value else { continue };
        let flat = PlaceholderText::of(text);
        let lines: Vec<&str> = flat.text.split_once(';').into_iter().map(|(_, recipe)| recipe).collect();
        found.extend(recipe(&flat, &lines));
    }
    found
}

/// Returns a recipe's lines as a script. Variables of make are not known.
fn recipe(flat: &PlaceholderText, lines: &[&str]) -> Option<InnerCommand> {
    let mut script = WordValue::default();
    for line in lines {
        let mut rest = line.trim_start_matches(['@', '-', '+', ' ']);
        while let Some(at) = rest.find('$') {
            script.extend(&flat.value(&rest[..at]));
            let behind = &rest[at + 1..];
            let close = match behind.chars().next() {
                Some('(') => behind.find(')'),
                Some('{') => behind.find('}'),
                Some('$') => {
                    script.push(ValuePiece::Text("$".to_owned()));
                    rest = &behind[1..];
                    continue;
                }
                Some(letter) if !is_placeholder(letter) => Some(letter.len_utf8() - 1),
                _ => None,
            };
            script.push(ValuePiece::Unknown(true));
            rest = close.map_or("", |close| behind.get(close + 1..).unwrap_or(""));
        }
        script.extend(&flat.value(rest));
        if lines.len() > 1 {
            script.push(ValuePiece::Text("\n".to_owned()));
        }
    }
    InnerCommand::script(script, "make")
}
