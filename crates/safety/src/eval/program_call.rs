//! A call of a program or of a function: listed, and evaluated into the commands that it runs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use super::command_lists::CommandEffects;
use super::evaluation_frame::{EvaluationFrame, MAX_DEPTH};
use super::evaluator::CommandEvaluator;
use super::functions::ShellFunction;
use super::partial_text;
use super::predictable_output;
use super::restored_shell::keep_function;
use super::simple_command::{SimpleCommand, SimpleCommandTraits};
use super::simulated_shell::{FieldSeparators, SimulatedShell};
use crate::file_listings::passes_all;
use crate::options::parse;
use crate::parse::ByteSpan;
use crate::programs;
use crate::programs::program::ProgramEffect;
use crate::secret_contents;
use crate::simple_command_view::{CommandStdin, ExpandedRedirect, SimpleCommandView, StdinTextSource};
use crate::unwrap::InnerCommand;
use crate::verdict::AnalysisConfidence;
use crate::word_value::{WordValue, weight};

/// Commands that do not fail, so that a command behind `&&` runs.
const SUCCEEDING: [&str; 10] = [":", "alias", "echo", "export", "printf", "set", "shopt", "trap", "true", "unset"];
/// How many times a function is evaluated within itself, with other words each time.
const MAX_RECURSION: usize = 16;

/// One call of a program.
#[derive(Clone, Default)]
pub(super) struct ProgramCall {
    /// Words of the call, the program first.
    pub argv: Vec<WordValue>,
    /// The source of each word.
    pub sources: Vec<String>,
    /// The source of the whole call.
    pub source: String,
    /// The place of each word.
    pub spans: Vec<ByteSpan>,
    /// The words of wrappers before it.
    pub prefix: Vec<String>,
    /// Variables that are set for it.
    pub assignments: Vec<(String, WordValue)>,
    /// The source of each assignment.
    pub assigned: Vec<String>,
    /// Redirects of the call itself.
    pub redirects: Vec<ExpandedRedirect>,
    /// Standard input.
    pub input: CommandStdin,
    /// The place of the text on standard input.
    pub input_span: ByteSpan,
    /// The place of the whole call.
    pub span: ByteSpan,
    /// Whether bash gives up before it runs.
    pub dead: bool,
}

impl ProgramCall {
    /// Returns the characters that split what it reads.
    pub(super) fn separators<'a>(&'a self, shell: &'a SimulatedShell) -> FieldSeparators<'a> {
        match self.assignments.iter().rfind(|(name, _)| name == "IFS") {
            Some((_, value)) => value.known().map_or(FieldSeparators::Unknown, FieldSeparators::Set),
            None => shell.separators(),
        }
    }
}

