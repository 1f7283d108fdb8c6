//! The commands that a command runs in its turn.

use std::ops::Range;
use std::rc::Rc;

use super::command_lists::CommandEffects;
use super::evaluation_frame::EvaluationFrame;
use super::evaluator::{CommandEvaluator, TrapScript};
use super::partial_text;
use super::program_call::ProgramCall;
use super::simulated_shell::SimulatedShell;
use crate::parse::{ByteSpan, read};
use crate::path::resolved;
use crate::read_only::makes_programs_run;
use crate::simple_command_view::{CommandStdin, StdinTextSource};
use crate::unwrap::{InnerCommand, is_interpreter};
use crate::verdict::AnalysisConfidence;
use crate::word_value::{ValuePiece, WordValue};

/// How a command runs another one.
#[derive(Clone, Copy)]
struct InnerCommandContext<'a> {
    /// Name in the chain: `sudo`, `bash -c`.
    via: &'a str,
    /// How sure it is that the inner command runs with these words.
    confidence: AnalysisConfidence,
    /// Whether the inner command is listed even if that is not sure.
    listed: bool,
    /// Whether the inner command runs on another machine or in a container.
    elsewhere: bool,
    /// Whether its text comes out of a heredoc.
    from_heredoc: bool,
}

/// A script that a command runs.
struct InnerScript<'a> {
    text: String,
    /// The word that holds it.
    word: &'a WordValue,
    args: &'a [WordValue],
    /// Whether the script runs in the shell of the command.
    same_shell: bool,
    /// Whether the script reads the command's standard input.
    stdin: bool,
}

