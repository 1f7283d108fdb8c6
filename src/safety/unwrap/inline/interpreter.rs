//! Interpreters: where their program stands, and which language it is in.

use super::languages::{AWK, BY_NAME, Interpreter};
use super::program::program;
use super::{sed, vim};
use crate::safety::command::{Command, Input};
use crate::safety::options::{Parsed, parse};
use crate::safety::unwrap::inner::{Inner, is_opaque};
use crate::safety::unwrap::words::{is_stdin, is_substitution, same};
use crate::safety::value::{Piece, Value};

/// Whether a program of this name is given programs in another language.
pub(in crate::safety) fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-');
    BY_NAME.contains_key(name) || BY_NAME.contains_key(plain)
}

/// What an interpreter runs; `None` for what is none.
pub(in crate::safety::unwrap) fn interpreter(command: &Command, name: &str, input: &Input) -> Option<Vec<Inner>> {
    match name {
        "sed" | "gsed" | "ssed" => return Some(sed::sed(command, name, input)),
        "vim" | "nvim" | "vi" | "ex" | "view" | "gvim" | "vimdiff" | "nvim-qt" => {
            return Some(vim::vim(command, name, input));
        }
        "ed" | "red" => return Some(vim::ed(command, input)),
        _ => {}
    }
    // `python3.12`
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-');
    let candidates = BY_NAME.get(name).or_else(|| BY_NAME.get(plain))?;
    candidates.iter().find_map(|interpreter| read(command, name, input, interpreter))
}

fn read(command: &Command, name: &str, input: &Input, interpreter: &Interpreter) -> Option<Vec<Inner>> {
    let mut args = command.args();
    if !interpreter.sub.is_empty() {
        let sub = args.iter().position(|word| !word.prefix().starts_with('-'))?;
        interpreter.sub.contains(&args[sub].known()?).then_some(())?;
        args = &args[sub + 1..];
    } else if name == "bun" && !args.first().is_some_and(|word| word.prefix().starts_with('-')) {
        // Its subcommands run nothing from these words.
        return None;
    }
    let parsed = parse(args, &interpreter.spec);
    let is_awk = std::ptr::eq(interpreter.language, &AWK);
    let variables = if is_awk { assigned(&parsed) } else { Vec::new() };
    let look = |text: &Value, via: &str| program(command, interpreter.language, text, via, variables.clone());
    let mut found = Vec::new();
    let mut text = Value::default();
    for given in parsed.options.iter().filter(|given| interpreter.code.contains(&given.name.as_str())) {
        let Some(code) = &given.value else { continue };
        if !text.pieces().is_empty() {
            text.push(Piece::Text("\n".to_owned()));
        }
        text.extend(code);
    }
    let operand = parsed.operands.first().map(|at| &args[*at]);
    let from_file = parsed.value(&["f", "file"]).filter(|_| is_awk);
    let operand_is_code = (is_awk && from_file.is_none())
        || parsed.has(interpreter.flag)
        || matches!(interpreter.sub, ["eval"] | ["runner", ..]);
    if text.pieces().is_empty()
        && operand_is_code
        && let Some(code) = operand
    {
        text = code.clone();
    }
    if !text.pieces().is_empty() {
        let option = interpreter.code.iter().find(|option| parsed.has(&[option])).map(|option| dashed(option));
        let option = option
            .or_else(|| interpreter.flag.iter().find(|option| parsed.has(&[option])).map(|option| dashed(option)));
        let via = match option {
            Some(option) => format!("{name} {option}"),
            None if !interpreter.sub.is_empty() => format!("{name} {}", interpreter.sub[0]),
            None => name.to_owned(),
        };
        if is_opaque(&text) {
            found.push(Inner::Opaque { via });
        } else {
            found.extend(look(&text, &via));
        }
        return Some(found);
    }
    if parsed.has(interpreter.stop) || (operand_is_code && from_file.is_none()) {
        return Some(found);
    }
    let file = if is_awk { from_file } else { operand };
    let reads = match file {
        None => !is_awk && interpreter.sub.is_empty(),
        Some(file) => same(file, "-") || is_stdin(file),
    };
    if file.is_some_and(is_substitution) {
        found.push(Inner::Opaque { via: name.to_owned() });
    } else if reads {
        match input {
            Input::Text(text, _) if is_opaque(text) => found.push(Inner::Opaque { via: name.to_owned() }),
            Input::Text(text, _) => found.extend(look(text, &format!("{name} <<"))),
            Input::Opaque(_) => found.push(Inner::Opaque { via: name.to_owned() }),
            Input::Inherited => {}
        }
    }
    Some(found)
}

/// awk's `-v name=value`.
fn assigned(parsed: &Parsed) -> Vec<(String, Value)> {
    let given = parsed.options.iter().filter(|given| matches!(given.name.as_str(), "v" | "assign"));
    given.filter_map(|given| crate::safety::unwrap::words::variable(given.value.as_ref()?)).collect()
}

fn dashed(name: &str) -> String {
    if name.len() == 1 { format!("-{name}") } else { format!("--{name}") }
}
