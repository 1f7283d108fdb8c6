//! Functions: those that the command defines, and those that its shell had before.

use std::collections::HashMap;
use std::rc::Rc;

use super::evaluation_frame::{EvaluationFrame, ScriptOrigin};
use crate::parse::CommandNode;

/// A function with the text that it is written in.
#[derive(Clone, Debug)]
pub struct ShellFunction {
    /// The command that it runs.
    pub body: Rc<CommandNode>,
    /// The text around it.
    pub origin: ScriptOrigin,
    /// The address of its definition, to recognize it.
    pub number: usize,
}

/// A function that the command defines.
struct FunctionDefinition {
    function: ShellFunction,
    frame: EvaluationFrame,
    called: bool,
}

/// Every function that was met during an evaluation.
#[derive(Default)]
pub(super) struct FunctionTable {
    definitions: Vec<FunctionDefinition>,
    /// Functions from before the command that were called, by name. `None` if their text holds no function.
    earlier: HashMap<String, Option<ShellFunction>>,
}

impl FunctionTable {
    /// The command defines a function.
    pub(super) fn define(&mut self, function: ShellFunction, frame: EvaluationFrame) {
        self.definitions.push(FunctionDefinition { function, frame, called: false });
    }

    /// A function is called.
    pub(super) fn mark_called(&mut self, number: usize) {
        for definition in &mut self.definitions {
            definition.called |= definition.function.number == number;
        }
    }

    /// Takes out the definitions that no command has called so far, and forgets the others.
    pub(super) fn take_uncalled(&mut self) -> impl Iterator<Item = (ShellFunction, EvaluationFrame)> + use<> {
        let definitions = std::mem::take(&mut self.definitions).into_iter();
        definitions.filter(|definition| !definition.called).map(|definition| (definition.function, definition.frame))
    }

    /// Returns whether a function from before the command was read already.
    pub(super) fn has_read(&self, name: &str) -> bool {
        self.earlier.contains_key(name)
    }

    /// Returns a function from before the command, unless its text has none.
    pub(super) fn earlier_function(&self, name: &str) -> Option<ShellFunction> {
        self.earlier.get(name).cloned().flatten()
    }

    /// Remembers a function from before the command.
    pub(super) fn remember_earlier(&mut self, name: &str, function: Option<ShellFunction>) {
        self.earlier.insert(name.to_owned(), function);
    }
}

/// The functions that a shell knows.
#[derive(Clone, Debug, Default)]
pub(super) struct ShellFunctions {
    /// Functions that were read, by name.
    pub defined: Rc<HashMap<String, ShellFunction>>,
    /// Functions from before the command, as bash prints them. A call reads them.
    pub unread: Rc<HashMap<String, Rc<str>>>,
}

impl ShellFunctions {
    /// Whether a function has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.defined.contains_key(name) || self.unread.contains_key(name)
    }

    /// Adds or replaces a function.
    pub(super) fn define(&mut self, name: String, function: ShellFunction) {
        Rc::make_mut(&mut self.defined).insert(name, function);
    }

    /// Removes a function.
    pub(super) fn unset(&mut self, name: &str) {
        if self.defined.contains_key(name) {
            Rc::make_mut(&mut self.defined).remove(name);
        }
        if self.unread.contains_key(name) {
            Rc::make_mut(&mut self.unread).remove(name);
        }
    }

    /// Adds the functions of another shell whose names are free.
    pub(super) fn join(&mut self, other: &Self) {
        if !Rc::ptr_eq(&self.defined, &other.defined) {
            let defined = Rc::make_mut(&mut self.defined);
            for (name, function) in other.defined.iter() {
                defined.entry(name.clone()).or_insert_with(|| function.clone());
            }
        }
        if !Rc::ptr_eq(&self.unread, &other.unread) {
            let unread = Rc::make_mut(&mut self.unread);
            for (name, text) in other.unread.iter() {
                unread.entry(name.clone()).or_insert_with(|| Rc::clone(text));
            }
        }
    }
}
