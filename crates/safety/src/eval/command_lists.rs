//! Lists, pipelines and the commands in them.

use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::list_output::one_printed;
use super::simulated_shell::SimulatedShell;
use crate::parse::{AndOrList, AndOrOperator, CommandList, CommandNode, CommandNodeKind, PipelineSyntax};
use crate::simple_command_view::{CommandStdin, ExpandedRedirect, StdinTextSource};
use crate::word_value::{ValueContents, WordValue};

/// The effects of a command, as far as they are known.
#[derive(Default)]
pub(super) struct CommandEffects {
    /// Output of the list.
    pub output: Option<WordValue>,
    /// The name of its program.
    pub name: Option<String>,
    /// The shell if the command failed and left another state.
    pub failed: Option<Box<SimulatedShell>>,
    /// Whether the list cannot fail.
    pub succeeds: bool,
}

impl CommandEvaluator<'_> {
    /// Evaluates a list. Returns the output of its last command.
    pub(super) fn evaluate_list(
        &mut self,
        shell: &mut SimulatedShell,
        list: &CommandList,
        frame: &EvaluationFrame,
    ) -> Option<WordValue> {
        let mut printed = None;
        for entry in list {
            if self.budget.is_spent() {
                return None;
            }
            printed = None;
            if entry.background {
                let mut other = self.copy_shell(shell);
                let frame = EvaluationFrame { forked: true, ..frame.clone() };
                self.in_subshell(&mut other, |evaluator, shell| evaluator.evaluate_and_or(shell, entry, &frame));
            } else {
                printed = self.evaluate_and_or(shell, entry, frame);
            }
        }
        printed
    }

    fn evaluate_and_or(
        &mut self,
        shell: &mut SimulatedShell,
        entry: &AndOrList,
        frame: &EvaluationFrame,
    ) -> Option<WordValue> {
        let mut printed = None;
        // The state after a failure so far. A command behind `||` runs in it, and the list may end with it.
        let mut failed: Option<SimulatedShell> = None;
        let last = entry.pipelines.len() - 1;
        let mut succeeds = false;
        for (index, (join, pipeline)) in entry.pipelines.iter().enumerate() {
            let after = if index == 0 {
                self.evaluate_pipeline(shell, pipeline, frame)
            } else if *join == AndOrOperator::And {
                if !succeeds {
                    let skipped = self.copy_shell(shell);
                    failed = Some(self.join_shells(failed.take(), skipped));
                }
                self.evaluate_pipeline(shell, pipeline, &frame.as_conditional())
            } else {
                let mut other = match failed.take() {
                    Some(failed) => failed,
                    None => self.copy_shell(shell),
                };
                let after = self.evaluate_pipeline(&mut other, pipeline, &frame.as_conditional());
                shell.join(other, self.environment);
                after
            };
            succeeds = after.succeeds;
            printed =
                if index > 0 && *join == AndOrOperator::Or { one_printed(printed, after.output) } else { after.output };
            // With `set -e` the failure of the last command ends the shell.
            if let Some(after) = after.failed
                && !(shell.options.exits && index == last)
            {
                failed = Some(self.join_shells(failed.take(), *after));
            }
        }
        if let Some(failed) = failed {
            shell.join(failed, self.environment);
        }
        printed
    }

    /// Joins two states of a shell. Without a first state, returns the second.
    pub(super) fn join_shells(&self, one: Option<SimulatedShell>, other: SimulatedShell) -> SimulatedShell {
        let Some(mut one) = one else { return other };
        one.join(other, self.environment);
        one
    }

    /// Evaluates a pipeline, each command in a shell of its own.
    pub(super) fn evaluate_pipeline(
        &mut self,
        shell: &mut SimulatedShell,
        pipeline: &PipelineSyntax,
        frame: &EvaluationFrame,
    ) -> CommandEffects {
        if let [node] = pipeline.commands.as_slice() {
            return self.evaluate_node(shell, node, frame);
        }
        let frame = EvaluationFrame { forked: true, ..frame.clone() };
        let mut input = None;
        let mut after = CommandEffects::default();
        for (index, node) in pipeline.commands.iter().enumerate() {
            let mut part = self.copy_shell(shell);
            if let Some(input) = input.take() {
                part.input = input;
            }
            let (ended, contents) = self.with_printed_contents(|evaluator| {
                evaluator.in_subshell(&mut part, |evaluator, shell| evaluator.evaluate_node(shell, node, &frame))
            });
            after = ended;
            // `shopt -s lastpipe`
            if shell.options.keeps_last && index + 1 == pipeline.commands.len() {
                part.input = shell.input.clone();
                *shell = part;
            }
            input = Some(match after.output.take() {
                Some(text) => CommandStdin::Text(text.with_contents(contents.as_ref()), StdinTextSource::Pipe),
                None => CommandStdin::Opaque { program: after.name.take(), contents },
            });
        }
        self.note_printed_contents(input.as_ref().and_then(CommandStdin::contents).cloned());
        if let Some(CommandStdin::Text(text, _)) = input {
            after.output = Some(text);
        }
        after.failed = None;
        after
    }

    /// Evaluates one command of any kind.
    pub(super) fn evaluate_node(
        &mut self,
        shell: &mut SimulatedShell,
        node: &CommandNode,
        frame: &EvaluationFrame,
    ) -> CommandEffects {
        self.budget.spend(1);
        if self.budget.is_spent() {
            return CommandEffects::default();
        }
        let kind = match &node.kind {
            CommandNodeKind::Simple(simple) => return self.evaluate_simple(shell, simple, frame),
            kind => kind,
        };
        let (redirects, input) = self.evaluate_redirects(shell, &node.redirects, frame);
        let outer_input = input.map(|(input, _)| std::mem::replace(&mut shell.input, input));
        if matches!(kind, CommandNodeKind::Test(_) | CommandNodeKind::Arithmetic(_))
            && redirects.iter().any(ExpandedRedirect::writes_file)
        {
            self.record_bare_redirects(shell, redirects.clone(), frame);
        }
        let outer_redirects = shell.redirects.len();
        let elsewhere = redirects.iter().any(ExpandedRedirect::takes_output);
        shell.redirects.extend(redirects);
        let (after, contents) = self.with_printed_contents(|evaluator| evaluator.evaluate_compound(shell, kind, frame));
        self.note_printed_contents(contents.filter(|_| !elsewhere));
        shell.redirects.truncate(outer_redirects);
        if let Some(input) = outer_input {
            shell.input = input;
        }
        after
    }

    /// Evaluates commands. Returns the contents of their output, too, as far as they are known.
    pub(super) fn with_printed_contents<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Option<ValueContents>) {
        let outer = self.printed_contents.take();
        let result = run(self);
        (result, std::mem::replace(&mut self.printed_contents, outer))
    }

    /// Notes the contents of an output.
    pub(super) fn note_printed_contents(&mut self, contents: Option<ValueContents>) {
        if self.printed_contents.is_none() {
            self.printed_contents = contents;
        }
    }

    /// Joins the state with the states in which a loop or a function was left early.
    pub(super) fn rejoin_early_exits(&mut self, shell: &mut SimulatedShell, states: Vec<SimulatedShell>) {
        shell.ended &= states.is_empty();
        for mut state in states {
            state.ended = false;
            shell.join(state, self.environment);
        }
    }
}
