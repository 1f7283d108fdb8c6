//! The state of a shell as far as it can be followed: variables, functions, folders.

use std::collections::HashMap;
use std::rc::Rc;

use super::alias::Alias;
use super::context::Origin;
use crate::safety::command::{Input, Redirect};
use crate::safety::read::Node;
use crate::safety::value::{Piece, Value};

/// The most values that a variable may have one of; beyond it is unknown.
pub(super) const MAX_CHOICES: usize = 4;
/// The longest lists that are joined place by place.
const MAX_JOINED: usize = 32;
/// The most folders that a shell may be in one of.
const MAX_FOLDERS: usize = 4;

/// The longest value that is remembered, bytes, and the most elements of an array.
const MAX_LENGTH: usize = 1 << 16;
const MAX_ELEMENTS: usize = 512;

/// What bash sets by itself.
const OWN: &str = "BASH BASHOPTS BASHPID BASH_ARGC BASH_ARGV BASH_COMMAND BASH_EXECUTION_STRING BASH_LINENO BASH_REMATCH \
                   BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO BASH_VERSION COLUMNS COPROC COPROC_PID DIRSTACK EPOCHREALTIME \
                   EPOCHSECONDS EUID FUNCNAME GROUPS HOSTNAME HOSTTYPE IFS LINENO LINES MACHTYPE MAPFILE OLDPWD OPTARG \
                   OPTERR OPTIND OSTYPE PIPESTATUS PPID RANDOM READLINE_LINE REPLY SECONDS SHELLOPTS SHLVL SRANDOM UID";

/// What hardly any script sets, though it might.
const LASTING: [&str; 6] = ["HOME", "PATH", "PWD", "SHELL", "TMPDIR", "USER"];

/// The variables that a shell starts with: `NAME=VALUE`, each ended by a NUL.
#[derive(Clone, Copy, Debug, Default)]
pub struct Environment<'a>(pub &'a str);

impl<'a> Environment<'a> {
    /// The value of a variable.
    pub fn get(self, name: &str) -> Option<&'a str> {
        self.0.split('\0').find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='))
    }
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// One value, or the elements of an array. `None` when it is not set.
    pub values: Option<Vec<Value>>,
    /// Programs get it, too.
    pub exported: bool,
    /// What is assigned to it is changed on its way: `declare -i`, `-u`, `-n` …
    pub changes: bool,
}

/// A function with the text that it stands in.
#[derive(Clone, Debug)]
pub struct Function {
    /// What it does.
    pub body: Rc<Node>,
    /// Where it is written.
    pub origin: Origin,
    /// Where it is defined, to know it again.
    pub number: usize,
}

/// A shell on its way.
#[derive(Clone, Debug)]
pub struct Shell {
    variables: Rc<HashMap<String, Variable>>,
    /// Something ran that may have set any variable.
    pub forgetful: bool,
    /// By name.
    pub functions: Rc<HashMap<String, Function>>,
    /// Functions that were there before the command, as they are written: read when they are called.
    pub unread: Rc<HashMap<String, Rc<str>>>,
    /// `$0` and on.
    pub args: Vec<Value>,
    /// Where it may be; the first is where it is if nothing failed.
    pub folders: Rc<Vec<Value>>,
    /// Where it was before.
    pub before: Value,
    /// Folders that `pushd` left.
    pub stack: Vec<Value>,
    /// Aliases, and whether they are expanded.
    pub aliases: Rc<HashMap<String, Alias>>,
    /// See `aliases`.
    pub expands: bool,
    /// `set -a`
    pub exports: bool,
    /// `shopt -s lastpipe`
    pub keeps_last: bool,
    /// `set -e`
    pub exits: bool,
    /// It has left the list that it was in: `exit`, `return`, `break`, `exec`.
    pub ended: bool,
    /// What its commands read.
    pub input: Input,
    /// Redirects of the groups that it is in.
    pub redirects: Vec<Redirect>,
    /// Values that `local` covers, by function.
    pub covered: Vec<HashMap<String, Option<Variable>>>,
}

impl Shell {
    /// A shell that starts in this folder.
    pub fn new(cwd: Value, args: Vec<Value>) -> Self {
        Self {
            variables: Rc::default(),
            forgetful: false,
            functions: Rc::default(),
            unread: Rc::default(),
            args,
            folders: Rc::new(vec![cwd]),
            before: Value::unknown(),
            stack: Vec::new(),
            aliases: Rc::default(),
            expands: false,
            exports: false,
            keeps_last: false,
            exits: false,
            ended: false,
            input: Input::Inherited,
            redirects: Vec::new(),
            covered: Vec::new(),
        }
    }

