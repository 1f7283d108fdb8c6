//! A simple command that was found.

use std::rc::Rc;

use crate::safety::command::{Command, Redirect, Scene};
use crate::safety::level::Confidence;
use crate::safety::read::Span;
use crate::safety::value::Value;

/// A simple command that was found, with all that was found out about it.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its words, the head first.
    pub argv: Vec<Value>,
    /// The words as they are written.
    pub sources: Vec<String>,
    /// All of it as it is written.
    pub source: String,
    /// Words of wrappers before it.
    pub prefix: Vec<String>,
    /// Variables set for it.
    pub assignments: Vec<(String, Value)>,
    /// The same, as they are written.
    pub assigned: Vec<String>,
    /// Its own redirects, and then those of the groups around it.
    pub redirects: Vec<Redirect>,
    /// Folders that it may run in, the likeliest first.
    pub folders: Rc<Vec<Value>>,
    /// The chain that it came through.
    pub via: Rc<Vec<String>>,
    /// Where it stands in the command, bytes.
    pub span: Span,
    /// How sure it is that it runs as it stands.
    pub confidence: Confidence,
    /// It is one of the commands, not a guess.
    pub listed: bool,
    /// It never runs: bash gives up before.
    pub dead: bool,
    /// It only runs other commands, all of which were found.
    pub transparent: bool,
    /// It runs something that cannot be seen.
    pub opaque: bool,
    /// A function without end.
    pub bomb: bool,
    /// It stands in a function that is not called.
    pub uncalled: bool,
}

impl Told {
    /// As rules see it, in one of its folders.
    pub fn command<'a>(&'a self, cwd: &'a Value, scene: &'a Scene) -> Command<'a> {
        Command { argv: &self.argv, assignments: &self.assignments, redirects: &self.redirects, cwd, scene }
    }
}
