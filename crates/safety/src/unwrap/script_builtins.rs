//! Builtins and small programs that take a script: `eval`, `trap`, `source`, `su`, `at`, `crontab`.

use super::inner_command::InnerCommand;
use super::stdin_scripts::from_stdin;
use super::words::{is_stdin, is_substitution, is_text, joined};
use crate::options::{OptionSpec, parse};
use crate::programs;
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::word_value::{ValuePiece, WordValue};

/// `eval words…`
pub(super) fn eval(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let args = command.args();
    let args = if args.first().is_some_and(|word| is_text(word, "--")) { &args[1..] } else { args };
    in_shell(joined(args), "eval")
}

/// `trap 'script' SIGNAL…`
pub(super) fn trap(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let args = command.args();
    let parsed = parse(args, &OptionSpec::leading("lpP", ""));
    if parsed.has("l p P") || parsed.operands.len() < 2 {
        return Vec::new();
    }
    let script = &args[parsed.operands[0]];
    let resets = script.known().is_some_and(|text| text == "-" || text.bytes().all(|byte| byte.is_ascii_digit()));
    if resets { Vec::new() } else { in_shell(script.clone(), "trap") }
}

/// Reads `mapfile -C callback`. The callback gets an index and a line.
pub(super) fn mapfile(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let parsed = parse(command.args(), &OptionSpec::leading("d:n:O:s:tu:C:c:", ""));
    parsed.value("C").map_or_else(Vec::new, |script| in_shell(script.clone(), "mapfile -C"))
}

/// `jobs -x command words…`
pub(super) fn jobs(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let args = command.args();
    let parsed = parse(args, &OptionSpec::leading("lnprsx", ""));
    match parsed.operands.first() {
        Some(at) if parsed.has("x") => vec![InnerCommand::words(at + 1, command.argv.len(), "jobs -x")],
        _ => Vec::new(),
    }
}

/// `compgen -C command`, `compgen -F function`
pub(super) fn compgen(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let parsed = parse(command.args(), &OptionSpec::leading(COMPGEN, ""));
    let scripts = [("C", "compgen -C"), ("F", "compgen -F")];
    scripts
        .into_iter()
        .filter_map(|(option, via)| Some(in_shell(parsed.value(option)?.clone(), via)))
        .flatten()
        .collect()
}

/// Options of `compgen`.
pub const COMPGEN: &str = "abcdefgjksuvo:A:G:W:F:C:X:P:S:";

fn in_shell(text: WordValue, via: &str) -> Vec<InnerCommand> {
    let Some(mut inner) = InnerCommand::script(text, via) else { return Vec::new() };
    if let InnerCommand::Script { same_shell, .. } = &mut inner {
        *same_shell = true;
    }
    vec![inner]
}

/// Reads `source FILE`, where the file is the standard input or made by another program.
pub(super) fn source(command: &SimpleCommandView, input: &CommandStdin) -> Vec<InnerCommand> {
    let args = command.args();
    let args = if args.first().is_some_and(|word| is_text(word, "--")) { &args[1..] } else { args };
    match args.first() {
        Some(file) if is_stdin(file) => from_stdin(input, "source", args.to_vec(), true, false),
        Some(file) if is_substitution(file) => vec![InnerCommand::Opaque { via: "source".to_owned() }],
        _ => Vec::new(),
    }
}

/// `su [-] [user] [-c 'script'] [words for its shell…]`
pub(super) fn su(command: &SimpleCommandView, input: &CommandStdin) -> Vec<InnerCommand> {
    let name = command.name().unwrap_or("su");
    let args = command.args();
    let parsed = parse(args, &programs::of("su").options);
    if parsed.has("help version h V") {
        return Vec::new();
    }
    let scripts =
        parsed.options.iter().filter(|given| matches!(given.name.as_str(), "c" | "command" | "session-command"));
    let found: Vec<_> =
        scripts.filter_map(|given| InnerCommand::script(given.value.clone()?, format!("{name} -c"))).collect();
    if !found.is_empty() {
        return found;
    }
    let operands: Vec<_> = parsed.operands.iter().map(|at| &args[*at]).filter(|word| !is_text(word, "-")).collect();
    if operands.len() > 1 {
        let shell = std::iter::once(WordValue::of("sh")).chain(operands[1..].iter().map(|word| (*word).clone()));
        return vec![InnerCommand::argv(shell.collect(), "su")];
    }
    from_stdin(input, "su", Vec::new(), false, false)
}

/// Reads `runuser user -c 'script'` like su. With `-u` its words are a command, which the table handles.
pub(super) fn runuser(command: &SimpleCommandView, input: &CommandStdin) -> Option<Vec<InnerCommand>> {
    let user = parse(command.args(), &OptionSpec { permute: false, ..programs::of("su").options }).has("u user");
    (!user).then(|| su(command, input))
}

/// `at now <<EOF`, `batch <<EOF`
pub(super) fn at(command: &SimpleCommandView, input: &CommandStdin) -> Vec<InnerCommand> {
    let parsed = parse(command.args(), &OptionSpec::gnu("VlrdbmMvcq:f:t:o:u:", ""));
    if parsed.has("l r d c f V") {
        return Vec::new();
    }
    from_stdin(input, "at", Vec::new(), false, false)
}

/// Reads `crontab -`: one script per line, behind its time.
pub(super) fn crontab(command: &SimpleCommandView, input: &CommandStdin) -> Vec<InnerCommand> {
    let args = command.args();
    let parsed = parse(args, &OptionSpec::gnu("u:c:lreisnxT", ""));
    let file = parsed.operands.first().map(|at| &args[*at]);
    if parsed.has("l r e") || !file.is_some_and(|file| is_text(file, "-") || is_stdin(file)) {
        return Vec::new();
    }
    match input {
        CommandStdin::Text(text, source) => {
            from_stdin(&CommandStdin::Text(without_times(text), *source), "crontab", Vec::new(), false, false)
        }
        other => from_stdin(other, "crontab", Vec::new(), false, false),
    }
}

/// Returns a crontab's commands, one per line.
fn without_times(table: &WordValue) -> WordValue {
    let mut script = WordValue::default();
    let mut begins = true;
    for piece in table.pieces() {
        let ValuePiece::Text(text) = piece else {
            script.push(piece.clone());
            begins = false;
            continue;
        };
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                script.push(ValuePiece::Text("\n".to_owned()));
                begins = true;
            }
            let line = if std::mem::take(&mut begins) { behind_time(line) } else { line };
            script.push(ValuePiece::Text(line.to_owned()));
        }
    }
    script
}

/// Returns the command behind `m h dom mon dow`, or `@daily`.
fn behind_time(line: &str) -> &str {
    let mut rest = line.trim_start();
    let fields = match rest.chars().next() {
        Some('@') => 1,
        Some('0'..='9' | '*') => 5,
        _ => return rest,
    };
    for _ in 0..fields {
        rest = rest.trim_start();
        rest = &rest[rest.find(char::is_whitespace).unwrap_or(rest.len())..];
    }
    rest.trim_start()
}
