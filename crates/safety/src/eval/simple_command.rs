//! A simple command that an evaluation found.

use std::rc::Rc;

use crate::parse::ByteSpan;
use crate::simple_command_view::{CommandDirectories, CommandStdin, ExpandedRedirect, SimpleCommandView};
use crate::verdict::AnalysisConfidence;
use crate::word_alternatives;
use crate::word_value::{WordValue, weight};

/// A simple command with everything that is known about it.
#[derive(Clone, Debug)]
pub struct SimpleCommand {
    /// Words of the command, the program first.
    pub argv: Vec<WordValue>,
    /// The source of each word.
    pub sources: Vec<String>,
    /// The source of the whole command.
    pub source: String,
    /// The words of wrappers before it.
    pub prefix: Vec<String>,
    /// Variables that are set for it.
    pub assignments: Vec<(String, WordValue)>,
    /// The source of each assignment.
    pub assigned: Vec<String>,
    /// Redirects of the command itself, then of the groups around it.
    pub redirects: Vec<ExpandedRedirect>,
    /// Directories that it may run in, the likeliest first.
    pub cwds: Rc<Vec<WordValue>>,
    /// Standard input.
    pub input: CommandStdin,
    /// The chain of wrappers and scripts that leads to it.
    pub via: Rc<Vec<String>>,
    /// Place in the whole command, in bytes.
    pub span: ByteSpan,
    /// How sure it is that the command runs with these words.
    pub confidence: AnalysisConfidence,
    /// Everything else.
    pub traits: SimpleCommandTraits,
}

/// Properties of a simple command.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimpleCommandTraits {
    /// Part of the command, and not a guess.
    pub listed: bool,
    /// Never runs, since bash gives up before.
    pub dead: bool,
    /// Runs only other commands, all of which were found.
    pub transparent: bool,
    /// Runs code that cannot be seen.
    pub opaque: bool,
    /// A function that calls itself without end.
    pub bomb: bool,
    /// Part of a function that no command calls.
    pub uncalled: bool,
    /// Runs with variables by which a reading program may run another one.
    pub decided: bool,
    /// Text that bash may run, of which nothing is known: no program that was written.
    pub unseen: bool,
}

impl SimpleCommandTraits {
    /// Returns these properties with those that a program has by itself.
    pub(super) fn with_program_traits(self, program: Self) -> Self {
        let Self { transparent, opaque, decided, .. } = program;
        Self { transparent, opaque, decided, ..self }
    }
}

impl SimpleCommand {
    /// Returns the size of all words that are checked: those of each choice, in each directory.
    pub(super) fn weight(&self) -> usize {
        weight(&self.argv) * word_alternatives::count(&self.argv) * self.cwds.len() + weight(&self.cwds)
    }

    /// Returns the command as rules check it, in one of its directories.
    pub fn view_in<'a>(&'a self, cwd: &'a WordValue, directories: &'a CommandDirectories) -> SimpleCommandView<'a> {
        SimpleCommandView {
            argv: &self.argv,
            assignments: &self.assignments,
            redirects: &self.redirects,
            cwd,
            input: &self.input,
            via: &self.via,
            directories,
        }
    }
}