impl CommandEvaluator<'_> {
    /// Evaluates a command that a call runs. `carried`: it is the same process, with the call's words as its prefix.
    pub(super) fn evaluate_inner(
        &mut self,
        shell: &mut SimulatedShell,
        call: &ProgramCall,
        inner: InnerCommand,
        carried: bool,
        frame: &EvaluationFrame,
    ) -> CommandEffects {
        match inner {
            InnerCommand::Words { .. } => self.inner_words(shell, call, inner, carried, frame),
            InnerCommand::Argv { argv, via, confidence, cwd, elsewhere, stdin } => {
                let from_heredoc = is_program_from_heredoc(call) || argv.iter().any(WordValue::is_from_heredoc);
                let entry = InnerCommandContext { via: &via, confidence, listed: false, elsewhere, from_heredoc };
                let inside = inner_frame(frame, call, &entry);
                let mut other = self.shell_of_started_program(shell, call, &call.assignments, cwd.as_ref(), elsewhere);
                let sources: Vec<String> = argv.iter().map(displayed_word).collect();
                let next = ProgramCall {
                    source: sources.join(" "),
                    sources,
                    spans: argv.iter().map(|_| call.span.clone()).collect(),
                    argv,
                    input: if stdin { call.input.clone() } else { CommandStdin::Inherited },
                    input_span: call.input_span.clone(),
                    span: call.span.clone(),
                    ..ProgramCall::default()
                };
                self.evaluate_call(&mut other, next, &inside)
            }
            InnerCommand::Script { text, args, via, confidence, same_shell, elsewhere, stdin } => {
                let from_heredoc = is_program_from_heredoc(call) || text.is_from_heredoc();
                let listed = confidence == AnalysisConfidence::Exact;
                for (script, sure) in partial_text::possible_scripts(&text) {
                    let confidence = confidence.max(sure);
                    let entry = InnerCommandContext { via: &via, confidence, listed, elsewhere, from_heredoc };
                    let script = InnerScript { text: script, word: &text, args: &args, same_shell, stdin };
                    self.inner_script(shell, call, script, entry, frame);
                }
                CommandEffects::default()
            }
            InnerCommand::Opaque { .. } => CommandEffects::default(),
        }
    }

    /// Evaluates a command whose words are words of the call.
    fn inner_words(
        &mut self,
        shell: &mut SimulatedShell,
        call: &ProgramCall,
        inner: InnerCommand,
        carried: bool,
        frame: &EvaluationFrame,
    ) -> CommandEffects {
        let InnerCommand::Words { from, to, assignments, cwd, items, via, confidence, elsewhere, stdin, .. } = inner
        else {
            return CommandEffects::default();
        };
        let to = to.min(call.argv.len());
        let from = from.min(to);
        let mut next = words_of(call, from..to, items);
        if carried {
            next.prefix.extend(call.sources.get(..from).unwrap_or_default().iter().cloned());
        } else {
            next.prefix.clear();
            next.redirects.clear();
            next.source = next.sources.join(" ");
        }
        if !stdin {
            next.input = CommandStdin::Inherited;
        }
        for (name, value) in assignments {
            next.assigned.push(format!("{name}={}", displayed_word(&value)));
            next.assignments.push((name, value));
        }
        let entry = InnerCommandContext { via: &via, confidence, listed: carried, elsewhere, from_heredoc: false };
        let inside = inner_frame(frame, call, &entry);
        // These run in the shell itself: the effect of `command cd x` stays.
        if matches!(via.as_str(), "command" | "builtin") && carried {
            return self.evaluate_call(shell, next, &inside);
        }
        let mut other = self.shell_of_started_program(shell, call, &next.assignments, cwd.as_ref(), elsewhere);
        if carried {
            // The redirects of the inner call are already the call's own.
            other.redirects.clone_from(&shell.redirects);
        }
        self.evaluate_call(&mut other, next, &inside)
    }

    /// Evaluates a script in a command.
    fn inner_script(
        &mut self,
        shell: &mut SimulatedShell,
        call: &ProgramCall,
        script: InnerScript<'_>,
        entry: InnerCommandContext<'_>,
        frame: &EvaluationFrame,
    ) {
        // The text that a program hands to an `exec` of its own may be no command at all: `db.exec("select 1")`.
        let interpreter = call.argv.first().and_then(WordValue::base_name).is_some_and(is_interpreter);
        if interpreter && read(&script.text).script.fault.is_some() {
            return;
        }
        let mut inside = inner_frame(frame, call, &entry);
        let sources = [StdinTextSource::Heredoc, StdinTextSource::HereString, StdinTextSource::Pipe];
        let from_input = sources.iter().any(|source| source.name() == entry.via);
        inside.origin.fixed = Some(if from_input { call.input_span.clone() } else { script_span(call, script.word) });
        let at_end = || call.argv.iter().any(|word| matches!(word.known(), Some("EXIT" | "0")));
        if entry.via == "trap" && (shell.variables.covered.is_empty() || at_end()) {
            // The variables that are set with the trap are set when it runs.
            let then = frame.conditional.then(|| shell.clone());
            self.traps.push(TrapScript { script: script.text, frame: inside, shell: then });
            return;
        }
        let input = if script.stdin { call.input.clone() } else { CommandStdin::Inherited };
        if script.same_shell {
            let outer = std::mem::replace(&mut shell.input, input);
            self.evaluate_script(shell, &script.text, inside);
            shell.input = outer;
        } else {
            let mut other = self.shell_of_started_program(shell, call, &call.assignments, None, entry.elsewhere);
            if !script.args.is_empty() {
                other.args = script.args.to_vec();
            }
            other.input = input;
            self.in_subshell(&mut other, |evaluator, shell| evaluator.evaluate_script(shell, &script.text, inside));
        }
    }

    /// The shell that a program gets which the call starts.
    fn shell_of_started_program(
        &mut self,
        shell: &SimulatedShell,
        call: &ProgramCall,
        assignments: &[(String, WordValue)],
        cwd: Option<&WordValue>,
        elsewhere: bool,
    ) -> SimulatedShell {
        self.budget.spend(shell.weight() / 8 + assignments.len());
        let mut other = shell.child(vec![WordValue::of("bash")]);
        other.redirects = call.redirects.iter().chain(&shell.redirects).cloned().collect();
        for (name, value) in assignments {
            other.set(name, vec![value.clone()], self.environment);
            other.export(name, true, self.environment);
            other.variables.deciding |= makes_programs_run(name, value);
        }
        if let Some(cwd) = cwd {
            let directory = resolved(other.cwd(), cwd);
            other.location.enter(directory);
        }
        if elsewhere {
            other.variables.forgetful = true;
        }
        if elsewhere && is_remote(call) {
            // In a container the project is likely meant. Which directory it is on another machine is not known.
            Rc::make_mut(&mut other.location.candidates).push(WordValue::unknown());
        }
        other
    }
}

