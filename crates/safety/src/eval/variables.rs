//! The variables of a shell.

use std::collections::HashMap;
use std::rc::Rc;

use super::numeric_output;
use crate::name_lists::has_word;
use crate::word_value::{ValuePiece, WordValue};

/// The most alternative values of a variable. With more, the variable is unknown.
pub(super) const MAX_CHOICES: usize = 4;
/// Longest lists that are joined place by place.
const MAX_JOINED: usize = 32;
/// Longest value that is remembered, bytes.
const MAX_LENGTH: usize = 1 << 16;
/// Elements of the longest array that is remembered.
const MAX_ELEMENTS: usize = 512;

/// Variables that bash sets by itself.
const OWN: &str = "BASH BASHOPTS BASH_ARGC BASH_ARGV BASH_COMMAND BASH_EXECUTION_STRING BASH_LINENO BASH_REMATCH \
                   BASH_SOURCE BASH_VERSINFO BASH_VERSION COPROC COPROC_PID DIRSTACK EPOCHREALTIME FUNCNAME GROUPS \
                   HOSTNAME HOSTTYPE IFS MACHTYPE MAPFILE OLDPWD OPTARG OPTERR OSTYPE PIPESTATUS READLINE_LINE REPLY \
                   SHELLOPTS";

/// Variables that hardly any script sets, though it might.
const LASTING: [&str; 6] = ["HOME", "PATH", "PWD", "SHELL", "TMPDIR", "USER"];

/// The variables that a shell starts with: `NAME=VALUE`, each ended by a NUL.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnvironmentBlock<'a>(pub &'a str);

impl<'a> EnvironmentBlock<'a> {
    /// The value of a variable.
    pub fn get(self, name: &str) -> Option<&'a str> {
        let mut from = 0;
        for end in memchr::memchr_iter(0, self.0.as_bytes()).chain([self.0.len()]) {
            let entry = &self.0.as_bytes()[from..end];
            if entry.get(name.len()) == Some(&b'=') && entry.starts_with(name.as_bytes()) {
                return self.0.get(from + name.len() + 1..end);
            }
            from = end + 1;
        }
        None
    }
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellVariable {
    /// One value, or the elements of an array. `None` if it is not set.
    pub values: Option<Vec<WordValue>>,
    /// Whether programs get it, too.
    pub exported: bool,
    /// What `declare` says of it.
    pub attributes: VariableAttributes,
}

/// VariableAttributes of a variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VariableAttributes {
    /// `-i`: an assigned value is evaluated as arithmetic.
    pub integer: bool,
    /// `-n`: the value is the name of another variable.
    pub reference: bool,
    /// `-u`, `-l`, `-c`: the letters of an assigned value are changed.
    pub cased: bool,
    /// `-A`: a subscript is a key, not arithmetic.
    pub keyed: bool,
}

impl VariableAttributes {
    /// These attributes and further ones.
    pub fn with(self, more: Self) -> Self {
        Self {
            integer: self.integer | more.integer,
            reference: self.reference | more.reference,
            cased: self.cased | more.cased,
            keyed: self.keyed | more.keyed,
        }
    }

    /// Whether an assigned value is changed on its way.
    pub fn changes_value(self) -> bool {
        self.integer || self.reference || self.cased
    }
}

/// The variables that a shell has set or removed. All others have the values of the environment.
#[derive(Clone, Debug, Default)]
pub(super) struct ShellVariables {
    table: Rc<HashMap<String, ShellVariable>>,
    /// Whether a command ran that may have set any variable.
    pub forgetful: bool,
    /// Whether a variable was set by which a reading program may run another one.
    pub deciding: bool,
    /// The values that `local` covers, for each function that is running.
    pub covered: Vec<HashMap<String, Option<ShellVariable>>>,
}

impl ShellVariables {
    /// The variables of a program that is a shell itself: it gets those that are exported.
    pub(super) fn child(&self) -> Self {
        let inherited = |(name, variable): (&String, &ShellVariable)| {
            (variable.exported || variable.values.is_none()).then(|| (name.clone(), variable.clone()))
        };
        let table = Rc::new(self.table.iter().filter_map(inherited).collect());
        Self { table, covered: Vec::new(), ..*self }
    }

