//! The state as bash code that restores it in a fresh shell. Every statement is on lines of its own and calls the
//! builtin itself, whatever functions are defined by then.

use std::collections::BTreeMap;

use evidence::{ShellAliases, ShellKnowledge};

use super::SavedShellState;
use super::declared_variables::{DeclaredValue, DeclaredVariable};
use super::enabled_options::{EnabledShellOptions, names};
use super::own_variables::{FRESH, is_own};
use super::quoting::push_quoted;

impl SavedShellState {
    /// Returns bash code that restores this state in a fresh shell. The shell was started with `env`, a block of
    /// NUL-terminated NAME=VALUE entries, and sources the code with stdout and stderr on /dev/null.
    pub fn restore(&self, env: &[u8]) -> Vec<u8> {
        let mut code = self.restore_early(env);
        code.extend(self.restore_late());
        code
    }

    /// Returns the part that does not affect the commands after it.
    pub fn restore_early(&self, env: &[u8]) -> Vec<u8> {
        let env = StartEnvironment::new(env);
        let mut code = Vec::new();
        if !env.options.set.is_empty() {
            code.extend_from_slice(b"builtin set +eukn\n");
        }
        if self.whole {
            self.push_folder(&mut code);
            self.push_unsets(&mut code, &env);
        }
        self.push_variables(&mut code, &env);
        self.push_functions(&mut code);
        for (name, value) in &self.aliases {
            code.extend_from_slice(b"builtin alias -- ");
            push_quoted(&mut code, &[name, &b"="[..], value].concat());
            code.push(b'\n');
        }
        for folder in self.stack.iter().rev() {
            code.extend_from_slice(b"builtin pushd -n ");
            push_quoted(&mut code, folder);
            code.push(b'\n');
        }
        if self.whole {
            code.extend_from_slice(b"builtin umask ");
            code.extend_from_slice(&self.umask);
            code.push(b'\n');
        }
        if let Some(variable) = self.variables.get(POSIX) {
            variable.push_declare(&mut code, POSIX);
        }
        self.options.push_early(&mut code, &env.options);
        code
    }

    /// Returns the part that changes how every command after it runs: traps, and options such as `-e` and `-x`.
    pub fn restore_late(&self) -> Vec<u8> {
        let mut code = Vec::new();
        let is_last = |signal: &[u8]| matches!(signal, b"DEBUG");
        let (last, first): (Vec<_>, Vec<_>) = self.traps.iter().partition(|(signal, _)| is_last(signal));
        for (signal, command) in first {
            push_trap(&mut code, signal, command);
        }
        self.options.push_late(&mut code);
        for (signal, command) in last {
            push_trap(&mut code, signal, command);
        }
        code
    }

    fn push_folder(&self, code: &mut Vec<u8>) {
        code.extend_from_slice(b"builtin test \"$PWD\" = ");
        push_quoted(code, &self.cwd);
        code.extend_from_slice(b" || builtin cd -L -- ");
        push_quoted(code, &self.cwd);
        code.push(b'\n');
    }

    /// Removes variables of a fresh shell that this state lacks, or has with another type.
    fn push_unsets(&self, code: &mut Vec<u8>, env: &StartEnvironment<'_>) {
        let fresh = FRESH.iter().map(|(name, _)| name.as_bytes()).filter(|name| !env.vars.contains_key(name));
        let has_other = |name: &[u8]| match self.variables.get(name) {
            // `cd` has set the variable.
            Some(_) if name == b"OLDPWD" => true,
            Some(variable) => {
                env.vars.contains_key(name) && (variable.flags != "x" || variable.value == DeclaredValue::Unset)
            }
            None => !self.inherited.contains(name) && !is_own(name),
        };
        let names: Vec<_> = env.vars.keys().copied().chain(fresh).filter(|name| has_other(name)).collect();
        if !names.is_empty() {
            code.extend_from_slice(b"builtin unset -v ");
            code.extend_from_slice(&names.join(&b' '));
            code.push(b'\n');
        }
        // Functions that still exist are defined anew. No function is called until then.
        for name in &env.functions {
            code.extend_from_slice(b"builtin unset -f ");
            push_quoted(code, name);
            code.push(b'\n');
        }
    }

