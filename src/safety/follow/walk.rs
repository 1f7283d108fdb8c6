//! The way through a script: lists, pipelines, conditions, loops, functions.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::context::{Context, MAX_DEPTH};
use super::printed::one_printed;
use super::shell::{Environment, Function, Shell, hole};
use super::told::Told;
use crate::safety::command::{Input, Redirect, Scene, Source};
use crate::safety::read::{AndOr, Fault, Join, Kind, List, Node, Pipeline, Read, Redirection, Span, heads, read};
use crate::safety::unwrap::Custom;
use crate::safety::value::{Piece, Value};

/// Commands, words and parts that are followed in all; a script that comes to more is not judged whole.
const MAX_STEPS: usize = 60_000;
/// Longer texts are left to our own reader alone: the witness would take too long.
const MAX_WITNESSED: usize = 64 * 1024;

/// Follows one command with all that it nests.
pub struct Walker<'a> {
    pub(super) environment: Environment<'a>,
    pub(super) scene: &'a Scene,
    pub(super) custom: &'a Custom,
    /// What was found.
    pub told: Vec<Told>,
    pub(super) seen: HashSet<u64>,
    /// All of it was followed.
    pub complete: bool,
    steps: usize,
    /// The most steps.
    pub(super) most: usize,
    /// It follows what a shell held before the command.
    pub(super) prepares: bool,
    /// What the shell held before the command.
    pub(super) held: Option<Shell>,
    /// Functions of then that were called, by their names; `None` where there is none in the text.
    pub(super) recalled: HashMap<String, Option<Function>>,
    /// The word that stops bash: `${x:?}` of what is not set.
    pub(super) dead: bool,
    /// Where the simple command that is expanded stands.
    pub(super) outer: Span,
    /// Functions that are running, by number, with their arguments.
    pub(super) active: Vec<(usize, Vec<Value>)>,
    /// Of each function and each loop that is running: the states in which it was left.
    pub(super) returned: Vec<Vec<Shell>>,
    /// Of each function that is running: whether it may have ended by now.
    pub(super) ending: Vec<bool>,
    /// See `returned`.
    pub(super) left: Vec<Vec<Shell>>,
    pub(super) functions: Vec<(Function, Context, bool)>,
    /// Scripts of `trap`, which run at the end, and, where they may not be set, the shell as it was then.
    pub(super) traps: Vec<(String, Context, Option<Shell>)>,
    /// How many shells within the first one.
    pub(super) subshells: usize,
    /// The number of the shell whose traps are kept.
    pub(super) level: usize,
}

/// What is known after a command.
#[derive(Default)]
pub(super) struct After {
    /// What it prints.
    pub output: Option<Value>,
    /// Its name.
    pub name: Option<String>,
    /// The shell if it failed, where that is another.
    pub failed: Option<Box<Shell>>,
    /// It cannot fail.
    pub succeeds: bool,
}

impl<'a> Walker<'a> {
    /// Nothing followed yet.
    pub fn new(environment: Environment<'a>, scene: &'a Scene, custom: &'a Custom) -> Self {
        Self {
            environment,
            scene,
            custom,
            told: Vec::new(),
            seen: HashSet::new(),
            complete: true,
            steps: 0,
            most: MAX_STEPS,
            prepares: false,
            held: None,
            recalled: HashMap::new(),
            dead: false,
            outer: 0..0,
            active: Vec::new(),
            returned: Vec::new(),
            ending: Vec::new(),
            left: Vec::new(),
            functions: Vec::new(),
            traps: Vec::new(),
            subshells: 0,
            level: 0,
        }
    }

    /// Follows a whole command.
    pub fn command(&mut self, text: &str, args: Vec<Value>, input: Input) {
        let held = self.held.take();
        let mut shell = held.unwrap_or_else(|| Shell::new(Value::of(self.scene.cwd.as_str()), Vec::new()));
        shell.args = args;
        shell.input = input;
        for (_, context, _) in &mut self.traps {
            context.origin.fixed = Some(0..text.len());
        }
        self.script(&mut shell, text, Context::of(text));
        self.run_traps(&shell);
        // What nobody called may be called later, by a name that is put together, or in the next command of a session.
        for (function, mut context, called) in std::mem::take(&mut self.functions) {
            if !called {
                context.uncalled = true;
                context.origin = function.origin.clone();
                shell.args = vec![Value::unknown(), hole()];
                self.node(&mut shell, &function.body, &context);
            }
        }
    }

