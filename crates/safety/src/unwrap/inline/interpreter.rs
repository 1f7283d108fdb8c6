//! Interpreters: finds their program in the words or on standard input.

use super::directory_walks::walked;
use super::language_specs::grammar;
use super::program_search::commands_of_program;
use super::{sed, vim};
use crate::name_lists::{has_word, words};
use crate::options::{ParsedArguments, parse};
use crate::programs;
use crate::programs::program::{InterpretedLanguage, InterpreterSpec};
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::unwrap::inner_command::{InnerCommand, is_opaque};
use crate::unwrap::words::{is_stdin, is_substitution, is_text};
use crate::word_value::{ValuePiece, WordValue};

/// Returns whether a program of this name is given programs in another language.
pub(crate) fn is_interpreter(name: &str) -> bool {
    !programs::of_any_version(name).interpreters.is_empty()
}

/// Returns the commands in an interpreter's program. `None` for other programs.
pub(in crate::unwrap) fn interpreter(
    command: &SimpleCommandView,
    name: &str,
    input: &CommandStdin,
) -> Option<Vec<InnerCommand>> {
    match name {
        "sed" | "gsed" | "ssed" => return Some(sed::sed(command, name, input)),
        "vim" | "nvim" | "vi" | "ex" | "view" | "gvim" | "vimdiff" | "nvim-qt" => {
            return Some(vim::vim(command, name, input));
        }
        "ed" | "red" => return Some(vim::ed(command, input)),
        _ => {}
    }
    programs::of_any_version(name).interpreters.iter().find_map(|interpreter| read(command, name, input, interpreter))
}

fn read(
    command: &SimpleCommandView,
    name: &str,
    input: &CommandStdin,
    interpreter: &InterpreterSpec,
) -> Option<Vec<InnerCommand>> {
    let mut args = command.args();
    if !interpreter.subcommand.is_empty() {
        let sub = args.iter().position(|word| !word.prefix().starts_with('-'))?;
        has_word(interpreter.subcommand, args[sub].known()?).then_some(())?;
        args = &args[sub + 1..];
    } else if name == "bun" && !args.first().is_some_and(|word| word.prefix().starts_with('-')) {
        // Subcommands of bun run nothing from these words.
        return None;
    }
    let parsed = parse(args, &interpreter.options);
    let is_awk = interpreter.language == InterpretedLanguage::Awk;
    let variables = if is_awk { assigned(&parsed) } else { Vec::new() };
    let opaque = |via: &str| vec![InnerCommand::Opaque { via: via.to_owned() }];
    let look = |text: &WordValue, via: &str| match grammar(interpreter.language) {
        Some(grammar) if !is_opaque(text) => {
            let mut found = commands_of_program(command, grammar, text, via, variables.clone());
            let removes =
                |inner: &InnerCommand| matches!(inner, InnerCommand::Argv { argv, .. } if is_text(&argv[0], "rm"));
            if !found.iter().any(removes) {
                found.extend(walked(interpreter.language, text, via));
            }
            found
        }
        _ => opaque(via),
    };
    let operand = parsed.operands.first().map(|at| &args[*at]);
    let from_file = parsed.value("f file").filter(|_| is_awk);
    let operand_is_code = (is_awk && from_file.is_none())
        || parsed.has(interpreter.flag)
        || has_word(interpreter.subcommand, "eval")
        || has_word(interpreter.subcommand, "runner");
    let given = given_code(&parsed, interpreter);
    let code = if given.pieces().is_empty() { operand.filter(|_| operand_is_code) } else { Some(&given) };
    if let Some(code) = code.filter(|code| !code.pieces().is_empty()) {
        return Some(look(code, &via(name, &parsed, interpreter)));
    }
    if parsed.has(interpreter.stop) || (operand_is_code && from_file.is_none()) {
        return Some(Vec::new());
    }
    let file = if is_awk { from_file } else { operand };
    let reads = match file {
        None => !is_awk && interpreter.subcommand.is_empty(),
        Some(file) => is_text(file, "-") || is_stdin(file),
    };
    Some(match input {
        _ if file.is_some_and(is_substitution) => opaque(name),
        CommandStdin::Opaque { .. } if reads => opaque(name),
        CommandStdin::Text(text, _) if reads && is_opaque(text) => opaque(name),
        // The interpreter reads its whole input as the program. The commands that the program runs get none of it.
        CommandStdin::Text(text, _) if reads => {
            let found = look(text, &format!("{name} <<"));
            found.into_iter().map(InnerCommand::without_stdin).collect()
        }
        CommandStdin::Text(..) | CommandStdin::Opaque { .. } | CommandStdin::Inherited => Vec::new(),
    })
}

/// Returns the code in options. Each option is one line of the code.
fn given_code(parsed: &ParsedArguments, interpreter: &InterpreterSpec) -> WordValue {
    let given = parsed.options.iter().filter(|given| has_word(interpreter.code, &given.name));
    let mut text = WordValue::default();
    for code in given.filter_map(|given| given.value.as_ref()) {
        if !text.pieces().is_empty() {
            text.push(ValuePiece::Text("\n".to_owned()));
        }
        text.extend(code);
    }
    text
}

/// Returns the way in which the code was given: `python3 -c`, `deno eval`, `awk`.
fn via(name: &str, parsed: &ParsedArguments, interpreter: &InterpreterSpec) -> String {
    let option = words(interpreter.code).chain(words(interpreter.flag)).find(|option| parsed.has(option));
    match (option, words(interpreter.subcommand).next()) {
        (Some(option), _) => format!("{name} {}", dashed(option)),
        (None, Some(subcommand)) => format!("{name} {subcommand}"),
        (None, None) => name.to_owned(),
    }
}

/// Reads awk's `-v name=value`.
fn assigned(parsed: &ParsedArguments) -> Vec<(String, WordValue)> {
    let given = parsed.options.iter().filter(|given| matches!(given.name.as_str(), "v" | "assign"));
    given.filter_map(|given| crate::unwrap::words::split_assignment(given.value.as_ref()?)).collect()
}

fn dashed(name: &str) -> String {
    if name.len() == 1 { format!("-{name}") } else { format!("--{name}") }
}
