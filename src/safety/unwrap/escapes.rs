//! Programs with a language of their own in which some words run a command: expect, emacs, gdb, make.

use super::flat::{Flat, stands_in};
use super::hooks::behind;
use super::inner::Inner;
use super::words::is_stdin;
use crate::safety::command::{Command, Input};
use crate::safety::options::{Spec, parse};
use crate::safety::value::{Piece, Value};

/// `expect -c 'spawn words'`, and the same on standard input.
pub(super) fn expect(command: &Command, input: &Input) -> Vec<Inner> {
    let args = command.args();
    let parsed = parse(args, &Spec::leading("c:dDf:inNbv", &[]));
    let given = parsed.options.iter().filter(|given| given.name == "c");
    let mut programs: Vec<&Value> = given.filter_map(|given| given.value.as_ref()).collect();
    let file = parsed.operands.first().map(|at| &args[*at]).or_else(|| parsed.value(&["f", "b"]));
    let reads = file.map_or(programs.is_empty(), |file| file.known() == Some("-") || is_stdin(file));
    match input {
        Input::Text(text, _) if reads => programs.push(text),
        _ => {}
    }
    let mut found = Vec::new();
    for program in programs {
        found.extend(tcl_lines(program, "expect"));
    }
    found
}

/// The commands that a Tcl program starts where a line, or what stands in brackets, begins.
pub(super) fn tcl_lines(program: &Value, via: &str) -> Vec<Inner> {
    let flat = Flat::of(program);
    let mut found = Vec::new();
    for line in flat.text.split(['\n', ';']) {
        let mut line = line.trim();
        let nested = line.find("[exec ").map(|at| &line[at + 1..]);
        let caught = line.strip_prefix("catch {").filter(|rest| rest.starts_with("exec "));
        if let Some(nested) = nested.or(caught) {
            line = nested.find([']', '}']).map_or(nested, |end| &nested[..end]);
        }
        let script = ["spawn ", "exec ", "system "].iter().find_map(|begin| line.strip_prefix(begin));
        found.extend(script.and_then(|script| Inner::script(flat.value(script), via)));
    }
    found
}

/// `emacs --eval '(shell-command "script")'`
pub(super) fn emacs(command: &Command) -> Vec<Inner> {
    let args = command.args();
    let mut found = Vec::new();
    for (at, word) in args.iter().enumerate() {
        let code = match word.known() {
            Some("--eval" | "-eval" | "--execute" | "-execute" | "-e") => args.get(at + 1).cloned(),
            _ => behind(word, &["--eval=", "--execute="]).filter(|_| word.prefix().starts_with("--e")),
        };
        let Some(code) = code else { continue };
        let flat = Flat::of(&code);
        let mut rest = flat.text.as_str();
        while let Some(open) = rest.find('(') {
            rest = &rest[open + 1..];
            let removes = rest.starts_with("delete-directory");
            let runs = ["shell-command", "async-shell-command", "call-process-shell-command"]
                .iter()
                .any(|name| rest.starts_with(name));
            if (removes || runs)
                && let Some(text) = string(rest)
            {
                let text = flat.value(&text);
                found.extend(match removes {
                    true => Some(Inner::argv(vec!["rm".into(), "-rf".into(), "--".into(), text], "emacs")),
                    false => Inner::script(text, "emacs"),
                });
            }
        }
    }
    found
}

/// The next string of a Lisp call, where it is its first argument.
fn string(call: &str) -> Option<String> {
    let begin = call.find([' ', '\n'])?;
    let mut letters = call[begin..].trim_start().strip_prefix('"')?.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some(text),
            '\\' => text.extend(letters.next()),
            other => text.push(other),
        }
    }
    None
}

/// `gdb -ex 'shell script'`
pub(super) fn debugger(command: &Command, name: &str) -> Vec<Inner> {
    if !matches!(name, "gdb" | "cgdb" | "lldb") {
        return Vec::new();
    }
    let begins = &["shell ", "!", "platform shell "];
    let commands = command.args().iter().filter(|word| !word.prefix().starts_with('-'));
    commands.filter_map(|word| behind(word, begins)).filter_map(|script| Inner::script(script, name)).collect()
}

/// Recipes of a makefile on standard input, and in `--eval`.
pub(super) fn make(command: &Command, input: &Input) -> Vec<Inner> {
    let long = &[
        "eval=",
        "file=",
        "makefile=",
        "directory=",
        "include-dir=",
        "jobs=?",
        "just-print",
        "dry-run",
        "question",
        "touch",
    ];
    let parsed = parse(command.args(), &Spec::gnu("bBC:def:hij::I:kl::mnNo:O::pqrRsStvwW:", long));
    let mut found = Vec::new();
    let stdin = |file: &Value| file.known() == Some("-") || is_stdin(file);
    if let (Some(file), Input::Text(text, _)) = (parsed.value(&["f", "file", "makefile"]), input)
        && stdin(file)
    {
        let flat = Flat::of(text);
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
        let flat = Flat::of(text);
        let lines: Vec<&str> = flat.text.split_once(';').into_iter().map(|(_, recipe)| recipe).collect();
        found.extend(recipe(&flat, &lines));
    }
    found
}

/// A recipe's lines as a script: make's own variables are not known.
fn recipe(flat: &Flat, lines: &[&str]) -> Option<Inner> {
    let mut script = Value::default();
    for line in lines {
        let mut rest = line.trim_start_matches(['@', '-', '+', ' ']);
        while let Some(at) = rest.find('$') {
            script.extend(&flat.value(&rest[..at]));
            let behind = &rest[at + 1..];
            let close = match behind.chars().next() {
                Some('(') => behind.find(')'),
                Some('{') => behind.find('}'),
                Some('$') => {
                    script.push(Piece::Text("$".to_owned()));
                    rest = &behind[1..];
                    continue;
                }
                Some(letter) if !stands_in(letter) => Some(letter.len_utf8() - 1),
                _ => None,
            };
            script.push(Piece::Hole(true));
            rest = close.map_or("", |close| behind.get(close + 1..).unwrap_or(""));
        }
        script.extend(&flat.value(rest));
        if lines.len() > 1 {
            script.push(Piece::Text("\n".to_owned()));
        }
    }
    Inner::script(script, "make")
}
