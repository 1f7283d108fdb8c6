//! A call of a program or of a function: listed, and evaluated into the commands that it runs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use super::evaluator::Evaluator;
use super::frame::{Frame, MAX_DEPTH};
use super::functions::Function;
use super::lists::After;
use super::output;
use super::shell::{Separators, Shell};
use super::shell_state::keep_function;
use super::simple_command::{SimpleCommand, Traits};
use super::text;
use crate::command::{Command, Input, Redirect, Source};
use crate::contents;
use crate::level::Confidence;
use crate::listings::passes_all;
use crate::options::parse;
use crate::parse::Span;
use crate::programs;
use crate::programs::program::Effect;
use crate::unwrap::InnerCommand;
use crate::value::{Value, weight};

/// Commands that do not fail, so that a command behind `&&` runs.
const SUCCEEDING: [&str; 10] = [":", "alias", "echo", "export", "printf", "set", "shopt", "trap", "true", "unset"];
/// How many times a function is evaluated within itself, with other words each time.
const MAX_RECURSION: usize = 16;

/// One call of a program.
#[derive(Clone, Default)]
pub(super) struct Call {
    /// Words of the call, the program first.
    pub argv: Vec<Value>,
    /// The source of each word.
    pub sources: Vec<String>,
    /// The source of the whole call.
    pub source: String,
    /// The place of each word.
    pub spans: Vec<Span>,
    /// The words of wrappers before it.
    pub prefix: Vec<String>,
    /// Variables that are set for it.
    pub assignments: Vec<(String, Value)>,
    /// The source of each assignment.
    pub assigned: Vec<String>,
    /// Redirects of the call itself.
    pub redirects: Vec<Redirect>,
    /// Standard input.
    pub input: Input,
    /// The place of the text on standard input.
    pub input_span: Span,
    /// The place of the whole call.
    pub span: Span,
    /// Whether bash gives up before it runs.
    pub dead: bool,
}

impl Call {
    /// Returns the characters that split what it reads.
    pub(super) fn separators<'a>(&'a self, shell: &'a Shell) -> Separators<'a> {
        match self.assignments.iter().rfind(|(name, _)| name == "IFS") {
            Some((_, value)) => value.known().map_or(Separators::Unknown, Separators::Set),
            None => shell.separators(),
        }
    }
}