    /// A program that is a shell itself: it gets what is exported.
    pub fn child(&self, args: Vec<Value>) -> Self {
        let mut child = Self::new(self.cwd().clone(), args);
        child.folders.clone_from(&self.folders);
        child.before.clone_from(&self.before);
        child.forgetful = self.forgetful;
        let inherited = |(name, variable): (&String, &Variable)| {
            (variable.exported || variable.values.is_none()).then(|| (name.clone(), variable.clone()))
        };
        child.variables = Rc::new(self.variables.iter().filter_map(inherited).collect());
        child.functions.clone_from(&self.functions);
        child.unread.clone_from(&self.unread);
        child
    }

    /// Where it is.
    pub fn cwd(&self) -> &Value {
        &self.folders[0]
    }

    /// What splits words, where that was changed: `None` where to is not known.
    pub fn separators(&self) -> Option<Option<&str>> {
        let changed = self.variables.get("IFS")?;
        Some(changed.values.as_deref().and_then(|values| values.first()).and_then(Value::known))
    }

    /// How much a copy of it costs.
    pub fn weight(&self) -> usize {
        self.covered.len() + self.args.len() + self.redirects.len()
    }

    /// What a variable holds; `None` when it is surely not set.
    pub fn get(&self, name: &str, environment: Environment<'_>) -> Option<Vec<Value>> {
        match self.variables.get(name) {
            Some(variable) => return variable.values.clone(),
            None if self.forgetful && !LASTING.contains(&name) => return Some(vec![hole()]),
            None => {}
        }
        match name {
            "PWD" => return Some(vec![self.cwd().clone()]),
            "OLDPWD" if self.before.known().is_some() => return Some(vec![self.before.clone()]),
            _ => {}
        }
        if let Some(value) = environment.get(name) {
            return Some(vec![Value::of(value)]);
        }
        OWN.split(' ').any(|own| own == name).then(|| vec![hole()])
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, mut values: Vec<Value>, environment: Environment<'_>) {
        // What doubles itself line by line would be all of the memory soon.
        if values.len() > MAX_ELEMENTS || values.iter().map(Value::weight).sum::<usize>() > MAX_LENGTH {
            values = vec![hole()];
        }
        let before = self.variables.get(name);
        let exported =
            before.map_or_else(|| environment.get(name).is_some(), |variable| variable.exported) || self.exports;
        let changes = before.is_some_and(|variable| variable.changes);
        if changes {
            values = vec![hole()];
        }
        self.variables_mut().insert(name.to_owned(), Variable { values: Some(values), exported, changes });
    }

    /// Sets a variable to what cannot be known.
    pub fn blur(&mut self, name: &str, environment: Environment<'_>) {
        self.set(name, vec![hole()], environment);
    }

    /// Hands a variable to programs, or no longer.
    pub fn export(&mut self, name: &str, exported: bool, environment: Environment<'_>) {
        let values = self.get(name, environment);
        let changes = self.variables.get(name).is_some_and(|variable| variable.changes);
        self.variables_mut().insert(name.to_owned(), Variable { values, exported, changes });
    }

    /// From here on what is assigned to a variable is changed on its way.
    pub fn change(&mut self, name: &str, environment: Environment<'_>) {
        let values = self.get(name, environment);
        let exported =
            self.variables.get(name).map_or_else(|| environment.get(name).is_some(), |variable| variable.exported);
        self.variables_mut().insert(name.to_owned(), Variable { values, exported, changes: true });
    }

    /// Whether a name is one of its functions.
    pub fn has_function(&self, name: &str) -> bool {
        self.functions.contains_key(name) || self.unread.contains_key(name)
    }

    /// Takes a function away.
    pub fn unset_function(&mut self, name: &str) {
        if self.functions.contains_key(name) {
            Rc::make_mut(&mut self.functions).remove(name);
        }
        if self.unread.contains_key(name) {
            Rc::make_mut(&mut self.unread).remove(name);
        }
    }

    /// Takes a variable away.
    pub fn unset(&mut self, name: &str) {
        self.variables_mut().insert(name.to_owned(), Variable { values: None, exported: false, changes: false });
    }

    /// `local`: the function's caller gets its value back.
    pub fn cover(&mut self, name: &str) {
        let value = self.variables.get(name).cloned();
        if let Some(covered) = self.covered.last_mut() {
            covered.entry(name.to_owned()).or_insert(value);
        }
    }

    /// A function ends.
    pub fn uncover(&mut self) {
        for (name, value) in self.covered.pop().unwrap_or_default() {
            match value {
                Some(variable) => self.variables_mut().insert(name, variable),
                None => self.variables_mut().remove(&name),
            };
        }
    }