    /// Follows what runs in a shell of its own, whose traps run at its end.
    pub(super) fn subshell<T>(&mut self, shell: &mut Shell, run: impl FnOnce(&mut Self, &mut Shell) -> T) -> T {
        self.subshells += 1;
        let outer = (std::mem::replace(&mut self.level, self.subshells), std::mem::take(&mut self.traps));
        let result = run(self, shell);
        self.run_traps(shell);
        (self.level, self.traps) = outer;
        self.subshells -= 1;
        result
    }

    /// A shell ends: its traps run, and those that they set.
    fn run_traps(&mut self, shell: &Shell) {
        let mut end = self.copy(shell);
        while let Some((text, context, then)) = self.traps.pop() {
            if let Some(then) = &then {
                end.recall(then, self.environment);
            }
            self.script(&mut end, &text, context);
        }
    }

    /// Follows a text that is a script, in this shell.
    pub(super) fn script(&mut self, shell: &mut Shell, text: &str, mut context: Context) {
        if context.depth > MAX_DEPTH || self.is_over() {
            self.complete = false;
            return;
        }
        let read = self.read(text);
        context.origin.text = text.into();
        context.origin.heredocs = read.heredocs.into();
        context.origin.earlier = false;
        self.list(shell, &read.script.body, &context);
    }

    /// Reads a text, and says where that is not all of it.
    pub(super) fn read(&mut self, text: &str) -> Read {
        self.step(text.len() / 32);
        let read = read(text);
        if read.script.fault.is_some() {
            self.complete = false;
        }
        let witnessed =
            !self.prepares && text.len() <= MAX_WITNESSED && !matches!(read.script.fault, Some(Fault::Limit));
        if witnessed && heads(text).is_some_and(|heads| !read.knows(&heads)) {
            self.complete = false;
        }
        read
    }

    /// Counts work.
    pub(super) fn step(&mut self, steps: usize) {
        self.steps += steps;
    }

    pub(super) fn is_over(&mut self) -> bool {
        if self.steps > self.most {
            self.complete = false;
        }
        self.steps > self.most
    }

    /// A subshell.
    pub(super) fn copy(&mut self, shell: &Shell) -> Shell {
        self.step(shell.weight() / 8);
        shell.clone()
    }

    /// Follows a list; what its last command prints.
    pub(super) fn list(&mut self, shell: &mut Shell, list: &List, context: &Context) -> Option<Value> {
        let mut printed = None;
        for entry in list {
            if self.is_over() {
                return None;
            }
            printed = None;
            if entry.background {
                let mut other = self.copy(shell);
                let context = Context { forked: true, ..context.clone() };
                self.subshell(&mut other, |walker, shell| walker.and_or(shell, entry, &context));
            } else {
                printed = self.and_or(shell, entry, context);
            }
        }
        printed
    }

    fn and_or(&mut self, shell: &mut Shell, entry: &AndOr, context: &Context) -> Option<Value> {
        let mut printed = None;
        // The state if something before has failed: what follows `||` runs in it, and the list may end with it.
        let mut failed: Option<Shell> = None;
        let last = entry.pipelines.len() - 1;
        let mut succeeds = false;
        for (index, (join, pipeline)) in entry.pipelines.iter().enumerate() {
            let after = if index == 0 {
                self.pipeline(shell, pipeline, context)
            } else if *join == Join::And {
                if !succeeds {
                    let skipped = self.copy(shell);
                    failed = Some(self.either(failed.take(), skipped));
                }
                self.pipeline(shell, pipeline, &context.maybe())
            } else {
                let mut other = match failed.take() {
                    Some(failed) => failed,
                    None => self.copy(shell),
                };
                let after = self.pipeline(&mut other, pipeline, &context.maybe());
                shell.join(other, self.environment);
                after
            };
            succeeds = after.succeeds;
            printed = if index > 0 && *join == Join::Or { one_printed(printed, after.output) } else { after.output };
            // With `set -e` the failure of the last one ends it all.
            if let Some(after) = after.failed
                && !(shell.exits && index == last)
            {
                failed = Some(self.either(failed.take(), *after));
            }
        }
        if let Some(failed) = failed {
            shell.join(failed, self.environment);
        }
        printed
    }

    /// One of two states, where there is a first one.
    pub(super) fn either(&self, one: Option<Shell>, other: Shell) -> Shell {
        let Some(mut one) = one else { return other };
        one.join(other, self.environment);
        one
    }

