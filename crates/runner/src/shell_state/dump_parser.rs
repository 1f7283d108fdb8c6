//! Reads a dump of bash. Its sections are separated by NUL, which no text of bash holds.

use std::collections::{BTreeMap, BTreeSet};

use super::SavedShellState;
use super::declared_functions::functions;
use super::declared_variables::{DeclaredValue, DeclaredVariable, variables};
use super::enabled_options::EnabledShellOptions;
use super::own_variables::is_own;
use super::quoting::word;

type DeclaredVariables = BTreeMap<Vec<u8>, DeclaredVariable>;

impl SavedShellState {
    /// Reads a dump, whose sections are in the order of `save.sh`. Returns `None` if it is incomplete or damaged.
    pub fn parse(dump: &[u8]) -> Option<Self> {
        let mut sections = dump.split(|byte| *byte == 0);
        let mut next = || sections.next();
        let options = EnabledShellOptions::parse(next()?)?;
        let cwd = next()?.strip_suffix(b"\n")?.to_vec();
        let umask = next()?.trim_ascii_end().to_vec();
        let aliases = aliases(next()?)?;
        let mut traps = traps(next()?)?;
        let names = next()?;
        let functions = functions(names, next()?)?;
        let declared = next()?;
        // Every shell has variables. A shell that could not list them has an incomplete dump.
        if declared.trim_ascii().is_empty() {
            return None;
        }
        let mut variables = variables(declared)?;
        let within = next()?;
        let count: usize = std::str::from_utf8(next()?).ok()?.parse().ok()?;
        let mut stack = Vec::new();
        for _ in 0..count.max(1) {
            stack.push(next()?.to_vec());
        }
        stack.remove(0);
        if next()? != b"end" {
            return None;
        }
        traps.extend(self::traps(next()?)?);
        // A shell with a limit on its files ignores this signal because agent-bash told it to.
        traps.retain(|signal, command| signal != b"EXIT" && !(signal == b"SIGXFSZ" && command.is_empty()));
        if next().is_some() {
            return None;
        }

        let hidden_traps = if within.is_empty() { BTreeSet::new() } else { uncover(within, &mut variables, &options)? };
        variables.retain(|name, _| !is_own(name));
        Some(Self {
            whole: true,
            cwd,
            stack,
            umask,
            options,
            aliases,
            traps,
            functions,
            variables,
            inherited: BTreeSet::new(),
            hidden_traps,
        })
    }
}

/// Replaces the local variables of the function in which the shell exited by the shell's variables. Returns the traps
/// that the function hides.
fn uncover(
    within: &[u8],
    variables: &mut DeclaredVariables,
    options: &EnabledShellOptions,
) -> Option<BTreeSet<Vec<u8>>> {
    let (locals, uncovered) = within_function(within)?;
    // A variable that cannot be unset covers the variable below it, which is then unknown.
    let covered = |name: &Vec<u8>| uncovered.get(name).is_none_or(|variable| variable.flags.contains(['n', 'r']));
    let covered: Vec<_> = locals.into_keys().filter(covered).collect();
    variables.extend(uncovered);
    for name in covered {
        variables.remove(&name);
    }
    variables.retain(|_, variable| variable.value != DeclaredValue::Unset || !variable.flags.is_empty());
    let hidden = [("ERR", "errtrace"), ("DEBUG", "functrace"), ("RETURN", "functrace")];
    let hidden = hidden.iter().filter(|(_, option)| !options.is_set(option));
    Some(hidden.map(|(signal, _)| signal.as_bytes().to_vec()).collect())
}

/// Splits the dump of a shell that exited within a function: the function's local variables, then all variables below
/// the variables of functions.
fn within_function(text: &[u8]) -> Option<(DeclaredVariables, DeclaredVariables)> {
    let end = if text.starts_with(b"\n") { 0 } else { memchr::memmem::find(text, b"\n\n")? + 1 };
    Some((variables(&text[..end])?, variables(&text[end + 1..])?))
}

/// Parses `alias [-- ]NAME=VALUE`.
fn aliases(mut text: &[u8]) -> Option<BTreeMap<Vec<u8>, Vec<u8>>> {
    let mut found = BTreeMap::new();
    while !text.is_empty() {
        text = text.strip_prefix(b"alias ")?;
        text = text.strip_prefix(b"-- ").unwrap_or(text);
        let length = memchr::memchr(b'=', text)?;
        let (value, rest) = word(&text[length + 1..])?;
        found.insert(text[..length].to_vec(), value);
        text = rest.strip_prefix(b"\n")?;
    }
    Some(found)
}

/// Parses `trap -- COMMAND SIGNAL`.
fn traps(mut text: &[u8]) -> Option<BTreeMap<Vec<u8>, Vec<u8>>> {
    let mut found = BTreeMap::new();
    while !text.is_empty() {
        let (command, rest) = word(text.strip_prefix(b"trap -- ")?)?;
        let rest = rest.strip_prefix(b" ")?;
        let length = memchr::memchr(b'\n', rest)?;
        found.insert(rest[..length].to_vec(), command);
        text = &rest[length + 1..];
    }
    Some(found)
}