impl CommandEvaluator<'_> {
    /// Evaluates a call whose words are expanded.
    pub(super) fn evaluate_call(
        &mut self,
        shell: &mut SimulatedShell,
        call: ProgramCall,
        frame: &EvaluationFrame,
    ) -> CommandEffects {
        self.budget.spend(2 + weight(&call.argv) / 16 + call.redirects.len() + shell.redirects.len());
        if frame.depth > MAX_DEPTH || self.budget.is_spent() {
            self.budget.give_up();
            return CommandEffects::default();
        }
        let frame = &with_source(frame, &call);
        let name = call.argv.first().and_then(WordValue::base_name);
        let mut after = CommandEffects { name: name.map(str::to_owned), ..CommandEffects::default() };
        after.succeeds = name.is_some_and(|name| SUCCEEDING.contains(&name));
        let program = call.argv.first().and_then(WordValue::known).filter(|_| call.prefix.is_empty());
        if let Some(function) = program.and_then(|name| self.function_named(shell, name)) {
            self.evaluate_function_call(shell, call, function, frame);
            return after;
        }
        if self.restores && name == Some("eval") && keep_function(shell, &call.argv) {
            return after;
        }
        after.output = self.noted_output(shell, &call);
        let cwds = Rc::clone(&shell.location.candidates);
        // Including the redirects of the groups around the call.
        let redirects: Option<Vec<ExpandedRedirect>> =
            (!shell.redirects.is_empty()).then(|| call.redirects.iter().chain(&shell.redirects).cloned().collect());
        let command = SimpleCommandView {
            argv: &call.argv,
            assignments: &call.assignments,
            redirects: redirects.as_deref().unwrap_or(&call.redirects),
            cwd: &cwds[0],
            input: &call.input,
            via: &frame.via,
            directories: self.directories,
        };
        let inners = self.inner_commands(shell, &call, &command);
        let mut traits = traits_of_call(&command, &inners);
        after.failed = self.evaluate_builtin(shell, &call, frame);
        traits.decided = shell.variables.deciding || shell.variables.forgetful;
        // A wrapper that does more than to run the command is a command of its own.
        let carried = inners.iter().position(InnerCommand::replaces_wrapper).filter(|_| !program_writes(&command));
        let listed = |mut call: ProgramCall| {
            let redirects = redirects.unwrap_or_else(|| std::mem::take(&mut call.redirects));
            let command = simple_command(call, frame);
            SimpleCommand { redirects, cwds, traits: command.traits.with_program_traits(traits), ..command }
        };
        if inners.is_empty() {
            self.record_command(listed(call));
            return after;
        }
        if carried.is_none() {
            self.record_command(listed(call.clone()));
        }
        for (index, inner) in inners.into_iter().enumerate() {
            let inner = self.evaluate_inner(shell, &call, inner, Some(index) == carried, frame);
            if Some(index) == carried {
                let failed = after.failed.or(inner.failed);
                after = CommandEffects { failed, succeeds: after.succeeds, ..inner };
            }
        }
        after
    }

    /// The output of a call, if it is known and goes where the output of its shell goes. Notes its contents.
    fn noted_output(&mut self, shell: &SimulatedShell, call: &ProgramCall) -> Option<WordValue> {
        let output = self.predict_output(shell, call);
        self.note_written_files(shell, call, output.as_ref());
        if call.redirects.iter().any(ExpandedRedirect::takes_output) {
            return None;
        }
        let printed = output.as_ref().and_then(WordValue::contents).cloned();
        let redirects = call.redirects.iter().chain(&shell.redirects);
        self.note_printed_contents(
            printed.or_else(|| secret_contents::printed_contents(&call.argv, redirects, &call.input, shell.cwd())),
        );
        output
    }

    /// The output of a call, if it is known.
    fn predict_output(&self, shell: &SimulatedShell, call: &ProgramCall) -> Option<WordValue> {
        let temp = || {
            let values = shell.get("TMPDIR", self.environment)?;
            values.first()?.known().filter(|directory| !directory.is_empty()).map(str::to_owned)
        };
        let output = predictable_output::of(&call.argv, shell.cwd(), &call.input, temp)?;
        let name = call.argv.first().and_then(WordValue::base_name).unwrap_or_default();
        let input = call.input.text().filter(|text| text.files().is_none() || passes_all(name, &call.argv[1..]));
        Some(call.argv.iter().chain(input).fold(output, WordValue::derived_from))
    }

    /// Evaluates a call of a function.
    fn evaluate_function_call(
        &mut self,
        shell: &mut SimulatedShell,
        call: ProgramCall,
        function: ShellFunction,
        frame: &EvaluationFrame,
    ) {
        let recursion = self.calls.depth_of(function.number);
        let same = self.calls.is_running(function.number, &call.argv);
        let may_end = frame.conditional || self.calls.may_have_ended();
        let bomb = recursion > 0 && !may_end && frame.forked;
        self.functions.mark_called(function.number);
        let command = simple_command(call.clone(), frame);
        self.record_command(SimpleCommand {
            redirects: call.redirects.clone(),
            cwds: Rc::clone(&shell.location.candidates),
            traits: SimpleCommandTraits { transparent: true, bomb, ..command.traits },
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
        let inside = function_frame(frame, &function, &call);
        let mut args = vec![shell.args.first().cloned().unwrap_or_default()];
        args.extend_from_slice(&call.argv[1..]);
        let outer_args = std::mem::replace(&mut shell.args, args);
        let outer_input = std::mem::replace(&mut shell.input, call.input);
        let redirects = shell.redirects.len();
        shell.redirects.extend(call.redirects);
        shell.variables.covered.push(HashMap::new());
        self.calls.enter(function.number, call.argv);
        let after = self.evaluate_node(shell, &function.body, &inside);
        let mut states = self.calls.leave();
        states.extend(after.failed.map(|failed| *failed));
        self.rejoin_early_exits(shell, states);
        shell.variables.restore_locals();
        shell.redirects.truncate(redirects);
        shell.input = outer_input;
        shell.args = outer_args;
        shell.ended = false;
    }

    /// Lists a text that bash may run.
    pub(super) fn record_unseen(&mut self, shell: &SimulatedShell, text: ProgramCall, frame: &EvaluationFrame) {
        let cwds = Rc::clone(&shell.location.candidates);
        let command = simple_command(text, frame);
        let traits = SimpleCommandTraits { unseen: true, ..command.traits };
        self.record_command(SimpleCommand { cwds, traits, ..command });
    }

    /// Lists redirects without a command.
    pub(super) fn record_bare_redirects(
        &mut self,
        shell: &SimulatedShell,
        redirects: Vec<ExpandedRedirect>,
        frame: &EvaluationFrame,
    ) {
        let span = frame.origin.fixed.clone().unwrap_or_else(|| self.current.span.clone());
        let nothing = ProgramCall { span, ..ProgramCall::default() };
        let cwds = Rc::clone(&shell.location.candidates);
        self.record_command(SimpleCommand { redirects, cwds, ..simple_command(nothing, frame) });
    }
}

/// The frame of a call. A program that is named in a heredoc was not written as a command.
fn with_source<'a>(frame: &'a EvaluationFrame, call: &ProgramCall) -> Cow<'a, EvaluationFrame> {
    let heredoc = StdinTextSource::Heredoc.name();
    let unwritten = call.argv.first().is_some_and(WordValue::is_from_heredoc);
    if !unwritten || frame.via.iter().any(|via| via == heredoc) {
        return Cow::Borrowed(frame);
    }
    Cow::Owned(frame.nested_via(heredoc))
}

