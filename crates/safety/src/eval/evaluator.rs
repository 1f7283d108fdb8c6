//! The evaluator: evaluates a whole command, a script, a subshell.

use std::collections::HashMap;

use super::call_stack::CallStack;
use super::evaluation_budget::EvaluationBudget;
use super::evaluation_frame::{EvaluationFrame, MAX_DEPTH};
use super::found_commands::FoundCommands;
use super::functions::FunctionTable;
use super::simple_command::SimpleCommand;
use super::simulated_shell::SimulatedShell;
use super::variables::EnvironmentBlock;
use crate::parse::{ByteSpan, ParsedScript, read};
use crate::simple_command_view::{CommandDirectories, CommandStdin, InitialShellState};
use crate::unwrap::CustomWrappers;
use crate::word_value::{ValueContents, WordValue};

/// Evaluates one command with everything nested in it.
pub struct CommandEvaluator<'a> {
    pub(super) environment: EnvironmentBlock<'a>,
    pub(super) directories: &'a CommandDirectories,
    pub(super) custom: &'a CustomWrappers,
    pub(super) found: FoundCommands,
    pub(super) budget: EvaluationBudget,
    /// Whether this is the evaluation of the code that restores a shell. No command of that code is listed.
    pub(super) restores: bool,
    pub(super) current: CurrentCommand,
    pub(super) calls: CallStack,
    pub(super) functions: FunctionTable,
    /// Scripts and aliases that the command has written.
    pub(super) remembered: WrittenBefore,
    /// Traps of the innermost shell. They run when it ends.
    pub(super) traps: Vec<TrapScript>,
    /// The contents that were printed so far, into the same pipe or substitution.
    pub(super) printed_contents: Option<ValueContents>,
}

/// The simple command whose words are expanded.
#[derive(Clone, Debug, Default)]
pub(super) struct CurrentCommand {
    /// Place in the whole command.
    pub span: ByteSpan,
    /// Whether bash gives up before it runs: `${x:?}` of a variable that is not set.
    pub dead: bool,
}

/// The script of a `trap`.
#[derive(Clone)]
pub(super) struct TrapScript {
    pub script: String,
    pub frame: EvaluationFrame,
    /// For a trap that may not be set: the shell as it was then.
    pub shell: Option<SimulatedShell>,
}

/// Scripts and aliases that the command itself has written.
#[derive(Default)]
pub(super) struct WrittenBefore {
    /// The texts of files, by their absolute paths.
    pub files: HashMap<String, WordValue>,
    /// The commands of git's aliases, by their names.
    pub aliases: HashMap<String, WordValue>,
}

/// The result of an evaluation.
#[derive(Debug)]
pub struct CommandEvaluation {
    /// The simple commands in the order in which they were found.
    pub commands: Vec<SimpleCommand>,
    /// Whether everything was evaluated.
    pub complete: bool,
}

impl CommandEvaluation {
    /// The evaluation of a command that is not read at all.
    pub fn incomplete() -> Self {
        Self { commands: Vec::new(), complete: false }
    }
}

impl<'a> CommandEvaluator<'a> {
    /// An evaluator that has not evaluated anything.
    pub fn new(
        environment: EnvironmentBlock<'a>,
        directories: &'a CommandDirectories,
        custom: &'a CustomWrappers,
    ) -> Self {
        Self {
            environment,
            directories,
            custom,
            found: FoundCommands::default(),
            budget: EvaluationBudget::default(),
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
    pub fn evaluate(
        mut self,
        text: &str,
        args: Vec<WordValue>,
        input: CommandStdin,
        state: InitialShellState<'_>,
    ) -> CommandEvaluation {
        let mut shell = self.restore_shell(state, text);
        shell.args = args;
        shell.input = input;
        self.evaluate_script(&mut shell, text, EvaluationFrame::of(text));
        self.run_traps(&shell);
        // A function that nothing calls may be called later, by a name that is put together, or in the session's next
        // command.
        for (function, mut frame) in self.functions.take_uncalled() {
            frame.uncalled = true;
            frame.origin = function.origin.clone();
            shell.args = vec![WordValue::unknown(), WordValue::unknown_words()];
            self.evaluate_node(&mut shell, &function.body, &frame);
        }
        CommandEvaluation { complete: self.budget.is_complete(), commands: self.found.into_commands() }
    }

    /// Lists a simple command.
    pub(super) fn record_command(&mut self, command: SimpleCommand) {
        if !self.restores {
            self.budget.spend(command.weight() / 8);
            self.found.record(command);
        }
    }

    /// Evaluates what runs in a shell of its own. Its traps run at its end.
    pub(super) fn in_subshell<T>(
        &mut self,
        shell: &mut SimulatedShell,
        run: impl FnOnce(&mut Self, &mut SimulatedShell) -> T,
    ) -> T {
        let outer = std::mem::take(&mut self.traps);
        let result = run(self, shell);
        self.run_traps(shell);
        self.traps = outer;
        result
    }

    /// A shell ends: its traps run, and those that they set.
    fn run_traps(&mut self, shell: &SimulatedShell) {
        self.budget.spend(shell.weight() / 8);
        if self.traps.is_empty() {
            return;
        }
        let mut end = shell.clone();
        while let Some(trap) = self.traps.pop() {
            if let Some(then) = &trap.shell {
                end.recall_unknown_variables(then, self.environment);
            }
            self.evaluate_script(&mut end, &trap.script, trap.frame);
        }
    }

    /// Evaluates a script in this shell.
    pub(super) fn evaluate_script(&mut self, shell: &mut SimulatedShell, text: &str, frame: EvaluationFrame) {
        if frame.depth > MAX_DEPTH || self.budget.is_spent() {
            self.budget.give_up();
            return;
        }
        let read = self.parse_script(text);
        self.evaluate_parsed(shell, text, read, frame);
    }

    /// Evaluates a script that was read.
    pub(super) fn evaluate_parsed(
        &mut self,
        shell: &mut SimulatedShell,
        text: &str,
        read: ParsedScript,
        mut frame: EvaluationFrame,
    ) {
        frame.origin.text = text.into();
        frame.origin.heredocs = read.heredocs.into();
        frame.origin.earlier = false;
        self.evaluate_list(shell, &read.script.body, &frame);
        #[cfg(feature = "guesses")]
        if read.script.fault.is_some() {
            self.evaluate_refused_text(shell, text, read.script.end, frame);
        }
    }

    /// Reads a text. With an error in it the evaluation is not complete.
    pub(super) fn parse_script(&mut self, text: &str) -> ParsedScript {
        self.budget.spend(text.len() / 32);
        let read = read(text);
        if read.script.fault.is_some() {
            self.budget.give_up();
        }
        read
    }

    /// A copy of a shell, for a subshell or another way through the script.
    pub(super) fn copy_shell(&mut self, shell: &SimulatedShell) -> SimulatedShell {
        self.budget.spend(shell.weight() / 8);
        shell.clone()
    }
}
