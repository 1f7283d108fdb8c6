//! Builtins that change the shell.

use super::evaluator::Evaluator;
use super::output;
use super::shell::Shell;
use crate::contents;
use crate::path::resolved;
use crate::value::Value;

/// Evaluates a builtin with its words, its name first. Returns the shell after a failure, if it differs.
type Builtin = fn(&mut Evaluator<'_>, &mut Shell, &[Value]) -> Option<Box<Shell>>;

/// The builtin of a name, if it changes the shell.
fn named(name: &str) -> Option<Builtin> {
    Some(match name {
        "." | "source" => source,
        "alias" => alias,
        "break" | "continue" => leave_round,
        "cd" => cd,
        "declare" | "export" | "local" | "readonly" | "typeset" => declare,
        "exec" => exec,
        "exit" => exit,
        "getopts" | "let" | "mapfile" | "read" | "readarray" | "wait" => blur_named,
        "popd" => popd,
        "printf" => printf,
        "pushd" => pushd,
        "return" => return_from_function,
        "set" => set,
        "shift" => shift,
        "shopt" => shopt,
        "unalias" => unalias,
        "unset" => unset,
        _ => return None,
    })
}

impl Evaluator<'_> {
    /// Evaluates what a builtin does to the shell. Returns the shell after a failure, if it differs.
    pub(super) fn builtin(&mut self, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
        let builtin = argv.first().and_then(Value::known).and_then(named)?;
        builtin(self, shell, argv)
    }

    /// The directory that `cd` goes to.
    fn target(&self, shell: &Shell, args: &[Value]) -> Value {
        let mut operands = args.iter().filter(|arg| {
            let text = arg.prefix();
            text.len() < 2 || !text.starts_with('-')
        });
        match operands.next() {
            None => match shell.get("HOME", self.environment) {
                Some(values) if values.len() == 1 => values[0].clone(),
                _ => Value::of(self.directories.home.as_str()),
            },
            Some(directory) if directory.known() == Some("-") => shell.location.previous.clone(),
            Some(directory) if directory.known() == Some("") => shell.cwd().clone(),
            Some(directory) => resolved(shell.cwd(), directory),
        }
    }
}

fn has(argv: &[Value], flag: &str) -> bool {
    argv[1..].iter().any(|arg| arg.known() == Some(flag))
}

fn cd(evaluator: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    let before = Box::new(evaluator.copy(shell));
    let directory = evaluator.target(shell, &argv[1..]);
    shell.location.enter(directory);
    Some(before)
}

fn pushd(evaluator: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    let directory = evaluator.target(shell, &argv[1..]);
    if has(argv, "-n") {
        shell.location.push(directory);
        return None;
    }
    let before = Box::new(evaluator.copy(shell));
    let left = shell.cwd().clone();
    shell.location.push(left);
    shell.location.enter(directory);
    Some(before)
}

fn popd(_: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    let directory = shell.location.pop();
    if argv.get(1).and_then(Value::known) != Some("-n") {
        shell.location.enter(directory);
    }
    None
}

fn alias(_: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    for (name, text) in argv[1..].iter().filter_map(|arg| arg.known()?.split_once('=')) {
        shell.aliases.set(name, text);
    }
    None
}

fn unalias(_: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    for arg in &argv[1..] {
        shell.aliases.unset(arg.known().filter(|name| *name != "-a"));
    }
    None
}

fn shopt(_: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    if has(argv, "lastpipe") {
        shell.options.keeps_last = has(argv, "-s");
    } else if has(argv, "expand_aliases") {
        shell.aliases.expands = has(argv, "-s");
    }
    None
}

fn unset(evaluator: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    let functions = argv.get(1).and_then(Value::known) == Some("-f");
    for arg in &argv[1..] {
        match arg.known() {
            Some(name) if functions => shell.functions.unset(name),
            Some(name) if name.contains('[') => {
                shell.blur(name.split('[').next().unwrap_or_default(), evaluator.environment);
            }
            Some("-v" | "-n") => {}
            Some(name) => shell.variables.unset(name),
            None => shell.variables.forgetful = true,
        }
    }
    None
}