impl Evaluator<'_> {
    /// Evaluates a call whose words are expanded.
    pub(super) fn call(&mut self, shell: &mut Shell, call: Call, frame: &Frame) -> After {
        self.budget.spend(2 + weight(&call.argv) / 16 + call.redirects.len() + shell.redirects.len());
        if frame.depth > MAX_DEPTH || self.budget.is_spent() {
            self.budget.give_up();
            return After::default();
        }
        let frame = &with_source(frame, &call);
        let name = call.argv.first().and_then(Value::base_name);
        let mut after = After { name: name.map(str::to_owned), ..After::default() };
        after.succeeds = name.is_some_and(|name| SUCCEEDING.contains(&name));
        let program = call.argv.first().and_then(Value::known).filter(|_| call.prefix.is_empty());
        if let Some(function) = program.and_then(|name| self.function_named(shell, name)) {
            self.function(shell, call, function, frame);
            return after;
        }
        if self.restores && name == Some("eval") && keep_function(shell, &call.argv) {
            return after;
        }
        after.output = self.noted_output(shell, &call);
        let cwds = Rc::clone(&shell.location.candidates);
        // Including the redirects of the groups around the call.
        let redirects: Option<Vec<Redirect>> =
            (!shell.redirects.is_empty()).then(|| call.redirects.iter().chain(&shell.redirects).cloned().collect());
        let command = Command {
            argv: &call.argv,
            assignments: &call.assignments,
            redirects: redirects.as_deref().unwrap_or(&call.redirects),
            cwd: &cwds[0],
            input: &call.input,
            via: &frame.via,
            directories: self.directories,
        };
        let inners = self.inners(shell, &call, &command);
        let mut traits = traits(&command, &inners);
        after.failed = self.builtin(shell, &call, frame);
        traits.decided = shell.variables.deciding || shell.variables.forgetful;
        // A wrapper that does more than to run the command is a command of its own.
        let carried = inners.iter().position(InnerCommand::replaces_wrapper).filter(|_| !program_writes(&command));
        let listed = |mut call: Call| {
            let redirects = redirects.unwrap_or_else(|| std::mem::take(&mut call.redirects));
            let command = simple_command(call, frame);
            SimpleCommand { redirects, cwds, traits: command.traits.with(traits), ..command }
        };
        if inners.is_empty() {
            self.record(listed(call));
            return after;
        }
        if carried.is_none() {
            self.record(listed(call.clone()));
        }
        for (index, inner) in inners.into_iter().enumerate() {
            let inner = self.inner(shell, &call, inner, Some(index) == carried, frame);
            if Some(index) == carried {
                let failed = after.failed.or(inner.failed);
                after = After { failed, succeeds: after.succeeds, ..inner };
            }
        }
        after
    }

    /// The output of a call, if it is known and goes where the output of its shell goes. Notes its contents.
    fn noted_output(&mut self, shell: &Shell, call: &Call) -> Option<Value> {
        let output = self.output(shell, call);
        self.remember(shell, call, output.as_ref());
        if call.redirects.iter().any(Redirect::takes_output) {
            return None;
        }
        let printed = output.as_ref().and_then(Value::contents).cloned();
        let redirects = call.redirects.iter().chain(&shell.redirects);
        self.prints(printed.or_else(|| contents::printed(&call.argv, redirects, &call.input, shell.cwd())));
        output
    }

    /// The output of a call, if it is known.
    fn output(&self, shell: &Shell, call: &Call) -> Option<Value> {
        let temp = || {
            let values = shell.get("TMPDIR", self.environment)?;
            values.first()?.known().filter(|directory| !directory.is_empty()).map(str::to_owned)
        };
        let output = output::of(&call.argv, shell.cwd(), &call.input, temp)?;
        let name = call.argv.first().and_then(Value::base_name).unwrap_or_default();
        let input = call.input.text().filter(|text| text.files().is_none() || passes_all(name, &call.argv[1..]));
        Some(call.argv.iter().chain(input).fold(output, Value::derived_from))
    }

    /// Evaluates a call of a function.
    fn function(&mut self, shell: &mut Shell, call: Call, function: Function, frame: &Frame) {
        let recursion = self.calls.depth_of(function.number);
        let same = self.calls.runs(function.number, &call.argv);
        let may_end = frame.conditional || self.calls.may_have_ended();
        let bomb = recursion > 0 && !may_end && frame.forked;
        self.functions.called(function.number);
        let command = simple_command(call.clone(), frame);
        self.record(SimpleCommand {
            redirects: call.redirects.clone(),
            cwds: Rc::clone(&shell.location.candidates),
            traits: Traits { transparent: true, bomb, ..command.traits },
            ..command
        });
        // With the same words the function does the same again.
        if same || call.dead {
            return;
        }
        if recursion >= MAX_RECURSION {
            // Words that grow with each call, as in a walk through directories, lead to nothing else either.
            if call.argv.iter().all(|word| word.known().is_some()) {
                self.budget.give_up();
            }
            return;
        }
        let inside = inside(frame, &function, &call);
        let mut args = vec![shell.args.first().cloned().unwrap_or_default()];
        args.extend_from_slice(&call.argv[1..]);
        let outer_args = std::mem::replace(&mut shell.args, args);
        let outer_input = std::mem::replace(&mut shell.input, call.input);
        let redirects = shell.redirects.len();
        shell.redirects.extend(call.redirects);
        shell.variables.covered.push(HashMap::new());
        self.calls.enter(function.number, call.argv);
        let after = self.node(shell, &function.body, &inside);
        let mut states = self.calls.leave();
        states.extend(after.failed.map(|failed| *failed));
        self.rejoin(shell, states);
        shell.variables.uncover();
        shell.redirects.truncate(redirects);
        shell.input = outer_input;
        shell.args = outer_args;
        shell.ended = false;
    }

    /// Lists a text that bash may run.
    pub(super) fn record_unseen(&mut self, shell: &Shell, text: Call, frame: &Frame) {
        let cwds = Rc::clone(&shell.location.candidates);
        let command = simple_command(text, frame);
        let traits = Traits { unseen: true, ..command.traits };
        self.record(SimpleCommand { cwds, traits, ..command });
    }

    /// Lists redirects without a command.
    pub(super) fn redirected(&mut self, shell: &Shell, redirects: Vec<Redirect>, frame: &Frame) {
        let span = frame.origin.fixed.clone().unwrap_or_else(|| self.current.span.clone());
        let nothing = Call { span, ..Call::default() };
        let cwds = Rc::clone(&shell.location.candidates);
        self.record(SimpleCommand { redirects, cwds, ..simple_command(nothing, frame) });
    }
}