    /// `cd`
    pub fn enter(&mut self, folder: Value) {
        self.before = self.cwd().clone();
        self.folders = Rc::new(vec![folder]);
    }

    /// Where `cd -` goes is what OLDPWD says.
    pub fn settle_before(&mut self) {
        if let Some(Variable { values: Some(values), .. }) = self.variables_mut().remove("OLDPWD") {
            self.before = values.into_iter().next().unwrap_or_else(Value::unknown);
        }
    }

    /// It may also be where this one is.
    pub fn add_folders(&mut self, other: &Self) {
        for folder in other.folders.iter() {
            if self.folders.len() < MAX_FOLDERS && !self.folders.contains(folder) {
                Rc::make_mut(&mut self.folders).push(folder.clone());
            }
        }
    }

    /// It may also be in that state.
    pub fn join(&mut self, other: Self, environment: Environment<'_>) {
        if self.ended != other.ended {
            if self.ended {
                *self = other;
            }
            return;
        }
        if Rc::ptr_eq(&self.variables, &other.variables) && self.forgetful == other.forgetful {
            // Nothing was set on either way.
        } else {
            self.join_variables(&other, environment);
        }
        self.add_folders(&other);
        self.forgetful |= other.forgetful;
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            let functions = Rc::make_mut(&mut self.functions);
            for (name, function) in other.functions.iter() {
                functions.entry(name.clone()).or_insert_with(|| function.clone());
            }
        }
        if !Rc::ptr_eq(&self.unread, &other.unread) {
            let unread = Rc::make_mut(&mut self.unread);
            for (name, text) in other.unread.iter() {
                unread.entry(name.clone()).or_insert_with(|| Rc::clone(text));
            }
        }
        if self.args != other.args {
            self.args = either(Some(std::mem::take(&mut self.args)), Some(other.args)).unwrap_or_default();
        }
    }

    fn join_variables(&mut self, other: &Self, environment: Environment<'_>) {
        for name in other.variables.keys() {
            if !self.variables.contains_key(name) {
                let values = self.get(name, environment);
                let exported = environment.get(name).is_some();
                self.variables_mut().insert(name.clone(), Variable { values, exported, changes: false });
            }
        }
        for (name, variable) in self.variables_mut() {
            let theirs = match other.variables.get(name) {
                Some(theirs) => theirs.values.clone(),
                None => other.get(name, environment),
            };
            if variable.values != theirs {
                variable.values = either(variable.values.take(), theirs);
            }
        }
    }

    fn variables_mut(&mut self) -> &mut HashMap<String, Variable> {
        Rc::make_mut(&mut self.variables)
    }

    /// What is not known any more is as it was then.
    pub fn recall(&mut self, then: &Self, environment: Environment<'_>) {
        for (name, variable) in then.variables.iter() {
            if self.get(name, environment) == Some(vec![hole()]) {
                self.variables_mut().insert(name.clone(), variable.clone());
            }
        }
    }

    /// Whether another run over the same commands may come to something else.
    pub fn differs(&self, other: &Self) -> bool {
        let same = Rc::ptr_eq(&self.variables, &other.variables) || self.variables == other.variables;
        !same || self.folders != other.folders || self.args != other.args
    }
}

/// A number. Which one does not matter, but that it is nothing else.
pub fn number() -> Value {
    let mut value = Value::default();
    value.push(Piece::OneOf(vec!["0".to_owned(), "1".to_owned()]));
    value
}

/// Some text, perhaps none.
pub fn hole() -> Value {
    let mut value = Value::default();
    value.push(Piece::Hole(true));
    value
}

/// One list or the other, place by place; where one of them has no such place, that word is there or not.
fn either(one: Option<Vec<Value>>, other: Option<Vec<Value>>) -> Option<Vec<Value>> {
    let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
    let nothing = Value::default();
    let places = one.len().max(other.len());
    if places > MAX_JOINED {
        return Some(vec![hole()]);
    }
    let at = |place: usize| choice(one.get(place).unwrap_or(&nothing), other.get(place).unwrap_or(&nothing));
    Some((0..places).map(at).collect())
}

/// One of two values.
fn choice(one: &Value, other: &Value) -> Value {
    if one == other {
        return one.clone();
    }
    let texts = |value: &Value| match value.pieces() {
        [Piece::OneOf(texts)] => Some(texts.clone()),
        _ => value.known().map(|text| vec![text.to_owned()]),
    };
    let (Some(mut all), Some(more)) = (texts(one), texts(other)) else { return hole() };
    for text in more {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    if all.len() > MAX_CHOICES {
        return hole();
    }
    let mut value = Value::default();
    value.push(Piece::OneOf(all));
    value
}
