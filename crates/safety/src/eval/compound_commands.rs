//! Compound commands: groups, branches, loops, the definition of functions.

use std::rc::Rc;

use super::command_lists::CommandEffects;
use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::functions::ShellFunction;
use super::simulated_shell::SimulatedShell;
use crate::parse::{AndOrList, CommandList, CommandNodeKind, WordSyntax};
use crate::word_value::WordValue;

/// The function that bash calls in place of a program that it does not find.
const NOT_FOUND: &str = "command_not_found_handle";

/// Items of a loop that are evaluated one by one.
const MAX_ITEMS: usize = 100;

/// Rounds of a loop that are evaluated while each leads to another state.
const MAX_ROUNDS: usize = 6;

impl CommandEvaluator<'_> {
    pub(super) fn evaluate_compound(
        &mut self,
        shell: &mut SimulatedShell,
        kind: &CommandNodeKind,
        frame: &EvaluationFrame,
    ) -> CommandEffects {
        match kind {
            CommandNodeKind::Simple(_) => {}
            CommandNodeKind::Group(body) => {
                // A group of one command prints what that command prints.
                if let [AndOrList { pipelines, background: false }] = body.as_slice()
                    && let [(_, pipeline)] = pipelines.as_slice()
                {
                    return self.evaluate_pipeline(shell, pipeline, frame);
                }
                self.evaluate_list(shell, body, frame);
            }
            CommandNodeKind::Subshell(body) => {
                let mut inner = self.copy_shell(shell);
                let output = self.output_in_subshell(&mut inner, body, frame);
                return CommandEffects { output, ..CommandEffects::default() };
            }
            CommandNodeKind::If { arms, otherwise } => self.evaluate_if(shell, arms, otherwise, frame),
            CommandNodeKind::Loop { condition, expressions, body } => {
                let around = |evaluator: &mut Self, shell: &mut SimulatedShell| {
                    expressions
                        .iter()
                        .for_each(|word| evaluator.evaluate_arithmetic_command(shell, &word.parts, frame));
                };
                around(self, shell);
                self.evaluate_loop(shell, condition, body, frame);
                around(self, shell);
            }
            CommandNodeKind::For { name, words, body } => self.for_each(shell, name, words.as_deref(), body, frame),
            CommandNodeKind::Case { word, arms } => self.evaluate_case(shell, word, arms, frame),
            CommandNodeKind::Function { name, body } => {
                let number = Rc::as_ptr(body).addr();
                let function = ShellFunction { body: Rc::clone(body), origin: frame.origin.clone(), number };
                self.functions.define(function.clone(), frame.clone());
                if name == NOT_FOUND {
                    // Any word may call it.
                    let mut then = self.copy_shell(shell);
                    then.args = vec![WordValue::unknown(), WordValue::unknown_words()];
                    self.in_subshell(&mut then, |evaluator, shell| {
                        evaluator.evaluate_node(shell, body, &frame.as_conditional())
                    });
                }
                shell.functions.define(name.clone(), function);
            }
            CommandNodeKind::Test(words) => self.evaluate_test(shell, words, frame),
            CommandNodeKind::Arithmetic(expression) => {
                self.evaluate_arithmetic_command(shell, &expression.parts, frame)
            }
            CommandNodeKind::Coproc(name, node) => {
                let mut inner = self.copy_shell(shell);
                let frame = EvaluationFrame { forked: true, ..frame.clone() };
                self.in_subshell(&mut inner, |evaluator, shell| evaluator.evaluate_node(shell, node, &frame));
                self.set_checked_variable(shell, name, vec![WordValue::number(), WordValue::number()], &frame);
                self.set_checked_variable(shell, &format!("{name}_PID"), vec![WordValue::number()], &frame);
            }
        }
        CommandEffects::default()
    }

    /// Leaves the branches of a command, of which at most one ran.
    fn merge_branches(&mut self, shell: &mut SimulatedShell, branches: Option<SimulatedShell>, one_ran: bool) {
        let Some(branches) = branches else { return };
        let before = std::mem::replace(shell, branches);
        if !one_ran {
            shell.join(before, self.environment);
        }
    }

    fn evaluate_case(
        &mut self,
        shell: &mut SimulatedShell,
        word: &WordSyntax,
        arms: &[(Vec<WordSyntax>, CommandList)],
        frame: &EvaluationFrame,
    ) {
        self.expand_unsplit(shell, word, frame);
        let mut result: Option<SimulatedShell> = None;
        let mut any = false;
        for (patterns, body) in arms {
            for pattern in patterns {
                any |= pattern.bare() == Some("*");
                self.expand_unsplit(shell, pattern, frame);
            }
            let mut branch = self.copy_shell(shell);
            self.evaluate_list(&mut branch, body, &frame.as_conditional());
            result = Some(self.join_shells(result, branch));
        }
        self.merge_branches(shell, result, any);
    }

    fn evaluate_if(
        &mut self,
        shell: &mut SimulatedShell,
        arms: &[(CommandList, CommandList)],
        otherwise: &CommandList,
        frame: &EvaluationFrame,
    ) {
        let mut result: Option<SimulatedShell> = None;
        let maybe = frame.as_conditional();
        for (index, (condition, body)) in arms.iter().enumerate() {
            // With `set -e`, a failure in a condition does not end the shell.
            let exits = std::mem::take(&mut shell.options.exits);
            self.evaluate_list(shell, condition, if index == 0 { frame } else { &maybe });
            shell.options.exits = exits;
            let mut branch = self.copy_shell(shell);
            branch.options.exits = exits;
            self.evaluate_list(&mut branch, body, &maybe);
            result = Some(self.join_shells(result, branch));
        }
        let mut branch = self.copy_shell(shell);
        self.evaluate_list(&mut branch, otherwise, &maybe);
        if let Some(result) = result {
            *shell = result;
            shell.join(branch, self.environment);
        }
    }

    fn evaluate_loop(
        &mut self,
        shell: &mut SimulatedShell,
        condition: &CommandList,
        body: &CommandList,
        frame: &EvaluationFrame,
    ) {
        let maybe = if is_endless(condition) { frame.clone() } else { frame.as_conditional() };
        self.evaluate_list(shell, condition, frame);
        // Each round sees the changes of the round before.
        for _ in 0..MAX_ROUNDS {
            let mut round = self.copy_shell(shell);
            self.evaluate_loop_round(&mut round, body, &maybe);
            round.ended = false;
            let changed = round.differs(shell);
            shell.join(round, self.environment);
            if !changed {
                break;
            }
            self.evaluate_list(shell, condition, &maybe);
        }
    }

    fn for_each(
        &mut self,
        shell: &mut SimulatedShell,
        name: &str,
        words: Option<&[WordSyntax]>,
        body: &CommandList,
        frame: &EvaluationFrame,
    ) {
        let items = match words {
            Some(words) => words.iter().flat_map(|word| self.expand_fields(shell, word, frame)).collect(),
            None => shell.args.get(1..).unwrap_or_default().to_vec(),
        };
        // An unknown list may be empty, so that the body does not run.
        let skipped = items.iter().any(|item: &WordValue| item.known().is_none()).then(|| self.copy_shell(shell));
        let maybe = frame.as_conditional();
        let few = items.len() <= MAX_ITEMS;
        if !few {
            self.budget.give_up();
        }
        for item in items.into_iter().take(MAX_ITEMS) {
            if self.budget.is_spent() {
                return;
            }
            let mut round = self.copy_shell(shell);
            self.set_checked_variable(&mut round, name, vec![item], frame);
            self.evaluate_loop_round(&mut round, body, &maybe);
            // Afterwards the variable has its last value. Any round may have been the last one.
            if round.ended {
                round.ended = false;
                shell.location.join(&round.location);
            } else {
                *shell = round;
            }
        }
        if let Some(skipped) = skipped {
            shell.join(skipped, self.environment);
        }
    }

    /// Evaluates one round of a loop.
    fn evaluate_loop_round(&mut self, shell: &mut SimulatedShell, body: &CommandList, frame: &EvaluationFrame) {
        self.calls.enter_round();
        self.evaluate_list(shell, body, frame);
        let states = self.calls.end_round();
        self.rejoin_early_exits(shell, states);
    }
}

/// `while :` and `while true`
fn is_endless(condition: &CommandList) -> bool {
    let [AndOrList { pipelines, .. }] = condition.as_slice() else { return false };
    let [(_, pipeline)] = pipelines.as_slice() else { return false };
    let [node] = pipeline.commands.as_slice() else { return false };
    let CommandNodeKind::Simple(simple) = &node.kind else { return false };
    matches!(simple.words.as_slice(), [word] if matches!(word.bare(), Some(":" | "true")))
}