    /// Returns what changes how a command is read: functions and aliases.
    pub fn known(&self) -> ShellKnowledge {
        let text = |text: &Vec<u8>| String::from_utf8_lossy(text).into_owned();
        let functions = self.functions.values().map(|function| text(&function.text)).collect::<Vec<_>>().join("\n");
        let texts = self.aliases.iter().map(|(name, value)| (text(name), text(value))).collect();
        let aliases = ShellAliases { texts, expands: self.options.shopt.contains("expand_aliases") };
        ShellKnowledge { functions, aliases }
    }

    fn push_functions(&self, code: &mut Vec<u8>) {
        if !self.functions.is_empty() {
            code.extend_from_slice(b"builtin shopt -s extglob\n");
        }
        for (name, function) in &self.functions {
            function.push_definition(code, name);
        }
    }

    fn push_variables(&self, code: &mut Vec<u8>, env: &StartEnvironment<'_>) {
        let is_there = |name: &[u8], variable: &DeclaredVariable| match env.vars.get(name) {
            Some(value) => name != b"OLDPWD" && variable.flags == "x" && variable.value.is_text(value),
            None => is_fresh(name, variable),
        };
        // In another character set the commands after it could be read differently.
        let is_locale = |name: &[u8]| name.starts_with(b"LC_") || name.starts_with(b"LANG");
        let mut missing: Vec<_> = self
            .variables
            .iter()
            .filter(|(name, variable)| name.as_slice() != POSIX && !is_there(name, variable))
            .map(|(name, variable)| (is_locale(name), variable.batch(), name, variable))
            .collect();
        missing.sort_by_key(|(is_locale, batch, ..)| (*is_locale, *batch));
        for same in missing.chunk_by(|one, next| one.1.is_some() && (one.0, one.1) == (next.0, next.1)) {
            match same {
                [(_, Some(_), _, first), ..] => {
                    first.push_declare_all(code, same.iter().map(|(.., name, variable)| (name.as_slice(), *variable)));
                }
                _ => same.iter().for_each(|(.., name, variable)| variable.push_declare(code, name)),
            }
        }
    }
}

const POSIX: &[u8] = b"POSIXLY_CORRECT";

fn is_fresh(name: &[u8], variable: &DeclaredVariable) -> bool {
    let known = FRESH.iter().find(|(known, _)| known.as_bytes() == name).and_then(|(_, value)| *value);
    variable.flags.is_empty() && known.is_some_and(|known| variable.value.is_text(known.as_bytes()))
}

fn push_trap(code: &mut Vec<u8>, signal: &[u8], command: &[u8]) {
    code.extend_from_slice(b"builtin trap -- ");
    push_quoted(code, command);
    code.push(b' ');
    code.extend_from_slice(signal);
    code.push(b'\n');
}

/// The variables and functions that a shell was started with.
struct StartEnvironment<'a> {
    vars: BTreeMap<&'a [u8], &'a [u8]>,
    /// The names of exported functions.
    functions: Vec<&'a [u8]>,
    /// The options that the environment turns on.
    options: EnabledShellOptions,
}

impl<'a> StartEnvironment<'a> {
    fn new(block: &'a [u8]) -> Self {
        let mut vars = BTreeMap::new();
        let mut functions = Vec::new();
        for entry in block.split(|byte| *byte == 0) {
            let Some(length) = memchr::memchr(b'=', entry) else { continue };
            let (name, value) = (&entry[..length], &entry[length + 1..]);
            if let Some(name) = name.strip_prefix(b"BASH_FUNC_").and_then(|name| name.strip_suffix(b"%%")) {
                functions.push(name);
            } else if is_identifier(name) {
                vars.insert(name, value);
            }
        }
        let listed = |name: &str| {
            vars.get(name.as_bytes()).and_then(|list| std::str::from_utf8(list).ok()).map(names).unwrap_or_default()
        };
        let options = EnabledShellOptions { set: listed("SHELLOPTS"), shopt: listed("BASHOPTS") };
        Self { vars, functions, options }
    }
}

fn is_identifier(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && name.first().is_some_and(|first| !first.is_ascii_digit())
}
