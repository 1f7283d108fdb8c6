//! Where a command stands.

use std::rc::Rc;

use crate::safety::level::Confidence;
use crate::safety::read::{Heredoc, Span};

/// Scripts in scripts, functions in functions.
pub(super) const MAX_DEPTH: usize = 40;

/// The text that commands stand in.
#[derive(Clone, Debug)]
pub struct Origin {
    /// All of it.
    pub text: Rc<str>,
    /// The bodies of its heredocs.
    pub heredocs: Rc<[Heredoc]>,
    /// Where it stands in the command, unless it is the command.
    pub fixed: Option<Span>,
    /// A function that was there before the command: its aliases were expanded when it was defined.
    pub earlier: bool,
}

/// Where in all of it a command stands.
#[derive(Clone, Debug)]
pub struct Context {
    /// Its text.
    pub origin: Origin,
    /// The chain that it came through.
    pub via: Rc<Vec<String>>,
    /// How sure it is that it runs as it stands.
    pub confidence: Confidence,
    /// How deep it is.
    pub depth: usize,
    /// It may not run: behind `&&`, in a branch or a loop.
    pub conditional: bool,
    /// It runs beside something else.
    pub forked: bool,
    /// It stands in a function that is not called.
    pub uncalled: bool,
    /// It is listed among the commands; a guess is not.
    pub listed: bool,
    /// Aliases in whose text it stands.
    pub aliases: Rc<Vec<String>>,
}

impl Context {
    /// Of a text as it was given.
    pub fn of(text: &str) -> Self {
        Self {
            origin: Origin { text: text.into(), heredocs: Rc::from([]), fixed: None, earlier: false },
            via: Rc::default(),
            confidence: Confidence::Exact,
            depth: 0,
            conditional: false,
            forked: false,
            uncalled: false,
            listed: true,
            aliases: Rc::default(),
        }
    }

    /// One level further in.
    pub fn inside(&self, via: &str) -> Self {
        let mut inside = self.clone();
        Rc::make_mut(&mut inside.via).push(via.to_owned());
        inside.depth += 1;
        inside
    }

    pub(super) fn maybe(&self) -> Self {
        Self { conditional: true, ..self.clone() }
    }
}
