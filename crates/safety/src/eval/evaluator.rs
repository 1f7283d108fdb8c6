//! The evaluator: evaluates a whole command, a script, a subshell.

use std::collections::HashMap;

use super::budget::Budget;
use super::calls::CallStack;
use super::found::Found;
use super::frame::{Frame, MAX_DEPTH};
use super::functions::FunctionTable;
use super::shell::Shell;
use super::simple_command::SimpleCommand;
use super::variables::Environment;
use crate::command::{Directories, Input, ShellState};
use crate::parse::{ParsedScript, Span, read};
use crate::unwrap::CustomWrappers;
use crate::value::{Contents, Value};

/// Evaluates one command with everything nested in it.
pub struct Evaluator<'a> {
    pub(super) environment: Environment<'a>,
    pub(super) directories: &'a Directories,
    pub(super) custom: &'a CustomWrappers,
    pub(super) found: Found,
    pub(super) budget: Budget,
    /// Whether this is the evaluation of the code that restores a shell. No command of that code is listed.
    pub(super) restores: bool,
    pub(super) current: CurrentCommand,
    pub(super) calls: CallStack,
    pub(super) functions: FunctionTable,
    /// Scripts and aliases that the command has written.
    pub(super) remembered: WrittenBefore,
    /// Traps of the innermost shell. They run when it ends.
    pub(super) traps: Vec<Trap>,
    /// The contents that were printed so far, into the same pipe or substitution.
    pub(super) printed_contents: Option<Contents>,
}

/// The simple command whose words are expanded.
#[derive(Clone, Debug, Default)]
pub(super) struct CurrentCommand {
    /// Place in the whole command.
    pub span: Span,
    /// Whether bash gives up before it runs: `${x:?}` of a variable that is not set.
    pub dead: bool,
}

/// The script of a `trap`.
#[derive(Clone)]
pub(super) struct Trap {
    pub script: String,
    pub frame: Frame,
    /// For a trap that may not be set: the shell as it was then.
    pub shell: Option<Shell>,
}

/// Scripts and aliases that the command itself has written.
#[derive(Default)]
pub(super) struct WrittenBefore {
    /// The texts of files, by their absolute paths.
    pub files: HashMap<String, Value>,
    /// The commands of git's aliases, by their names.
    pub aliases: HashMap<String, Value>,
}

/// The result of an evaluation.
#[derive(Debug)]
pub struct Evaluation {
    /// The simple commands in the order in which they were found.
    pub commands: Vec<SimpleCommand>,
    /// Whether everything was evaluated.
    pub complete: bool,
}

impl Evaluation {
    /// The evaluation of a command that is not read at all.
    pub fn incomplete() -> Self {
        Self { commands: Vec::new(), complete: false }
    }
}

impl<'a> Evaluator<'a> {
    /// An evaluator that has not evaluated anything.
    pub fn new(environment: Environment<'a>, directories: &'a Directories, custom: &'a CustomWrappers) -> Self {
        Self {
            environment,
            directories,
            custom,
            found: Found::default(),
            budget: Budget::default(),
            restores: false,
            current: CurrentCommand::default(),
            calls: CallStack::default(),
            functions: FunctionTable::default(),
            remembered: WrittenBefore::default(),
            traps: Vec::new(),
            printed_contents: None,
        }
    }

    /// Evaluates a whole command, in a shell that has this state.
    pub fn evaluate(mut self, text: &str, args: Vec<Value>, input: Input, state: ShellState<'_>) -> Evaluation {
        let mut shell = self.restored(state, text);
        shell.args = args;
        shell.input = input;
        self.script(&mut shell, text, Frame::of(text));
        self.run_traps(&shell);
        // A function that nothing calls may be called later, by a name that is put together, or in the session's next
        // command.
        for (function, mut frame) in self.functions.take_uncalled() {
            frame.uncalled = true;
            frame.origin = function.origin.clone();
            shell.args = vec![Value::unknown(), Value::unknown_words()];
            self.node(&mut shell, &function.body, &frame);
        }
        Evaluation { complete: self.budget.is_complete(), commands: self.found.into_commands() }
    }

    /// Lists a simple command.
    pub(super) fn record(&mut self, command: SimpleCommand) {
        if !self.restores {
            self.budget.spend(command.weight() / 8);
            self.found.record(command);
        }
    }

    /// Evaluates what runs in a shell of its own. Its traps run at its end.
    pub(super) fn subshell<T>(&mut self, shell: &mut Shell, run: impl FnOnce(&mut Self, &mut Shell) -> T) -> T {
        let outer = std::mem::take(&mut self.traps);
        let result = run(self, shell);
        self.run_traps(shell);
        self.traps = outer;
        result
    }

    /// A shell ends: its traps run, and those that they set.
    fn run_traps(&mut self, shell: &Shell) {
        self.budget.spend(shell.weight() / 8);
        if self.traps.is_empty() {
            return;
        }
        let mut end = shell.clone();
        while let Some(trap) = self.traps.pop() {
            if let Some(then) = &trap.shell {
                end.recall(then, self.environment);
            }
            self.script(&mut end, &trap.script, trap.frame);
        }
    }

    /// Evaluates a script in this shell.
    pub(super) fn script(&mut self, shell: &mut Shell, text: &str, frame: Frame) {
        if frame.depth > MAX_DEPTH || self.budget.is_spent() {
            self.budget.give_up();
            return;
        }
        let read = self.read(text);
        self.parsed(shell, text, read, frame);
    }

    /// Evaluates a script that was read.
    pub(super) fn parsed(&mut self, shell: &mut Shell, text: &str, read: ParsedScript, mut frame: Frame) {
        frame.origin.text = text.into();
        frame.origin.heredocs = read.heredocs.into();
        frame.origin.earlier = false;
        self.list(shell, &read.script.body, &frame);
        #[cfg(feature = "guesses")]
        if read.script.fault.is_some() {
            self.guess(shell, text, read.script.end, frame);
        }
    }

    /// Reads a text. With an error in it the evaluation is not complete.
    pub(super) fn read(&mut self, text: &str) -> ParsedScript {
        self.budget.spend(text.len() / 32);
        let read = read(text);
        if read.script.fault.is_some() {
            self.budget.give_up();
        }
        read
    }

    /// A copy of a shell, for a subshell or another way through the script.
    pub(super) fn copy(&mut self, shell: &Shell) -> Shell {
        self.budget.spend(shell.weight() / 8);
        shell.clone()
    }
}