/// Builtins that set the variables that they name.
fn blur_named(evaluator: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    let builtin = argv.first().and_then(Value::known).unwrap_or_default();
    for arg in &argv[1..] {
        match arg.known() {
            Some(name) if name.starts_with('-') => {}
            Some(name) => {
                let name = name.split(|next: char| !next.is_ascii_alphanumeric() && next != '_').next();
                shell.blur(name.unwrap_or_default(), evaluator.environment);
            }
            None => shell.variables.forgetful |= builtin != "wait",
        }
    }
    let always: &[&str] = match builtin {
        "read" => &["REPLY"],
        "mapfile" | "readarray" => &["MAPFILE"],
        "getopts" => &["OPTARG", "OPTIND"],
        _ => &[],
    };
    for name in always {
        shell.blur(name, evaluator.environment);
    }
    if matches!(builtin, "mapfile" | "read" | "readarray") {
        take_input(evaluator, shell, argv, always);
    }
    None
}

/// Notes the contents of its input in the variables that `read` sets.
fn take_input(evaluator: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value], always: &[&str]) {
    let Some(contents) = shell.input.contents().cloned().or_else(|| contents::read(shell.redirects.iter())) else {
        return;
    };
    let named = argv[1..].iter().filter_map(Value::known).filter(|name| !name.starts_with('-'));
    for name in named.chain(always.iter().copied()) {
        shell.set(name, vec![Value::unknown_words().with_contents(Some(&contents))], evaluator.environment);
    }
}

/// `printf -v NAME`
fn printf(evaluator: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    if let [name, flag, variable, rest @ ..] = argv
        && flag.known() == Some("-v")
        && let Some(variable) = variable.known()
    {
        let mut words = vec![name.clone()];
        words.extend_from_slice(rest);
        let printed = output::of(&words, shell.cwd(), &shell.input, || None);
        shell.set(variable, vec![printed.unwrap_or_else(Value::unknown_words)], evaluator.environment);
    }
    None
}

fn shift(_: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    let count = argv.get(1).map_or(Some(1), |count| count.known().and_then(|count| count.parse().ok()));
    match count {
        Some(count) if count < shell.args.len() => {
            shell.args.drain(1..=count);
        }
        Some(_) => {}
        None => shell.args = vec![Value::unknown(), Value::unknown_words()],
    }
    None
}

/// A file that is not known may set any variable. A script on standard input is evaluated.
fn source(_: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    let input = argv.get(1).and_then(Value::known);
    shell.variables.forgetful |= !matches!(input, Some("/dev/stdin" | "/dev/fd/0"));
    None
}

fn return_from_function(evaluator: &mut Evaluator<'_>, shell: &mut Shell, _: &[Value]) -> Option<Box<Shell>> {
    evaluator.calls.return_from_function(shell);
    shell.ended = true;
    None
}

fn leave_round(evaluator: &mut Evaluator<'_>, shell: &mut Shell, _: &[Value]) -> Option<Box<Shell>> {
    evaluator.calls.leave_round(shell);
    shell.ended = true;
    None
}

fn exit(evaluator: &mut Evaluator<'_>, shell: &mut Shell, _: &[Value]) -> Option<Box<Shell>> {
    evaluator.calls.exit();
    shell.ended = true;
    None
}

/// Without a command, `exec` only redirects.
fn exec(_: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    shell.ended |= argv.len() > 1;
    None
}

