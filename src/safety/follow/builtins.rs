//! Builtins that change the shell.

use super::shell::{Shell, hole};
use super::walk::Walker;
use crate::safety::value::Value;

/// The most ways to leave a function or a loop early that are told apart.
const MAX_STATES: usize = 8;

/// What a builtin does to the shell; the shell if it fails, where that matters.
impl Walker<'_> {
    pub(super) fn builtin(&mut self, shell: &mut Shell, argv: &[Value]) -> Option<Box<Shell>> {
        let name = argv.first().and_then(Value::known)?;
        let args = &argv[1..];
        match name {
            "cd" | "pushd" => {
                if name == "pushd" && args.iter().any(|arg| arg.known() == Some("-n")) {
                    let folder = self.target(shell, args);
                    shell.stack.push(folder);
                    return None;
                }
                let before = Box::new(self.copy(shell));
                if name == "pushd" {
                    shell.stack.push(shell.cwd().clone());
                }
                let folder = self.target(shell, args);
                shell.enter(folder);
                return Some(before);
            }
            "popd" => {
                let folder = shell.stack.pop().unwrap_or_else(Value::unknown);
                if args.first().and_then(Value::known) != Some("-n") {
                    shell.enter(folder);
                }
            }
            "alias" => {
                for arg in args {
                    if let Some((name, text)) = arg.known().and_then(|text| text.split_once('=')) {
                        shell.alias(name, text);
                    }
                }
            }
            "unalias" => {
                for arg in args {
                    shell.unalias(arg.known().filter(|name| *name != "-a"));
                }
            }
            "shopt" if args.iter().any(|arg| arg.known() == Some("lastpipe")) => {
                shell.keeps_last = args.iter().any(|arg| arg.known() == Some("-s"));
            }
            "shopt" if args.iter().any(|arg| arg.known() == Some("expand_aliases")) => {
                shell.expands = args.iter().any(|arg| arg.known() == Some("-s"));
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(shell, name, args),
            "unset" => {
                let functions = args.first().and_then(Value::known) == Some("-f");
                for arg in args {
                    match arg.known() {
                        Some(name) if functions => {
                            shell.unset_function(name);
                        }
                        Some(name) if name.contains('[') => {
                            shell.blur(name.split('[').next().unwrap_or_default(), self.environment);
                        }
                        Some("-v" | "-n") => {}
                        Some(name) => shell.unset(name),
                        None => shell.forgetful = true,
                    }
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" | "wait" | "let" => {
                for arg in args {
                    match arg.known() {
                        Some(name) if name.starts_with('-') => {}
                        Some(name) => {
                            let name = name.split(|next: char| !next.is_ascii_alphanumeric() && next != '_').next();
                            shell.blur(name.unwrap_or_default(), self.environment);
                        }
                        None => shell.forgetful |= name != "wait",
                    }
                }
                if name == "read" {
                    shell.blur("REPLY", self.environment);
                } else if name == "mapfile" || name == "readarray" {
                    shell.blur("MAPFILE", self.environment);
                } else if name == "getopts" {
                    shell.blur("OPTARG", self.environment);
                    shell.blur("OPTIND", self.environment);
                }
            }
            "printf" => {
                if let [flag, variable, rest @ ..] = args
                    && flag.known() == Some("-v")
                    && let Some(name) = variable.known()
                {
                    let mut words = vec![Value::of("printf")];
                    words.extend_from_slice(rest);
                    let printed = super::output::of(&words, shell.cwd(), &shell.input, || None);
                    shell.set(name, vec![printed.unwrap_or_else(hole)], self.environment);
                }
            }
            "set" => self.set(shell, args),
            "shift" => {
                let count = args.first().map_or(Some(1), |count| count.known().and_then(|count| count.parse().ok()));
                match count {
                    Some(count) if count < shell.args.len() => {
                        shell.args.drain(1..=count);
                    }
                    Some(_) => {}
                    None => shell.args = vec![Value::unknown(), hole()],
                }
            }
            "source" | "." => {
                // What is read from there is followed.
                let input = args.first().and_then(Value::known);
                shell.forgetful |= !matches!(input, Some("/dev/stdin" | "/dev/fd/0"));
            }
            "return" | "break" | "continue" => {
                let states = if name == "return" { self.returned.last_mut() } else { self.left.last_mut() };
                if let Some(states) = states.filter(|states| states.len() < MAX_STATES) {
                    states.push(shell.clone());
                }
                shell.ended = true;
                self.may_end();
            }
            "exit" => {
                shell.ended = true;
                self.may_end();
            }
            "exec" => shell.ended |= !args.is_empty(),
            _ => {}
        }
        None
    }

    /// What follows in a function that is running may not run any more.
    fn may_end(&mut self) {
        if let Some(ending) = self.ending.last_mut() {
            *ending = true;
        }
    }

    fn set(&mut self, shell: &mut Shell, args: &[Value]) {
        let mut rest = args;
        while let Some((arg, left)) = rest.split_first() {
            let text = arg.known().unwrap_or_default();
            rest = left;
            match text {
                "--" | "-" => {
                    shell.args.truncate(1);
                    shell.args.extend_from_slice(rest);
                    return;
                }
                "-o" | "+o" => {
                    match rest.first().and_then(Value::known) {
                        Some("errexit") => shell.exits = text == "-o",
                        Some("allexport") => shell.exports = text == "-o",
                        _ => {}
                    }
                    rest = rest.get(1..).unwrap_or_default();
                }
                _ if text.starts_with('-') => {
                    shell.exits |= text.contains('e');
                    shell.exports |= text.contains('a');
                    // `set -euo pipefail`
                    if text.ends_with('o') {
                        rest = rest.get(1..).unwrap_or_default();
                    }
                }
                _ if text.starts_with('+') => {
                    shell.exits &= !text.contains('e');
                    shell.exports &= !text.contains('a');
                }
                _ => {
                    shell.args.truncate(1);
                    shell.args.extend_from_slice(args);
                    return;
                }
            }
        }
    }

    fn declare(&mut self, shell: &mut Shell, name: &str, args: &[Value]) {
        let mut exported = (name == "export").then_some(true);
        let mut local = matches!(name, "local" | "declare" | "typeset");
        let mut changes = false;
        let mut refers = false;
        for arg in args {
            let text = arg.prefix();
            if let Some(flags) = text.strip_prefix(['-', '+']).filter(|_| !text.contains('=')) {
                match name {
                    "export" if flags.contains('n') => exported = Some(false),
                    // Another variable by its name, a number, another case.
                    _ => changes |= flags.contains(['n', 'i', 'u', 'l', 'c']),
                }
                refers |= name != "export" && flags.contains('n');
                if name != "export" && flags.contains(['f', 'F']) {
                    return;
                }
                if flags.contains('x') {
                    exported = Some(text.starts_with('-'));
                }
                local &= !flags.contains('g');
                continue;
            }
            let (variable, value) = match text.split_once('=') {
                Some((variable, _)) => (variable, Some(arg.after(variable.len() + 1))),
                None => (arg.known().unwrap_or_default(), None),
            };
            let part = variable.ends_with('+') || variable.contains('[');
            let variable = variable.trim_end_matches('+').split('[').next().unwrap_or_default().to_owned();
            if variable.is_empty() {
                // `export $(cat .env)`
                shell.forgetful = true;
                continue;
            }
            if local {
                shell.cover(&variable);
            }
            match value {
                Some(value) => shell.set(&variable, vec![if part { hole() } else { value }], self.environment),
                None if local && !shell.covered.is_empty() => shell.unset(&variable),
                None => {}
            }
            if let Some(exported) = exported {
                shell.export(&variable, exported, self.environment);
            }
            if changes {
                if refers && let Some(target) = arg.known().and_then(|text| text.split_once('=')) {
                    shell.blur(target.1, self.environment);
                }
                shell.forgetful |= refers;
                // A value that it has had before stays as it is.
                if refers || arg.has_hole() || text.contains('=') {
                    shell.blur(&variable, self.environment);
                }
                shell.change(&variable, self.environment);
            }
        }
    }

    /// Where `cd` goes.
    fn target(&self, shell: &Shell, args: &[Value]) -> Value {
        let mut operands = args.iter().filter(|arg| {
            let text = arg.prefix();
            text.len() < 2 || !text.starts_with('-')
        });
        match operands.next() {
            None => match shell.get("HOME", self.environment) {
                Some(values) if values.len() == 1 => values[0].clone(),
                _ => Value::of(self.scene.home.as_str()),
            },
            Some(folder) if folder.known() == Some("-") => shell.before.clone(),
            Some(folder) if folder.known() == Some("") => shell.cwd().clone(),
            Some(folder) => resolved(shell.cwd(), folder),
        }
    }
}

/// A path seen from a folder, `.` and `..` taken out as far as it is known.
pub(super) fn resolved(cwd: &Value, path: &Value) -> Value {
    if path.prefix().is_empty() && path.has_hole() {
        return Value::unknown();
    }
    let whole = path.seen_from(cwd);
    match whole.known() {
        Some(text) => Value::of(normal(text)),
        None => whole,
    }
}

/// An absolute path without `.`, `..` and doubled slashes.
pub fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
