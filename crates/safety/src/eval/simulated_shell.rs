//! The state of a shell, as far as it can be known before it runs.

use super::alias_table::AliasTable;
use super::functions::ShellFunctions;
use super::shell_location::ShellLocation;
use super::variables::{EnvironmentBlock, ShellVariable, ShellVariables, VariableAttributes, join_values};
use crate::simple_command_view::{CommandStdin, ExpandedRedirect};
use crate::word_value::WordValue;

/// Options of a shell that change what its commands do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShellOptions {
    /// `set -a`
    pub exports: bool,
    /// `set -e`
    pub exits: bool,
    /// `shopt -s lastpipe`
    pub keeps_last: bool,
}

/// A shell.
#[derive(Clone, Debug)]
pub(super) struct SimulatedShell {
    /// Variables.
    pub variables: ShellVariables,
    /// Functions.
    pub functions: ShellFunctions,
    /// Aliases.
    pub aliases: AliasTable,
    /// Options.
    pub options: ShellOptions,
    /// Working directory.
    pub location: ShellLocation,
    /// `$0` and the positional parameters.
    pub args: Vec<WordValue>,
    /// Whether the shell has left the current list: `exit`, `return`, `break`, `exec`.
    pub ended: bool,
    /// The standard input of its commands.
    pub input: CommandStdin,
    /// Redirects of the groups that it is in.
    pub redirects: Vec<ExpandedRedirect>,
}

/// The characters that split words: the value of IFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldSeparators<'a> {
    /// IFS is as the shell began with it.
    Default,
    /// IFS was set to these.
    Set(&'a str),
    /// IFS was set to something that is not known.
    Unknown,
}

impl SimulatedShell {
    /// A shell that starts in this directory.
    pub(super) fn new(cwd: WordValue, args: Vec<WordValue>) -> Self {
        Self {
            variables: ShellVariables::default(),
            functions: ShellFunctions::default(),
            aliases: AliasTable::default(),
            options: ShellOptions::default(),
            location: ShellLocation::new(cwd),
            args,
            ended: false,
            input: CommandStdin::Inherited,
            redirects: Vec::new(),
        }
    }

    /// A program that is a shell itself: it gets the exported variables.
    pub(super) fn child(&self, args: Vec<WordValue>) -> Self {
        Self {
            variables: self.variables.child(),
            functions: self.functions.clone(),
            aliases: AliasTable::default(),
            options: ShellOptions::default(),
            location: self.location.child(),
            args,
            ended: false,
            input: CommandStdin::Inherited,
            redirects: Vec::new(),
        }
    }

    /// The directory that it is in if no command failed.
    pub(super) fn cwd(&self) -> &WordValue {
        self.location.cwd()
    }

    /// Returns the characters that split words.
    pub(super) fn separators(&self) -> FieldSeparators<'_> {
        let Some(changed) = self.variables.get("IFS") else { return FieldSeparators::Default };
        let first = changed.values.as_deref().and_then(|values| values.first());
        first.and_then(WordValue::known).map_or(FieldSeparators::Unknown, FieldSeparators::Set)
    }

    /// How many steps a copy of it takes.
    pub(super) fn weight(&self) -> usize {
        self.variables.covered.len() + self.args.len() + self.redirects.len() + self.location.weight()
    }

    /// The value of a variable. `None` if it is surely not set.
    pub(super) fn get(&self, name: &str, environment: EnvironmentBlock<'_>) -> Option<Vec<WordValue>> {
        if let Some(variable) = self.variables.get(name) {
            return variable.values.clone();
        }
        if self.variables.may_be_set(name) {
            return Some(vec![WordValue::unknown_words()]);
        }
        match name {
            "PWD" => return Some(vec![self.cwd().clone()]),
            "OLDPWD" if self.location.previous.known().is_some() => return Some(vec![self.location.previous.clone()]),
            _ => {}
        }
        self.variables.inherited(name, environment)
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, values: Vec<WordValue>, environment: EnvironmentBlock<'_>) {
        self.variables.set(name, values, self.options.exports, environment);
    }

    /// Hands a variable to programs, or no longer.
    pub(super) fn export(&mut self, name: &str, exported: bool, environment: EnvironmentBlock<'_>) {
        let values = self.get(name, environment);
        let attributes = self.variables.attributes(name);
        self.variables.insert(name, ShellVariable { values, exported, attributes });
    }

    /// Gives a variable these attributes.
    pub(super) fn set_attributes(
        &mut self,
        name: &str,
        attributes: VariableAttributes,
        environment: EnvironmentBlock<'_>,
    ) {
        let values = self.get(name, environment);
        let exported = self.variables.is_exported(name, environment);
        self.variables.insert(name, ShellVariable { values, exported, attributes });
    }

    /// From here on `cd -` goes to the value of OLDPWD.
    pub(super) fn settle_previous(&mut self) {
        if let Some(ShellVariable { values: Some(values), .. }) = self.variables.take("OLDPWD") {
            self.location.previous = values.into_iter().next().unwrap_or_else(WordValue::unknown);
        }
    }

    /// Joins this state with another state: the shell may be in either.
    pub(super) fn join(&mut self, other: Self, environment: EnvironmentBlock<'_>) {
        if self.ended != other.ended {
            if self.ended {
                *self = other;
            }
            return;
        }
        let same =
            self.variables.is_surely_same(&other.variables) && self.variables.forgetful == other.variables.forgetful;
        if !same {
            self.join_variables(&other, environment);
        }
        self.location.join(&other.location);
        self.variables.forgetful |= other.variables.forgetful;
        self.variables.deciding |= other.variables.deciding;
        self.functions.join(&other.functions);
        if self.args != other.args {
            self.args = join_values(Some(std::mem::take(&mut self.args)), Some(other.args)).unwrap_or_default();
        }
    }

    fn join_variables(&mut self, other: &Self, environment: EnvironmentBlock<'_>) {
        for (name, theirs) in other.variables.iter() {
            if self.variables.get(name).is_none() {
                let values = self.get(name, environment);
                let exported = environment.get(name).is_some();
                self.variables.insert(name, ShellVariable { values, exported, attributes: theirs.attributes });
            }
        }
        for (name, variable) in self.variables.iter_mut() {
            let theirs = match other.variables.get(name) {
                Some(theirs) => theirs.values.clone(),
                None => other.get(name, environment),
            };
            let described = other.variables.attributes(name);
            variable.attributes = VariableAttributes {
                keyed: variable.attributes.keyed && described.keyed,
                ..variable.attributes.with(described)
            };
            if variable.values != theirs {
                variable.values = join_values(variable.values.take(), theirs);
            }
        }
    }

    /// Variables that are unknown by now get the values that they had in another shell.
    pub(super) fn recall_unknown_variables(&mut self, then: &Self, environment: EnvironmentBlock<'_>) {
        for (name, variable) in then.variables.iter() {
            if self.get(name, environment) == Some(vec![WordValue::unknown_words()]) {
                self.variables.insert(name, variable.clone());
            }
        }
    }

    /// Whether the same commands may do something else in another shell.
    pub(super) fn differs(&self, other: &Self) -> bool {
        self.variables.differs(&other.variables)
            || self.location.candidates != other.location.candidates
            || self.args != other.args
    }
}
