//! The surroundings of a command: the text that it is written in, and how that text is run.

use std::rc::Rc;

use crate::parse::{ByteSpan, HeredocBody};
use crate::verdict::AnalysisConfidence;

/// Nesting of scripts in scripts and functions in functions that is evaluated.
pub(super) const MAX_DEPTH: usize = 40;

/// The text that a command is written in.
#[derive(Clone, Debug)]
pub struct ScriptOrigin {
    /// The whole text.
    pub text: Rc<str>,
    /// The bodies of its heredocs.
    pub heredocs: Rc<[HeredocBody]>,
    /// The place of the text in the whole command. `None` if it is the whole command.
    pub fixed: Option<ByteSpan>,
    /// Whether the text is a function from before the command: its aliases were expanded when it was defined.
    pub earlier: bool,
}

/// The surroundings of a command.
#[derive(Clone, Debug)]
pub struct EvaluationFrame {
    /// The text that it is written in.
    pub origin: ScriptOrigin,
    /// The chain of wrappers and scripts that leads to it.
    pub via: Rc<Vec<String>>,
    /// How sure it is that the command runs with these words.
    pub confidence: AnalysisConfidence,
    /// Depth of nesting.
    pub depth: usize,
    /// Whether the command may not run: behind `&&`, in a branch or a loop.
    pub conditional: bool,
    /// Whether the command runs beside another command.
    pub forked: bool,
    /// Whether the command belongs to a function that no command calls.
    pub uncalled: bool,
    /// Whether the command is listed. A guess is not.
    pub listed: bool,
    /// The aliases that led to its text.
    pub aliases: Rc<Vec<String>>,
}

impl EvaluationFrame {
    /// The surroundings of a whole command.
    pub fn of(text: &str) -> Self {
        Self {
            origin: ScriptOrigin { text: text.into(), heredocs: Rc::from([]), fixed: None, earlier: false },
            via: Rc::default(),
            confidence: AnalysisConfidence::Exact,
            depth: 0,
            conditional: false,
            forked: false,
            uncalled: false,
            listed: true,
            aliases: Rc::default(),
        }
    }

    /// The surroundings one level deeper.
    pub fn nested_via(&self, via: &str) -> Self {
        let mut inside = self.clone();
        Rc::make_mut(&mut inside.via).push(via.to_owned());
        inside.depth += 1;
        inside
    }

    /// The surroundings of a command that may not run.
    pub(super) fn as_conditional(&self) -> Self {
        Self { conditional: true, ..self.clone() }
    }
}