    /// A variable that was set or removed.
    pub(super) fn get(&self, name: &str) -> Option<&ShellVariable> {
        self.table.get(name)
    }

    /// The value of a variable that was neither set nor removed, apart from PWD and OLDPWD. `None` if it has none.
    pub(super) fn inherited(&self, name: &str, environment: EnvironmentBlock<'_>) -> Option<Vec<WordValue>> {
        if let Some(value) = environment.get(name) {
            return Some(vec![WordValue::of(value)]);
        }
        if has_word(numeric_output::VARIABLES, name) {
            return Some(vec![WordValue::number()]);
        }
        has_word(OWN, name).then(|| vec![WordValue::unknown_words()])
    }

    /// Whether a variable may have been set by a command that is not known.
    pub(super) fn may_be_set(&self, name: &str) -> bool {
        self.forgetful && !LASTING.contains(&name)
    }

    /// Sets a variable. `exports` is `set -a`.
    pub(super) fn set(
        &mut self,
        name: &str,
        mut values: Vec<WordValue>,
        exports: bool,
        environment: EnvironmentBlock<'_>,
    ) {
        // A value that doubles itself line by line would fill the memory.
        if values.len() > MAX_ELEMENTS || values.iter().map(WordValue::weight).sum::<usize>() > MAX_LENGTH {
            values = vec![WordValue::unknown_words()];
        }
        let exported = self.is_exported(name, environment) || exports;
        let attributes = self.attributes(name);
        if attributes.integer {
            values = vec![WordValue::number()];
        } else if attributes.changes_value() {
            values = vec![WordValue::unknown_words()];
        }
        self.insert(name, ShellVariable { values: Some(values), exported, attributes });
    }

    /// Removes a variable.
    pub(super) fn unset(&mut self, name: &str) {
        self.insert(name, ShellVariable { values: None, exported: false, attributes: VariableAttributes::default() });
    }

    /// Replaces a variable.
    pub(super) fn insert(&mut self, name: &str, variable: ShellVariable) {
        self.table_mut().insert(name.to_owned(), variable);
    }

    /// Takes a variable out, as if it had never been set or removed.
    pub(super) fn take(&mut self, name: &str) -> Option<ShellVariable> {
        self.table_mut().remove(name)
    }

    /// Whether programs get a variable.
    pub(super) fn is_exported(&self, name: &str, environment: EnvironmentBlock<'_>) -> bool {
        self.table.get(name).map_or_else(|| environment.get(name).is_some(), |variable| variable.exported)
    }

    /// The attributes of a variable.
    pub(super) fn attributes(&self, name: &str) -> VariableAttributes {
        self.table.get(name).map_or_else(VariableAttributes::default, |variable| variable.attributes)
    }

    /// `local`: the function's caller gets its value back.
    pub(super) fn begin_local(&mut self, name: &str) {
        let value = self.table.get(name).cloned();
        if let Some(covered) = self.covered.last_mut() {
            covered.entry(name.to_owned()).or_insert(value);
        }
    }

    /// A function ends.
    pub(super) fn restore_locals(&mut self) {
        for (name, value) in self.covered.pop().unwrap_or_default() {
            match value {
                Some(variable) => self.table_mut().insert(name, variable),
                None => self.table_mut().remove(&name),
            };
        }
    }

    /// All that were set or removed.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &ShellVariable)> {
        self.table.iter()
    }

    /// The same, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&String, &mut ShellVariable)> {
        self.table_mut().iter_mut()
    }

    /// Whether these are surely the same variables.
    pub(super) fn is_surely_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.table, &other.table)
    }

    /// Whether a variable differs.
    pub(super) fn differs(&self, other: &Self) -> bool {
        !self.is_surely_same(other) && self.table != other.table
    }

    fn table_mut(&mut self) -> &mut HashMap<String, ShellVariable> {
        Rc::make_mut(&mut self.table)
    }
}