    pub(super) fn pipeline(&mut self, shell: &mut Shell, pipeline: &Pipeline, context: &Context) -> After {
        if let [node] = pipeline.commands.as_slice() {
            return self.node(shell, node, context);
        }
        let context = Context { forked: true, ..context.clone() };
        let mut input = None;
        let mut after = After::default();
        for (index, node) in pipeline.commands.iter().enumerate() {
            let mut part = self.copy(shell);
            if let Some(input) = input.take() {
                part.input = input;
            }
            after = self.subshell(&mut part, |walker, shell| walker.node(shell, node, &context));
            // `shopt -s lastpipe`
            if shell.keeps_last && index + 1 == pipeline.commands.len() {
                part.input = shell.input.clone();
                *shell = part;
            }
            input = Some(match after.output.take() {
                Some(text) => Input::Text(text, Source::Pipe),
                None => Input::Opaque(after.name.take()),
            });
        }
        if let Some(Input::Text(text, _)) = input {
            after.output = Some(text);
        }
        after.failed = None;
        after
    }

    /// One command, whatever it is.
    pub(super) fn node(&mut self, shell: &mut Shell, node: &Node, context: &Context) -> After {
        self.step(1);
        if self.is_over() {
            return After::default();
        }
        let kind = match &node.kind {
            Kind::Simple(simple) => return self.simple(shell, simple, context),
            kind => kind,
        };
        let (redirects, input) = self.redirects(shell, &node.redirects, context);
        let outer_input = input.map(|(input, _)| std::mem::replace(&mut shell.input, input));
        if matches!(kind, Kind::Test(_)) && redirects.iter().any(Redirect::writes_file) {
            self.redirected(shell, redirects.clone(), context);
        }
        let outer_redirects = shell.redirects.len();
        shell.redirects.extend(redirects);
        let after = self.compound(shell, kind, context);
        shell.redirects.truncate(outer_redirects);
        if let Some(input) = outer_input {
            shell.input = input;
        }
        after
    }

    /// Redirects to their values, and what is read from now on, with where it stands.
    pub(super) fn redirects(
        &mut self,
        shell: &mut Shell,
        redirections: &[Redirection],
        context: &Context,
    ) -> (Vec<Redirect>, Option<(Input, Span)>) {
        let mut redirects = Vec::new();
        let mut input = None;
        for redirection in redirections {
            let target = self.single(shell, &redirection.target, context);
            let reads = redirection.fd.is_none_or(|fd| fd == 0);
            let found = match redirection.op {
                "<<" | "<<-" => {
                    let heredocs = Rc::clone(&context.origin.heredocs);
                    let body = redirection.heredoc.and_then(|number| heredocs.get(number));
                    let mut inside = context.clone();
                    Rc::make_mut(&mut inside.via).push(Source::Heredoc.name().to_owned());
                    body.map(|body| {
                        let text = self.joined(shell, &body.parts, &inside);
                        (Input::Text(text, Source::Heredoc), body.span.clone())
                    })
                }
                "<<<" => {
                    let mut text = target.clone();
                    text.push(Piece::Text("\n".to_owned()));
                    Some((Input::Text(text, Source::HereString), redirection.target.span.clone()))
                }
                "<" if target.prefix().starts_with("/dev/fd/") => Some((Input::Opaque(None), 0..0)),
                // A file's text is as a script's that is run by its name: nobody has put it together just now.
                "<" => Some((Input::Inherited, 0..0)),
                _ => None,
            };
            if reads && found.is_some() {
                input = found;
            }
            let source = context.origin.text.get(redirection.target.span.clone()).unwrap_or_default().to_owned();
            let (op, cwd) = (redirection.op.to_owned(), shell.cwd().clone());
            redirects.push(Redirect { op, fd: redirection.fd, target, source, cwd });
        }
        (redirects, input)
    }

    /// The shell as it may also be where something was left early.
    pub(super) fn rejoin(&mut self, shell: &mut Shell, states: Vec<Shell>) {
        shell.ended &= states.is_empty();
        for mut state in states {
            state.ended = false;
            shell.join(state, self.environment);
        }
    }

    /// A function runs, and is known to.
    pub(super) fn called(&mut self, number: usize) {
        for (function, _, called) in &mut self.functions {
            *called |= function.number == number;
        }
    }
}