/// The call of the words from one place to another, with items behind them.
fn words_of(call: &ProgramCall, words: Range<usize>, items: Vec<WordValue>) -> ProgramCall {
    let mut next = ProgramCall {
        argv: call.argv[words.clone()].to_vec(),
        sources: call.sources.get(words.clone()).unwrap_or_default().to_vec(),
        spans: call.spans.get(words).unwrap_or_default().to_vec(),
        source: call.source.clone(),
        prefix: call.prefix.clone(),
        assignments: call.assignments.clone(),
        assigned: call.assigned.clone(),
        redirects: call.redirects.clone(),
        input: call.input.clone(),
        input_span: call.input_span.clone(),
        span: call.span.clone(),
        dead: call.dead,
    };
    for item in items {
        next.sources.push(displayed_word(&item));
        next.spans.push(call.input_span.clone());
        next.argv.push(item);
    }
    next
}

/// The frame of a command that a call runs.
fn inner_frame(frame: &EvaluationFrame, call: &ProgramCall, entry: &InnerCommandContext<'_>) -> EvaluationFrame {
    let mut inside = frame.nested_via(entry.via);
    if entry.from_heredoc && entry.via != StdinTextSource::Heredoc.name() {
        let via = Rc::make_mut(&mut inside.via);
        via.insert(via.len() - 1, StdinTextSource::Heredoc.name().to_owned());
    }
    inside.confidence = inside.confidence.max(entry.confidence);
    inside.listed &= entry.listed || entry.confidence == AnalysisConfidence::Exact;
    // The directories of a container or a pod hold other files than directories of the same names here.
    if entry.elsewhere && !is_remote(call) {
        inside.confidence = inside.confidence.max(AnalysisConfidence::Partial);
    }
    inside
}

/// Whether a call runs a program in another language that came out of a heredoc.
fn is_program_from_heredoc(call: &ProgramCall) -> bool {
    call.argv.first().and_then(WordValue::base_name).is_some_and(is_interpreter)
        && call.argv.iter().chain(call.input.text()).any(WordValue::is_from_heredoc)
}

/// Whether a call runs a command on another machine, and not only in a container.
fn is_remote(call: &ProgramCall) -> bool {
    call.argv.first().and_then(WordValue::base_name).is_some_and(|name| matches!(name, "ssh" | "rsh" | "mosh"))
}

/// The span of the word that holds a script.
fn script_span(call: &ProgramCall, text: &WordValue) -> ByteSpan {
    let known = text.known().unwrap_or_default();
    let holds =
        |word: &WordValue| word == text || (!known.is_empty() && word.known().is_some_and(|word| word.contains(known)));
    let at = call.argv.iter().skip(1).position(holds);
    at.and_then(|at| call.spans.get(at + 1).cloned()).unwrap_or_else(|| call.span.clone())
}

/// A word as people read it: `…` for each part that is not known.
pub(super) fn displayed_word(value: &WordValue) -> String {
    value
        .pieces()
        .iter()
        .map(|piece| match piece {
            ValuePiece::Text(text) | ValuePiece::Glob(text) => text.as_str(),
            ValuePiece::OneOf(_) | ValuePiece::Unknown(_) => "…",
        })
        .collect()
}
