//! The state that a shell keeps between commands.

use std::collections::{BTreeMap, BTreeSet};

use super::command_text::code_mentions_trap;
use super::declared_functions::DeclaredFunction;
use super::declared_variables::{DeclaredValue, DeclaredVariable};
use super::enabled_options::EnabledShellOptions;

/// The state that carries over from one command of a session to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedShellState {
    /// Whether this is the whole state, so that a shell has nothing else. A snapshot only adds to a shell.
    pub(super) whole: bool,
    pub(super) cwd: Vec<u8>,
    /// The directory stack below the directory itself, from the top.
    pub(super) stack: Vec<Vec<u8>>,
    pub(super) umask: Vec<u8>,
    pub(super) options: EnabledShellOptions,
    pub(super) aliases: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The commands of traps by the names of their signals, without EXIT.
    pub(super) traps: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) functions: BTreeMap<Vec<u8>, DeclaredFunction>,
    pub(super) variables: BTreeMap<Vec<u8>, DeclaredVariable>,
    /// Variables whose value comes from the environment.
    pub(super) inherited: BTreeSet<Vec<u8>>,
    /// Traps that the dump cannot show because the shell exited within a function. They stay as they were.
    pub(super) hidden_traps: BTreeSet<Vec<u8>>,
}

impl SavedShellState {
    /// Returns the directory, as the shell names it.
    pub fn cwd(&self) -> &[u8] {
        &self.cwd
    }

    /// Returns the same state in another directory.
    pub fn in_directory(&self, directory: &[u8]) -> Self {
        Self { cwd: directory.to_vec(), ..self.clone() }
    }

    /// Returns whether a function or alias mentions the word trap, and may replace the EXIT trap of a shell that calls
    /// it.
    pub fn mentions_trap(&self) -> bool {
        let texts = self.functions.values().map(|function| &function.text).chain(self.aliases.values());
        texts.into_iter().any(|text| code_mentions_trap(text))
    }

    /// Returns only aliases, functions, options and PATH, without options that suit only a person at a terminal or that
    /// change how commands exit.
    pub fn for_snapshot(&self) -> Self {
        Self {
            options: self.options.for_snapshot(),
            aliases: self.aliases.clone(),
            functions: self.functions.clone(),
            variables: self
                .variables
                .get_key_value(&b"PATH"[..])
                .map(|(name, path)| (name.clone(), path.clone()))
                .into_iter()
                .collect(),
            whole: false,
            cwd: Vec::new(),
            stack: Vec::new(),
            umask: Vec::new(),
            traps: BTreeMap::new(),
            inherited: BTreeSet::new(),
            hidden_traps: BTreeSet::new(),
        }
    }

    /// Returns the variable's value if it is exported and neither a list nor a reference.
    pub(super) fn exported(&self, name: &[u8]) -> Option<&[u8]> {
        match self.variables.get(name) {
            Some(DeclaredVariable { flags, value: DeclaredValue::Text(text) })
                if flags.contains('x') && !flags.contains('n') =>
            {
                Some(text)
            }
            _ => None,
        }
    }
}