/// The frame of a function's body.
fn function_frame(frame: &EvaluationFrame, function: &ShellFunction, call: &ProgramCall) -> EvaluationFrame {
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
fn traits_of_call(command: &SimpleCommandView, inners: &[InnerCommand]) -> SimpleCommandTraits {
    let opaque = inners.iter().any(|inner| match inner {
        InnerCommand::Opaque { .. } => true,
        InnerCommand::Script { text, .. } => partial_text::possible_scripts(text).is_empty(),
        InnerCommand::Words { .. } | InnerCommand::Argv { .. } => false,
    });
    // Not `git -c core.pager=…` or `awk 'system(…)'`: they do more than that.
    let only_runs =
        command.name().is_some_and(|name| programs::of(name).only_runs_commands()) && !program_writes(command);
    let exact = |inner: &InnerCommand| match inner {
        InnerCommand::Script { confidence, .. } | InnerCommand::Words { confidence, .. } => {
            *confidence == AnalysisConfidence::Exact
        }
        InnerCommand::Argv { .. } | InnerCommand::Opaque { .. } => false,
    };
    SimpleCommandTraits {
        opaque,
        transparent: !opaque && only_runs && inners.iter().any(exact),
        ..SimpleCommandTraits::default()
    }
}

/// Whether options of a program make it write: `strace -o FILE`.
fn program_writes(command: &SimpleCommandView) -> bool {
    let Some(program) = command.name().map(programs::of) else { return false };
    matches!(program.effect, ProgramEffect::ReadsUnless(unless) if parse(command.args(), &program.options).has(unless.writes))
}

/// A call as it is listed, without redirects and directories.
fn simple_command(call: ProgramCall, frame: &EvaluationFrame) -> SimpleCommand {
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
        traits: SimpleCommandTraits {
            listed: frame.listed,
            dead: call.dead,
            uncalled: frame.uncalled,
            ..SimpleCommandTraits::default()
        },
    }
}