fn set(_: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    let args = &argv[1..];
    let mut rest = args;
    while let Some((arg, left)) = rest.split_first() {
        let text = arg.known().unwrap_or_default();
        rest = left;
        match text {
            "--" | "-" => {
                shell.args.truncate(1);
                shell.args.extend_from_slice(rest);
                break;
            }
            "-o" | "+o" => {
                match rest.first().and_then(Value::known) {
                    Some("errexit") => shell.options.exits = text == "-o",
                    Some("allexport") => shell.options.exports = text == "-o",
                    _ => {}
                }
                rest = rest.get(1..).unwrap_or_default();
            }
            _ if text.starts_with('-') => {
                shell.options.exits |= text.contains('e');
                shell.options.exports |= text.contains('a');
                // `set -euo pipefail`
                if text.ends_with('o') {
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
            _ if text.starts_with('+') => {
                shell.options.exits &= !text.contains('e');
                shell.options.exports &= !text.contains('a');
            }
            _ => {
                shell.args.truncate(1);
                shell.args.extend_from_slice(args);
                break;
            }
        }
    }
    None
}

/// Options of `declare`, `export`, `local`, `readonly` and `typeset`.
struct Declaration {
    /// Whether the variables are handed to programs, if that changes.
    exported: Option<bool>,
    /// Whether they end with their function.
    local: bool,
    /// Whether assigned values are changed on their way: a number, another case, another variable's name.
    changes: bool,
    /// Whether they are names of other variables: `-n`.
    refers: bool,
}

fn declare(evaluator: &mut Evaluator<'_>, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
    let builtin = argv.first().and_then(Value::known).unwrap_or_default();
    let export = builtin == "export";
    let mut declaration = Declaration {
        exported: export.then_some(true),
        local: matches!(builtin, "local" | "declare" | "typeset"),
        changes: false,
        refers: false,
    };
    for arg in &argv[1..] {
        let text = arg.prefix();
        if let Some(flags) = text.strip_prefix(['-', '+']).filter(|_| !text.contains('=')) {
            if export && flags.contains('n') {
                declaration.exported = Some(false);
            } else {
                declaration.changes |= flags.contains(['n', 'i', 'u', 'l', 'c']);
            }
            declaration.refers |= !export && flags.contains('n');
            if !export && flags.contains(['f', 'F']) {
                return None;
            }
            if flags.contains('x') {
                declaration.exported = Some(text.starts_with('-'));
            }
            declaration.local &= !flags.contains('g');
            continue;
        }
        declare_variable(evaluator, shell, arg, &declaration);
    }
    None
}

/// One `NAME` or `NAME=value` of a declaration.
fn declare_variable(evaluator: &Evaluator<'_>, shell: &mut Shell, arg: &Value, declaration: &Declaration) {
    let environment = evaluator.environment;
    let text = arg.prefix();
    let (variable, value) = match text.split_once('=') {
        Some((variable, _)) => (variable, Some(arg.after(variable.len() + 1))),
        None => (arg.known().unwrap_or_default(), None),
    };
    let part = variable.ends_with('+') || variable.contains('[');
    let variable = variable.trim_end_matches('+').split('[').next().unwrap_or_default().to_owned();
    if variable.is_empty() {
        // `export $(cat .env)`
        shell.variables.forgetful = true;
        return;
    }
    if declaration.local {
        shell.variables.cover(&variable);
    }
    match value {
        Some(value) => shell.set(&variable, vec![if part { Value::unknown_words() } else { value }], environment),
        None if declaration.local && !shell.variables.covered.is_empty() => shell.variables.unset(&variable),
        None => {}
    }
    if let Some(exported) = declaration.exported {
        shell.export(&variable, exported, environment);
    }
    if declaration.changes {
        if declaration.refers
            && let Some(target) = arg.known().and_then(|text| text.split_once('='))
        {
            shell.blur(target.1, environment);
        }
        shell.variables.forgetful |= declaration.refers;
        // The value that it had before stays.
        if declaration.refers || arg.has_unknown() || text.contains('=') {
            shell.blur(&variable, environment);
        }
        shell.change(&variable, environment);
    }
}
