//! A simple command: expanded, told, and followed into what it runs in its turn.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::output;
use super::shell::{Shell, hole};
use super::text;
use super::told::Told;
use super::walk::{After, Context, Walker};
use crate::safety::command::{Command, Input, Redirect, Source};
use crate::safety::level::Confidence;
use crate::safety::read::{Assignment, Part, Simple, Span, Word};
use crate::safety::tables::arity::RUNNERS;
use crate::safety::unwrap::{Inner, unwrap};
use crate::safety::value::{Piece, Value};

/// The most words of wrappers before a head that is not set.
const MAX_WRAPPING: usize = 12;

/// One call of a program.
#[derive(Clone, Default)]
struct Call {
    argv: Vec<Value>,
    sources: Vec<String>,
    source: String,
    spans: Vec<Span>,
    prefix: Vec<String>,
    assignments: Vec<(String, Value)>,
    assigned: Vec<String>,
    redirects: Vec<Redirect>,
    input: Input,
    /// Where the text on standard input stands.
    input_span: Span,
    span: Span,
    dead: bool,
}

impl Walker<'_> {
    /// A simple command as it is written.
    pub(super) fn simple(&mut self, shell: &mut Shell, simple: &Simple, context: &Context) -> After {
        if let Some(text) = aliased(shell, simple, context) {
            let mut inside = context.inside("alias");
            inside.origin.fixed.get_or_insert_with(|| simple.span.clone());
            // As in bash, what it comes to is not looked up again.
            let expands = std::mem::take(&mut shell.expands);
            self.script(shell, &text, inside);
            shell.expands = expands;
            return After::default();
        }
        let span = context.origin.fixed.clone().unwrap_or_else(|| simple.span.clone());
        let outer = std::mem::replace(&mut self.outer, span.clone());
        let dead = std::mem::take(&mut self.dead);
        let mut call = Call {
            argv: Vec::with_capacity(simple.words.len()),
            sources: Vec::with_capacity(simple.words.len()),
            source: context.origin.text.get(simple.span.clone()).unwrap_or_default().to_owned(),
            spans: Vec::with_capacity(simple.words.len()),
            prefix: Vec::new(),
            assignments: Vec::new(),
            assigned: Vec::new(),
            redirects: Vec::new(),
            input: shell.input.clone(),
            input_span: span.clone(),
            span,
            dead: false,
        };
        for word in &simple.words {
            let source = context.origin.text.get(word.span.clone()).unwrap_or_default();
            let at = context.origin.fixed.clone().unwrap_or_else(|| word.span.clone());
            let mut values = self.fields(shell, word, context);
            if values.is_empty() && self.is_unset(shell, word) && self.is_head(shell, &call) {
                values.push(hole());
            }
            for value in values {
                call.argv.push(value);
                call.sources.push(source.to_owned());
                call.spans.push(at.clone());
            }
        }
        let (redirects, input) = self.redirects(shell, &simple.redirects, context);
        call.redirects = redirects;
        if let Some((input, at)) = input {
            call.input = input;
            call.input_span = context.origin.fixed.clone().unwrap_or(at);
        }
        for assignment in &simple.assignments {
            let values = self.assigned(shell, assignment, context);
            call.assigned.push(assignment.source.clone());
            let value = if values.len() == 1 { values[0].clone() } else { hole() };
            // Of a program's own they are its alone; without one they last.
            if simple.words.is_empty() {
                self.assign(shell, assignment, values);
            }
            call.assignments.push((assignment.name.clone(), value));
        }
        call.dead = std::mem::replace(&mut self.dead, dead);
        self.outer = outer;
        let arrays = simple.words.iter().filter(|word| matches!(word.parts.last(), Some(Part::Array(_))));
        let after = self.call(shell, call, context);
        for word in arrays {
            self.declared_array(shell, word, context);
        }
        after
    }

    /// Whether the next word is the head of a command: `$X -rf /` or `sudo $X` without an X. What was meant to run is not
    /// known, whatever bash makes of it.
    fn is_head(&self, shell: &Shell, call: &Call) -> bool {
        if call.argv.len() > MAX_WRAPPING {
            return false;
        }
        let mut argv = call.argv.clone();
        argv.push(hole());
        let mut from = 0;
        for _ in 0..MAX_WRAPPING {
            if from + 1 == argv.len() {
                return true;
            }
            let rest =
                Command { argv: &argv[from..], assignments: &[], redirects: &[], cwd: shell.cwd(), scene: self.scene };
            let inners = unwrap(&rest, &Input::Inherited, self.custom);
            let begins = |text: &Value| matches!(text.pieces().first(), Some(Piece::Hole(_)));
            if inners.iter().any(|inner| match inner {
                Inner::Words { from: at, .. } => from + at + 1 == argv.len(),
                Inner::Script { text, .. } => begins(text),
                Inner::Opaque { .. } => true,
                Inner::Argv { .. } => false,
            }) {
                return true;
            }
            let next = inners.iter().find_map(|inner| match inner {
                Inner::Words { from, .. } if *from > 0 => Some(*from),
                _ => None,
            });
            match next {
                Some(next) => from += next,
                None => return false,
            }
        }
        false
    }

    /// Whether a word is nothing but a variable that nobody has set.
    fn is_unset(&self, shell: &Shell, word: &Word) -> bool {
        matches!(word.parts.as_slice(), [Part::Parameter(parameter)] if parameter.op.is_empty()
            && parameter.name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && shell.get(&parameter.name, self.environment).is_none())
    }

    fn assigned(&mut self, shell: &mut Shell, assignment: &Assignment, context: &Context) -> Vec<Value> {
        if let [Part::Array(words), ..] = assignment.value.parts.as_slice() {
            return words.iter().flat_map(|word| self.fields(shell, word, context)).collect();
        }
        if let Some(index) = &assignment.index {
            // What is nested in a subscript runs.
            self.joined(shell, index, context);
        }
        vec![self.single(shell, &assignment.value, context)]
    }

    fn assign(&mut self, shell: &mut Shell, assignment: &Assignment, values: Vec<Value>) {
        let is_array = matches!(assignment.value.parts.first(), Some(Part::Array(_)));
        let values = if let Some(index) = &assignment.index {
            let mut all = shell.get(&assignment.name, self.environment).unwrap_or_default();
            let place = match index.as_slice() {
                [Part::Text(text) | Part::Quoted(text)] => text.parse::<usize>().ok(),
                _ => None,
            };
            match (place, values.into_iter().next()) {
                (Some(place), Some(value)) if place < all.len() && !assignment.append => all[place] = value,
                (Some(place), Some(value)) if place == all.len() => all.push(value),
                // A list with gaps, or one by names: which element is which is not known from here on.
                _ => all = vec![hole()],
            }
            all
        } else if assignment.append {
            let mut before = shell.get(&assignment.name, self.environment).unwrap_or_default();
            if is_array {
                before.extend(values);
            } else if let Some(value) = values.first() {
                match before.first_mut() {
                    Some(first) => first.extend(value),
                    None => before.push(value.clone()),
                }
            }
            before
        } else {
            values
        };
        shell.set(&assignment.name, values, self.environment);
    }

    /// `local -a x=(…)`
    fn declared_array(&mut self, shell: &mut Shell, word: &Word, context: &Context) {
        if let [Part::Text(name), Part::Array(words)] = word.parts.as_slice() {
            let values = words.iter().flat_map(|word| self.fields(shell, word, context)).collect();
            let name = name.trim_end_matches('=').trim_end_matches('+').split('[').next().unwrap_or_default();
            shell.set(name, values, self.environment);
        }
    }

    /// A call with all its words known as far as they can be.
    fn call(&mut self, shell: &mut Shell, call: Call, context: &Context) -> After {
        self.step(2 + call.argv.len() / 4);
        if context.depth > 40 || self.is_over() {
            self.complete = false;
            return After::default();
        }
        let mut after =
            After { name: call.argv.first().and_then(Value::base_name).map(str::to_owned), ..After::default() };
        if call.prefix.is_empty()
            && let Some(function) = call.argv.first().and_then(Value::known).and_then(|name| shell.functions.get(name))
        {
            let function = function.clone();
            self.function(shell, call, function, context);
            return after;
        }
        let redirects: Vec<Redirect> = call.redirects.iter().chain(&shell.redirects).cloned().collect();
        let own = call.redirects.len();
        let temp = shell
            .get("TMPDIR", self.environment)
            .and_then(|values| values.first().and_then(Value::known).map(str::to_owned));
        if !redirects[..own].iter().any(|redirect| redirect.writes_file() && redirect.fd.is_none_or(|fd| fd == 1)) {
            after.output =
                output::of(&call.argv, shell.cwd(), &call.input, temp.as_deref().filter(|temp| !temp.is_empty()));
        }
        let folders = Rc::clone(&shell.folders);
        let command = Command {
            argv: &call.argv,
            assignments: &call.assignments,
            redirects: &redirects,
            cwd: &folders[0],
            scene: self.scene,
        };
        let inners =
            if call.dead || call.argv.is_empty() { Vec::new() } else { unwrap(&command, &call.input, self.custom) };
        let carried = inners
            .iter()
            .position(|inner| matches!(inner, Inner::Words { prefix: true, confidence: Confidence::Exact, .. }));
        after.failed = self.builtin(shell, &call.argv);
        let opaque = inners.iter().any(|inner| match inner {
            Inner::Opaque { .. } => true,
            Inner::Script { text, .. } => text::script(text).is_none(),
            Inner::Words { .. } | Inner::Argv { .. } => false,
        });
        // Not `git -c core.pager=…` or `awk 'system(…)'`: they do something of their own as well.
        let only_runs = command.name().is_some_and(|name| RUNNERS.contains(&name));
        let exact = |inner: &Inner| match inner {
            Inner::Script { confidence, .. } | Inner::Words { confidence, .. } => *confidence == Confidence::Exact,
            Inner::Argv { .. } | Inner::Opaque { .. } => false,
        };
        let transparent = !opaque && only_runs && inners.iter().any(exact);
        let told =
            |call: Call| Told { redirects, folders: Rc::clone(&folders), transparent, opaque, ..told(call, context) };
        if inners.is_empty() {
            self.tell(told(call));
            return after;
        }
        if carried.is_none() {
            self.tell(told(call.clone()));
        }
        for (index, inner) in inners.into_iter().enumerate() {
            let inner = self.inner(shell, &call, inner, Some(index) == carried, context);
            if Some(index) == carried {
                after.output = inner.output;
                after.name = inner.name;
                after.failed = after.failed.or(inner.failed);
            }
        }
        after
    }

    /// What a command runs in its turn.
    fn inner(&mut self, shell: &mut Shell, call: &Call, inner: Inner, carried: bool, context: &Context) -> After {
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
                let Some(script) = text::script(&text) else { return After::default() };
                let mut inside = self.inside(context, call, &via, confidence, true, elsewhere);
                inside.listed = context.listed && confidence == Confidence::Exact;
                let from_input =
                    [Source::Heredoc, Source::HereString, Source::Pipe].iter().any(|source| source.name() == via);
                inside.origin.fixed = Some(if from_input { call.input_span.clone() } else { place(call, &text) });
                if via == "trap" && self.subshells == 0 && context.via.is_empty() && shell.covered.is_empty() {
                    self.traps.push((script, inside));
                    return After::default();
                }
                let input = if stdin { call.input.clone() } else { Input::Inherited };
                if same_shell {
                    let outer = std::mem::replace(&mut shell.input, input);
                    self.script(shell, &script, inside);
                    shell.input = outer;
                } else {
                    let mut other = self.program(shell, call, &call.assignments, None, elsewhere);
                    if !args.is_empty() {
                        other.args = args;
                    }
                    other.input = input;
                    self.subshells += 1;
                    self.script(&mut other, &script, inside);
                    self.subshells -= 1;
                }
                After::default()
            }
            Inner::Opaque { .. } => After::default(),
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
        inside.elsewhere |= elsewhere;
        // What a container or a pod holds is not what these folders hold here.
        let remote =
            call.argv.first().and_then(Value::base_name).is_some_and(|name| matches!(name, "ssh" | "rsh" | "mosh"));
        if elsewhere && !remote {
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
            let folder = self.resolved(other.cwd(), cwd);
            other.enter(folder);
        }
        if elsewhere {
            other.forgetful = true;
        }
        other
    }

    /// A function of the script runs.
    fn function(&mut self, shell: &mut Shell, call: Call, function: super::shell::Function, context: &Context) {
        let again = self.active.iter().filter(|number| **number == function.number).count();
        let bomb = again > 0 && !context.conditional && context.forked;
        let folders = Rc::clone(&shell.folders);
        self.called(function.number);
        self.tell(Told {
            redirects: call.redirects.clone(),
            folders,
            transparent: true,
            bomb,
            ..told(call.clone(), context)
        });
        // Once more shows what a call of itself comes to; further rounds show the same.
        if again > 1 || call.dead {
            return;
        }
        let mut inside = context.clone();
        inside.depth += 1;
        inside.conditional = false;
        inside.origin = function.origin.clone();
        if inside.origin.fixed.is_none() && context.origin.fixed.is_some() {
            inside.origin.fixed.clone_from(&context.origin.fixed);
        }
        let mut args = vec![shell.args.first().cloned().unwrap_or_default()];
        args.extend_from_slice(&call.argv[1..]);
        let outer_args = std::mem::replace(&mut shell.args, args);
        let outer_input = std::mem::replace(&mut shell.input, call.input);
        let redirects = shell.redirects.len();
        shell.redirects.extend(call.redirects);
        shell.covered.push(HashMap::new());
        self.active.push(function.number);
        self.node(shell, &function.body, &inside);
        self.active.pop();
        shell.uncover();
        shell.redirects.truncate(redirects);
        shell.input = outer_input;
        shell.args = outer_args;
        shell.ended = false;
    }

    /// Redirects without a command.
    pub(super) fn redirected(&mut self, shell: &Shell, redirects: Vec<Redirect>, context: &Context) {
        let span = context.origin.fixed.clone().unwrap_or_else(|| self.outer.clone());
        let nothing = Call { redirects, span, ..Call::default() };
        self.tell(Told {
            redirects: nothing.redirects.clone(),
            folders: Rc::clone(&shell.folders),
            ..told(nothing, context)
        });
    }

    /// Writes a command down, once.
    fn tell(&mut self, told: Told) {
        let mut hasher = DefaultHasher::new();
        (told.span.start, &told.argv, &told.prefix, &told.via, &told.folders, &told.assigned).hash(&mut hasher);
        (told.bomb, told.confidence).hash(&mut hasher);
        for redirect in &told.redirects {
            (&redirect.op, &redirect.target).hash(&mut hasher);
        }
        if self.seen.insert(hasher.finish()) {
            self.told.push(told);
        }
    }
}

/// A call as it is written down.
fn told(call: Call, context: &Context) -> Told {
    Told {
        argv: call.argv,
        sources: call.sources,
        source: call.source,
        prefix: call.prefix,
        assignments: call.assignments,
        assigned: call.assigned,
        redirects: Vec::new(),
        folders: Rc::default(),
        via: Rc::clone(&context.via),
        span: call.span,
        confidence: context.confidence,
        listed: context.listed,
        dead: call.dead,
        transparent: false,
        opaque: false,
        bomb: false,
        uncalled: context.uncalled,
    }
}

/// The text that a command becomes when its head is an alias.
fn aliased(shell: &Shell, simple: &Simple, context: &Context) -> Option<String> {
    let head = simple.words.first().filter(|_| shell.expands)?;
    let alias = shell.aliases.get(head.bare()?)?;
    let before = context.origin.text.get(simple.span.start..head.span.start)?;
    let after = context.origin.text.get(head.span.end..simple.span.end)?;
    Some(format!("{before}{alias}{after}"))
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