/// Joins two lists place by place. A word without a counterpart may be absent.
pub(super) fn join_values(one: Option<Vec<WordValue>>, other: Option<Vec<WordValue>>) -> Option<Vec<WordValue>> {
    let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
    let nothing = WordValue::default();
    let places = one.len().max(other.len());
    if places > MAX_JOINED {
        return Some(vec![WordValue::unknown_words()]);
    }
    let at = |place: usize| either_value(one.get(place).unwrap_or(&nothing), other.get(place).unwrap_or(&nothing));
    Some((0..places).map(at).collect())
}

/// Returns a value that may be either of two.
fn either_value(one: &WordValue, other: &WordValue) -> WordValue {
    if one == other {
        return one.clone().derived_from(other);
    }
    let texts = |value: &WordValue| match value.pieces() {
        [ValuePiece::OneOf(texts)] => Some(texts.clone()),
        _ => value.known().map(|text| vec![text.to_owned()]),
    };
    let any = || WordValue::unknown_words().derived_from(one).derived_from(other);
    let (Some(mut all), Some(more)) = (texts(one), texts(other)) else { return any() };
    for text in more {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    if all.len() > MAX_CHOICES {
        return any();
    }
    WordValue::from(ValuePiece::OneOf(all)).derived_from(one).derived_from(other)
}

#[cfg(test)]
mod tests {
    use super::{EnvironmentBlock, MAX_CHOICES, MAX_LENGTH, ShellVariables, join_values};
    use crate::word_value::{ValuePiece, WordValue};

    #[test]
    fn variables_are_set_covered_and_inherited() {
        let environment = EnvironmentBlock("A=1\0B=2\0");
        let mut variables = ShellVariables::default();
        assert_eq!(variables.inherited("A", environment), Some(vec![WordValue::of("1")]));
        assert_eq!(variables.inherited("LINENO", environment), Some(vec![WordValue::number()]));
        assert_eq!(variables.inherited("REPLY", environment), Some(vec![WordValue::unknown_words()]));
        assert_eq!(variables.inherited("C", environment), None);
        variables.set("A", vec![WordValue::of("x")], false, environment);
        variables.set("C", vec![WordValue::of("y")], false, environment);
        variables.covered.push(std::collections::HashMap::new());
        variables.begin_local("C");
        variables.begin_local("D");
        variables.unset("C");
        variables.set("D", vec![WordValue::of("z")], false, environment);
        variables.restore_locals();
        let value = |name: &str| variables.get(name).and_then(|variable| variable.values.clone());
        assert_eq!(value("C"), Some(vec![WordValue::of("y")]));
        assert!(variables.get("D").is_none());
        let child = variables.child();
        assert!(child.get("A").is_some() && child.get("C").is_none());
    }

    #[test]
    fn a_value_that_grows_too_long_is_unknown() {
        let mut variables = ShellVariables::default();
        variables.set("x", vec![WordValue::of("a".repeat(MAX_LENGTH + 1))], false, EnvironmentBlock(""));
        assert_eq!(variables.get("x").unwrap().values, Some(vec![WordValue::unknown_words()]));
    }

    #[test]
    fn lists_are_joined_place_by_place() {
        let one_of = |texts: &[&str]| {
            let mut value = WordValue::default();
            value.push(ValuePiece::OneOf(texts.iter().map(|text| (*text).to_owned()).collect()));
            value
        };
        let joined = join_values(Some(vec!["a".into(), "b".into()]), Some(vec!["a".into(), "c".into(), "d".into()]));
        assert_eq!(joined.unwrap(), ["a".into(), one_of(&["b", "c"]), one_of(&["", "d"])]);
        let four = one_of(&["1", "2", "3", "4"]);
        assert_eq!(four.pieces().len(), 1);
        assert_eq!(MAX_CHOICES, 4);
        assert_eq!(join_values(Some(vec![four]), Some(vec!["5".into()])).unwrap(), [WordValue::unknown_words()]);
    }
}
