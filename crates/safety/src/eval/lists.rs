//! Lists, pipelines and the commands in them.

use super::evaluator::Evaluator;
use super::frame::Frame;
use super::printed::one_printed;
use super::shell::Shell;
use crate::command::{Input, Redirect, Source};
use crate::parse::{AndOr, Join, Kind, List, Node, Pipeline};
use crate::value::{Contents, Value};

/// The effects of a command, as far as they are known.
#[derive(Default)]
pub(super) struct After {
    /// Output of the list.
    pub output: Option<Value>,
    /// The name of its program.
    pub name: Option<String>,
    /// The shell if the command failed and left another state.
    pub failed: Option<Box<Shell>>,
    /// Whether the list cannot fail.
    pub succeeds: bool,
}

impl Evaluator<'_> {
    /// Evaluates a list. Returns the output of its last command.
    pub(super) fn list(&mut self, shell: &mut Shell, list: &List, frame: &Frame) -> Option<Value> {
        let mut printed = None;
        for entry in list {
            if self.budget.is_spent() {
                return None;
            }
            printed = None;
            if entry.background {
                let mut other = self.copy(shell);
                let frame = Frame { forked: true, ..frame.clone() };
                self.subshell(&mut other, |evaluator, shell| evaluator.and_or(shell, entry, &frame));
            } else {
                printed = self.and_or(shell, entry, frame);
            }
        }
        printed
    }

    fn and_or(&mut self, shell: &mut Shell, entry: &AndOr, frame: &Frame) -> Option<Value> {
        let mut printed = None;
        // The state after a failure so far. A command behind `||` runs in it, and the list may end with it.
        let mut failed: Option<Shell> = None;
        let last = entry.pipelines.len() - 1;
        let mut succeeds = false;
        for (index, (join, pipeline)) in entry.pipelines.iter().enumerate() {
            let after = if index == 0 {
                self.pipeline(shell, pipeline, frame)
            } else if *join == Join::And {
                if !succeeds {
                    let skipped = self.copy(shell);
                    failed = Some(self.either(failed.take(), skipped));
                }
                self.pipeline(shell, pipeline, &frame.maybe())
            } else {
                let mut other = match failed.take() {
                    Some(failed) => failed,
                    None => self.copy(shell),
                };
                let after = self.pipeline(&mut other, pipeline, &frame.maybe());
                shell.join(other, self.environment);
                after
            };
            succeeds = after.succeeds;
            printed = if index > 0 && *join == Join::Or { one_printed(printed, after.output) } else { after.output };
            // With `set -e` the failure of the last command ends the shell.
            if let Some(after) = after.failed
                && !(shell.options.exits && index == last)
            {
                failed = Some(self.either(failed.take(), *after));
            }
        }
        if let Some(failed) = failed {
            shell.join(failed, self.environment);
        }
        printed
    }

    /// Joins two states of a shell. Without a first state, returns the second.
    pub(super) fn either(&self, one: Option<Shell>, other: Shell) -> Shell {
        let Some(mut one) = one else { return other };
        one.join(other, self.environment);
        one
    }

    /// Evaluates a pipeline, each command in a shell of its own.
    pub(super) fn pipeline(&mut self, shell: &mut Shell, pipeline: &Pipeline, frame: &Frame) -> After {
        if let [node] = pipeline.commands.as_slice() {
            return self.node(shell, node, frame);
        }
        let frame = Frame { forked: true, ..frame.clone() };
        let mut input = None;
        let mut after = After::default();
        for (index, node) in pipeline.commands.iter().enumerate() {
            let mut part = self.copy(shell);
            if let Some(input) = input.take() {
                part.input = input;
            }
            let (ended, contents) = self.watched(|evaluator| {
                evaluator.subshell(&mut part, |evaluator, shell| evaluator.node(shell, node, &frame))
            });
            after = ended;
            // `shopt -s lastpipe`
            if shell.options.keeps_last && index + 1 == pipeline.commands.len() {
                part.input = shell.input.clone();
                *shell = part;
            }
            input = Some(match after.output.take() {
                Some(text) => Input::Text(text.with_contents(contents.as_ref()), Source::Pipe),
                None => Input::Opaque { program: after.name.take(), contents },
            });
        }
        self.prints(input.as_ref().and_then(Input::contents).cloned());
        if let Some(Input::Text(text, _)) = input {
            after.output = Some(text);
        }
        after.failed = None;
        after
    }

    /// Evaluates one command of any kind.
    pub(super) fn node(&mut self, shell: &mut Shell, node: &Node, frame: &Frame) -> After {
        self.budget.spend(1);
        if self.budget.is_spent() {
            return After::default();
        }
        let kind = match &node.kind {
            Kind::Simple(simple) => return self.simple(shell, simple, frame),
            kind => kind,
        };
        let (redirects, input) = self.redirects(shell, &node.redirects, frame);
        let outer_input = input.map(|(input, _)| std::mem::replace(&mut shell.input, input));
        if matches!(kind, Kind::Test(_) | Kind::Arithmetic(_)) && redirects.iter().any(Redirect::writes_file) {
            self.redirected(shell, redirects.clone(), frame);
        }
        let outer_redirects = shell.redirects.len();
        let elsewhere = redirects.iter().any(Redirect::takes_output);
        shell.redirects.extend(redirects);
        let (after, contents) = self.watched(|evaluator| evaluator.compound(shell, kind, frame));
        self.prints(contents.filter(|_| !elsewhere));
        shell.redirects.truncate(outer_redirects);
        if let Some(input) = outer_input {
            shell.input = input;
        }
        after
    }

    /// Evaluates commands. Returns the contents of their output, too, as far as they are known.
    pub(super) fn watched<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Option<Contents>) {
        let outer = self.printed_contents.take();
        let result = run(self);
        (result, std::mem::replace(&mut self.printed_contents, outer))
    }

    /// Notes the contents of an output.
    pub(super) fn prints(&mut self, contents: Option<Contents>) {
        if self.printed_contents.is_none() {
            self.printed_contents = contents;
        }
    }

    /// Joins the state with the states in which a loop or a function was left early.
    pub(super) fn rejoin(&mut self, shell: &mut Shell, states: Vec<Shell>) {
        shell.ended &= states.is_empty();
        for mut state in states {
            state.ended = false;
            shell.join(state, self.environment);
        }
    }
}