/// The frame of a call. A program that is named in a heredoc was not written as a command.
fn with_source<'a>(frame: &'a Frame, call: &Call) -> Cow<'a, Frame> {
    let heredoc = Source::Heredoc.name();
    let unwritten = call.argv.first().is_some_and(Value::is_from_heredoc);
    if !unwritten || frame.via.iter().any(|via| via == heredoc) {
        return Cow::Borrowed(frame);
    }
    Cow::Owned(frame.inside(heredoc))
}

/// The frame of a function's body.
fn inside(frame: &Frame, function: &Function, call: &Call) -> Frame {
    let mut inside = frame.clone();
    inside.depth += 1;
    inside.conditional = false;
    inside.origin = function.origin.clone();
    if inside.origin.fixed.is_none() && frame.origin.fixed.is_some() {
        inside.origin.fixed.clone_from(&frame.origin.fixed);
    }
    if inside.origin.earlier {
        // The text is no part of the command, so the call is its place.
        inside.origin.fixed.get_or_insert_with(|| call.span.clone());
    }
    inside
}

/// Whether a command only runs the commands that were found in it, and whether it runs code that cannot be seen.
fn traits(command: &Command, inners: &[InnerCommand]) -> Traits {
    let opaque = inners.iter().any(|inner| match inner {
        InnerCommand::Opaque { .. } => true,
        InnerCommand::Script { text, .. } => text::scripts(text).is_empty(),
        InnerCommand::Words { .. } | InnerCommand::Argv { .. } => false,
    });
    // Not `git -c core.pager=…` or `awk 'system(…)'`: they do more than that.
    let only_runs =
        command.name().is_some_and(|name| programs::of(name).only_runs_commands()) && !program_writes(command);
    let exact = |inner: &InnerCommand| match inner {
        InnerCommand::Script { confidence, .. } | InnerCommand::Words { confidence, .. } => {
            *confidence == Confidence::Exact
        }
        InnerCommand::Argv { .. } | InnerCommand::Opaque { .. } => false,
    };
    Traits { opaque, transparent: !opaque && only_runs && inners.iter().any(exact), ..Traits::default() }
}

/// Whether options of a program make it write: `strace -o FILE`.
fn program_writes(command: &Command) -> bool {
    let Some(program) = command.name().map(programs::of) else { return false };
    matches!(program.effect, Effect::ReadsUnless(unless) if parse(command.args(), &program.options).has(unless.writes))
}

/// A call as it is listed, without redirects and directories.
fn simple_command(call: Call, frame: &Frame) -> SimpleCommand {
    SimpleCommand {
        argv: call.argv,
        sources: call.sources,
        source: call.source,
        prefix: call.prefix,
        assignments: call.assignments,
        assigned: call.assigned,
        redirects: Vec::new(),
        cwds: Rc::default(),
        input: call.input,
        via: Rc::clone(&frame.via),
        span: call.span,
        confidence: frame.confidence,
        traits: Traits { listed: frame.listed, dead: call.dead, uncalled: frame.uncalled, ..Traits::default() },
    }
}
