//! Compound commands: groups, branches, loops, the definition of functions.

use std::rc::Rc;

use super::context::Context;
use super::shell::{Function, Shell, hole, number};
use super::walk::{After, Walker};
use crate::safety::read::{AndOr, Kind, List, Word};
use crate::safety::value::Value;

/// The most items of a loop that are followed one by one.
const MAX_ITEMS: usize = 100;

/// The most rounds of a loop that each come to something else.
const MAX_ROUNDS: usize = 6;

impl Walker<'_> {
    pub(super) fn compound(&mut self, shell: &mut Shell, kind: &Kind, context: &Context) -> After {
        match kind {
            Kind::Simple(_) => {}
            Kind::Group(body) => {
                // Its last command says what it prints, if it is its only one.
                if let [AndOr { pipelines, background: false }] = body.as_slice()
                    && let [(_, pipeline)] = pipelines.as_slice()
                {
                    return self.pipeline(shell, pipeline, context);
                }
                self.list(shell, body, context);
            }
            Kind::Subshell(body) => {
                let mut inner = self.copy(shell);
                let output = self.printed(&mut inner, body, context);
                return After { output, ..After::default() };
            }
            Kind::If { arms, otherwise } => self.condition(shell, arms, otherwise, context),
            Kind::Loop { condition, expressions, body } => {
                for word in expressions {
                    self.single(shell, word, context);
                    self.blur_assigned(shell, word, context);
                }
                self.repeat(shell, condition, body, context);
            }
            Kind::For { name, words, body } => self.for_each(shell, name, words.as_deref(), body, context),
            Kind::Case { word, arms } => {
                self.single(shell, word, context);
                let mut result: Option<Shell> = None;
                let mut any = false;
                for (patterns, body) in arms {
                    for pattern in patterns {
                        any |= pattern.bare() == Some("*");
                        self.single(shell, pattern, context);
                    }
                    let mut branch = self.copy(shell);
                    self.list(&mut branch, body, &context.maybe());
                    result = Some(self.either(result, branch));
                }
                self.settle(shell, result, any);
            }
            Kind::Function { name, body } => {
                let number = Rc::as_ptr(body).addr();
                let function = Function { body: Rc::clone(body), origin: context.origin.clone(), number };
                self.functions.push((function.clone(), context.clone(), false));
                Rc::make_mut(&mut shell.functions).insert(name.clone(), function);
            }
            Kind::Test(words) => {
                for word in words {
                    self.single(shell, word, context);
                    self.blur_assigned(shell, word, context);
                }
            }
            Kind::Coproc(name, node) => {
                let mut inner = self.copy(shell);
                let context = Context { forked: true, ..context.clone() };
                self.subshell(&mut inner, |walker, shell| walker.node(shell, node, &context));
                shell.set(name, vec![hole()], self.environment);
                shell.set(&format!("{name}_PID"), vec![number()], self.environment);
            }
        }
        After::default()
    }

    /// `((x = 1))` sets a variable to something.
    fn blur_assigned(&mut self, shell: &mut Shell, word: &Word, context: &Context) {
        let text = context.origin.text.get(word.span.clone()).unwrap_or_default();
        if !text.starts_with("((") {
            return;
        }
        let names = text.split(|next: char| !next.is_ascii_alphanumeric() && next != '_').take(64);
        for name in names.filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')) {
            shell.set(name, vec![number()], self.environment);
        }
    }

    /// After branches: one of them ran, or none.
    fn settle(&mut self, shell: &mut Shell, branches: Option<Shell>, one_ran: bool) {
        let Some(branches) = branches else { return };
        let before = std::mem::replace(shell, branches);
        if !one_ran {
            shell.join(before, self.environment);
        }
    }

    fn condition(&mut self, shell: &mut Shell, arms: &[(List, List)], otherwise: &List, context: &Context) {
        let mut result: Option<Shell> = None;
        let maybe = context.maybe();
        for (index, (condition, body)) in arms.iter().enumerate() {
            // What fails in a condition ends nothing.
            let exits = std::mem::take(&mut shell.exits);
            self.list(shell, condition, if index == 0 { context } else { &maybe });
            shell.exits = exits;
            let mut branch = self.copy(shell);
            branch.exits = exits;
            self.list(&mut branch, body, &maybe);
            result = Some(self.either(result, branch));
        }
        let mut branch = self.copy(shell);
        self.list(&mut branch, otherwise, &maybe);
        if let Some(result) = result {
            *shell = result;
            shell.join(branch, self.environment);
        }
    }

    fn repeat(&mut self, shell: &mut Shell, condition: &List, body: &List, context: &Context) {
        let maybe = if is_endless(condition) { context.clone() } else { context.maybe() };
        self.list(shell, condition, context);
        // What one round changes, the next one sees.
        for _ in 0..MAX_ROUNDS {
            let mut round = self.copy(shell);
            self.round(&mut round, body, &maybe);
            round.ended = false;
            let changed = round.differs(shell);
            shell.join(round, self.environment);
            if !changed {
                break;
            }
            self.list(shell, condition, &maybe);
        }
    }

    fn for_each(&mut self, shell: &mut Shell, name: &str, words: Option<&[Word]>, body: &List, context: &Context) {
        let items = match words {
            Some(words) => words.iter().flat_map(|word| self.fields(shell, word, context)).collect(),
            None => shell.args.get(1..).unwrap_or_default().to_vec(),
        };
        // What is not known may be nothing, and then nothing is done.
        let skipped = items.iter().any(|item: &Value| item.known().is_none()).then(|| self.copy(shell));
        let maybe = context.maybe();
        let few = items.len() <= MAX_ITEMS;
        self.complete &= few;
        for item in items.into_iter().take(MAX_ITEMS) {
            if self.is_over() {
                return;
            }
            let mut round = self.copy(shell);
            round.set(name, vec![item], self.environment);
            self.round(&mut round, body, &maybe);
            // The variable has its last value afterwards; the rest is as if each round may have been the last.
            if round.ended {
                round.ended = false;
                shell.add_folders(&round);
            } else {
                *shell = round;
            }
        }
        if let Some(skipped) = skipped {
            shell.join(skipped, self.environment);
        }
    }

    /// One round of a loop, left early or not.
    fn round(&mut self, shell: &mut Shell, body: &List, context: &Context) {
        self.left.push(Vec::new());
        self.list(shell, body, context);
        let states = self.left.pop().unwrap_or_default();
        self.rejoin(shell, states);
    }
}

/// `while :` and `while true`
fn is_endless(condition: &List) -> bool {
    let [AndOr { pipelines, .. }] = condition.as_slice() else { return false };
    let [(_, pipeline)] = pipelines.as_slice() else { return false };
    let [node] = pipeline.commands.as_slice() else { return false };
    matches!(&node.kind, Kind::Simple(simple) if matches!(simple.words.as_slice(), [word] if matches!(word.bare(), Some(":" | "true"))))
}
