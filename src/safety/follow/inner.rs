//! What a command runs in its turn, followed.

use std::rc::Rc;

use super::builtins::resolved;
use super::call::Call;
use super::context::Context;
use super::shell::Shell;
use super::text;
use super::walk::{After, Walker};
use crate::safety::command::{Input, Source};
use crate::safety::level::Confidence;
use crate::safety::read::{Span, read};
use crate::safety::unwrap::{Inner, is_interpreter};
use crate::safety::value::{Piece, Value};

/// A script that was found in a command.
struct Script<'a> {
    script: String,
    /// The word that it is, or a part of.
    text: &'a Value,
    args: &'a [Value],
    via: &'a str,
    same_shell: bool,
    elsewhere: bool,
    stdin: bool,
}

impl Walker<'_> {
    /// What a command runs in its turn.
    pub(super) fn inner(
        &mut self,
        shell: &mut Shell,
        call: &Call,
        inner: Inner,
        carried: bool,
        context: &Context,
    ) -> After {
        match inner {
            Inner::Words { from, to, assignments, cwd, items, via, confidence, elsewhere, stdin, .. } => {
                let to = to.min(call.argv.len());
                let from = from.min(to);
                let mut next = call.clone();
                next.argv = call.argv[from..to].to_vec();
                next.sources = call.sources.get(from..to).unwrap_or_default().to_vec();
                next.spans = call.spans.get(from..to).unwrap_or_default().to_vec();
                for item in items {
                    next.sources.push(shown(&item));
                    next.spans.push(call.input_span.clone());
                    next.argv.push(item);
                }
                if carried {
                    next.prefix.extend(call.sources.get(..from).unwrap_or_default().iter().cloned());
                } else {
                    next.prefix.clear();
                    next.redirects.clear();
                    next.source = next.sources.join(" ");
                }
                if !stdin {
                    next.input = Input::Inherited;
                }
                for (name, value) in assignments {
                    next.assigned.push(format!("{name}={}", shown(&value)));
                    next.assignments.push((name, value));
                }
                let inside = self.inside(context, call, &via, confidence, carried, elsewhere);
                // These run in the shell itself: `command cd x` stays.
                if matches!(via.as_str(), "command" | "builtin") && carried {
                    return self.call(shell, next, &inside);
                }
                let mut other = self.program(shell, call, &next.assignments, cwd.as_ref(), elsewhere);
                if carried {
                    // Its redirects are the call's own.
                    other.redirects.clone_from(&shell.redirects);
                }
                if via == "exec" || via == "time" {
                    other.functions.clone_from(&shell.functions);
                }
                self.call(&mut other, next, &inside)
            }
            Inner::Argv { argv, via, confidence, cwd, elsewhere, stdin } => {
                let inside = self.inside(context, call, &via, confidence, false, elsewhere);
                let mut other = self.program(shell, call, &call.assignments, cwd.as_ref(), elsewhere);
                let sources: Vec<String> = argv.iter().map(shown).collect();
                let next = Call {
                    source: sources.join(" "),
                    sources,
                    spans: argv.iter().map(|_| call.span.clone()).collect(),
                    argv,
                    prefix: Vec::new(),
                    assignments: Vec::new(),
                    assigned: Vec::new(),
                    redirects: Vec::new(),
                    input: if stdin { call.input.clone() } else { Input::Inherited },
                    input_span: call.input_span.clone(),
                    span: call.span.clone(),
                    dead: false,
                };
                self.call(&mut other, next, &inside)
            }
            Inner::Script { text, args, via, confidence, same_shell, elsewhere, stdin } => {
                for (script, sure) in text::scripts(&text) {
                    let inner = Script { script, text: &text, args: &args, via: &via, same_shell, elsewhere, stdin };
                    self.nested_script(shell, call, inner, confidence.max(sure), context);
                }
                After::default()
            }
            Inner::Opaque { .. } => After::default(),
        }
    }

    /// A script in a command, whichever way it runs it.
    fn nested_script(
        &mut self,
        shell: &mut Shell,
        call: &Call,
        script: Script<'_>,
        confidence: Confidence,
        context: &Context,
    ) {
        // What a program's text hands to some `exec` of its own may be no command at all: `db.exec("select 1")`.
        let interpreter = call.argv.first().and_then(Value::base_name).is_some_and(is_interpreter);
        if interpreter && read(&script.script).script.fault.is_some() {
            return;
        }
        let mut inside = self.inside(context, call, script.via, confidence, true, script.elsewhere);
        inside.listed = context.listed && confidence == Confidence::Exact;
        let from_input =
            [Source::Heredoc, Source::HereString, Source::Pipe].iter().any(|source| source.name() == script.via);
        inside.origin.fixed = Some(if from_input { call.input_span.clone() } else { place(call, script.text) });
        let at_end = || call.argv.iter().any(|word| matches!(word.known(), Some("EXIT" | "0")));
        let lasts = self.subshells == self.level && (shell.covered.is_empty() || at_end());
        if script.via == "trap" && lasts {
            // What is set where the trap is set is set when it runs.
            let then = context.conditional.then(|| shell.clone());
            self.traps.push((script.script, inside, then));
            return;
        }
        let input = if script.stdin { call.input.clone() } else { Input::Inherited };
        if script.same_shell {
            let outer = std::mem::replace(&mut shell.input, input);
            self.script(shell, &script.script, inside);
            shell.input = outer;
        } else {
            let mut other = self.program(shell, call, &call.assignments, None, script.elsewhere);
            if !script.args.is_empty() {
                other.args = script.args.to_vec();
            }
            other.input = input;
            self.subshell(&mut other, |walker, shell| walker.script(shell, &script.script, inside));
        }
    }

    fn inside(
        &self,
        context: &Context,
        call: &Call,
        via: &str,
        confidence: Confidence,
        listed: bool,
        elsewhere: bool,
    ) -> Context {
        let mut inside = context.inside(via);
        inside.confidence = inside.confidence.max(confidence);
        inside.listed &= listed || confidence == Confidence::Exact;
        // What a container or a pod holds is not what these folders hold here.
        if elsewhere && !is_remote(call) {
            inside.confidence = inside.confidence.max(Confidence::Partial);
        }
        inside
    }

    /// The shell as a program that it starts has it.
    fn program(
        &mut self,
        shell: &Shell,
        call: &Call,
        assignments: &[(String, Value)],
        cwd: Option<&Value>,
        elsewhere: bool,
    ) -> Shell {
        self.step(shell.weight() / 8);
        let mut other = shell.child(vec![Value::of("bash")]);
        other.redirects = call.redirects.iter().chain(&shell.redirects).cloned().collect();
        for (name, value) in assignments {
            other.set(name, vec![value.clone()], self.environment);
            other.export(name, true, self.environment);
        }
        if let Some(cwd) = cwd {
            let folder = resolved(other.cwd(), cwd);
            other.enter(folder);
        }
        if elsewhere {
            other.forgetful = true;
        }
        if elsewhere && is_remote(call) {
            // In a container it is likely the project that is meant; on another machine nobody knows which folder it is.
            Rc::make_mut(&mut other.folders).push(Value::unknown());
        }
        other
    }
}

/// Whether it runs on another machine, and not only in a container.
fn is_remote(call: &Call) -> bool {
    call.argv.first().and_then(Value::base_name).is_some_and(|name| matches!(name, "ssh" | "rsh" | "mosh"))
}

/// The span of the word that holds a script.
fn place(call: &Call, text: &Value) -> Span {
    let known = text.known().unwrap_or_default();
    let holds =
        |word: &&Value| *word == text || (!known.is_empty() && word.known().is_some_and(|word| word.contains(known)));
    let at = call
        .argv
        .iter()
        .skip(1)
        .find(holds)
        .and_then(|word| call.argv.iter().position(|other| std::ptr::eq(other, word)));
    at.and_then(|at| call.spans.get(at).cloned()).unwrap_or_else(|| call.span.clone())
}

/// A word as people read it.
pub(crate) fn shown(value: &Value) -> String {
    value
        .pieces()
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) | Piece::Glob(text) => text.as_str(),
            Piece::OneOf(_) | Piece::Hole(_) => "…",
        })
        .collect()
}
