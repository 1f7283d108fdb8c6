//! A call of a program, or of a function: told, and followed into what it runs in its turn.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::context::{Context, MAX_DEPTH};
use super::output;
use super::prior::hold_function;
use super::shell::{Function, Shell};
use super::text;
use super::told::Told;
use super::walk::{After, Walker};
use crate::safety::command::{Command, Input, Redirect};
use crate::safety::level::Confidence;
use crate::safety::read::Span;
use crate::safety::tables::arity::RUNNERS;
use crate::safety::unwrap::{Inner, unwrap};
use crate::safety::value::Value;

/// Commands that do not fail, so that what follows `&&` is run.
const SUCCEEDING: [&str; 10] = [":", "alias", "echo", "export", "printf", "set", "shopt", "trap", "true", "unset"];
/// How often a function is followed into itself with other words each time.
const MAX_AGAIN: usize = 16;

/// One call of a program.
#[derive(Clone, Default)]
pub(super) struct Call {
    pub argv: Vec<Value>,
    pub sources: Vec<String>,
    pub source: String,
    pub spans: Vec<Span>,
    pub prefix: Vec<String>,
    pub assignments: Vec<(String, Value)>,
    pub assigned: Vec<String>,
    pub redirects: Vec<Redirect>,
    pub input: Input,
    /// Where the text on standard input stands.
    pub input_span: Span,
    pub span: Span,
    pub dead: bool,
}

impl Walker<'_> {
    /// A call with all its words known as far as they can be.
    pub(super) fn call(&mut self, shell: &mut Shell, call: Call, context: &Context) -> After {
        self.step(2 + call.argv.len() / 4);
        if context.depth > MAX_DEPTH || self.is_over() {
            self.complete = false;
            return After::default();
        }
        let name = call.argv.first().and_then(Value::base_name);
        let succeeds = name.is_some_and(|name| SUCCEEDING.contains(&name));
        let mut after = After { name: name.map(str::to_owned), succeeds, ..After::default() };
        if call.prefix.is_empty()
            && let Some(function) = call.argv.first().and_then(Value::known).and_then(|name| self.named(shell, name))
        {
            self.function(shell, call, function, context);
            return after;
        }
        if self.prepares && name == Some("eval") && hold_function(shell, &call.argv) {
            return after;
        }
        let redirects: Vec<Redirect> = call.redirects.iter().chain(&shell.redirects).cloned().collect();
        let own = call.redirects.len();
        let temp = || {
            let values = shell.get("TMPDIR", self.environment)?;
            values.first()?.known().filter(|folder| !folder.is_empty()).map(str::to_owned)
        };
        if !redirects[..own].iter().any(|redirect| redirect.writes_file() && redirect.fd.is_none_or(|fd| fd == 1)) {
            after.output = output::of(&call.argv, shell.cwd(), &call.input, temp);
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
            Inner::Script { text, .. } => text::scripts(text).is_empty(),
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

    /// A function of the script runs.
    fn function(&mut self, shell: &mut Shell, call: Call, function: Function, context: &Context) {
        let again = self.active.iter().filter(|(number, _)| *number == function.number).count();
        let same = self.active.iter().any(|(number, argv)| *number == function.number && *argv == call.argv);
        let may_end = context.conditional || self.ending.last() == Some(&true);
        let bomb = again > 0 && !may_end && context.forked;
        let folders = Rc::clone(&shell.folders);
        self.called(function.number);
        self.tell(Told {
            redirects: call.redirects.clone(),
            folders,
            transparent: true,
            bomb,
            ..told(call.clone(), context)
        });
        // With the words that it runs with already it comes to the same again.
        if same || call.dead {
            return;
        }
        if again >= MAX_AGAIN {
            // Words that grow with each call, as those of a walk through folders, come to nothing else either.
            self.complete &= call.argv.iter().any(|word| word.known().is_none());
            return;
        }
        let mut inside = context.clone();
        inside.depth += 1;
        inside.conditional = false;
        inside.origin = function.origin.clone();
        if inside.origin.fixed.is_none() && context.origin.fixed.is_some() {
            inside.origin.fixed.clone_from(&context.origin.fixed);
        }
        if inside.origin.earlier {
            // It stands nowhere in the command but where it is called.
            inside.origin.fixed.get_or_insert_with(|| call.span.clone());
        }
        let mut args = vec![shell.args.first().cloned().unwrap_or_default()];
        args.extend_from_slice(&call.argv[1..]);
        let outer_args = std::mem::replace(&mut shell.args, args);
        let outer_input = std::mem::replace(&mut shell.input, call.input);
        let redirects = shell.redirects.len();
        shell.redirects.extend(call.redirects);
        shell.covered.push(HashMap::new());
        self.active.push((function.number, call.argv));
        self.returned.push(Vec::new());
        self.ending.push(false);
        let after = self.node(shell, &function.body, &inside);
        let mut states = self.returned.pop().unwrap_or_default();
        states.extend(after.failed.map(|failed| *failed));
        self.ending.pop();
        self.active.pop();
        self.rejoin(shell, states);
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
        if self.prepares {
            return;
        }
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
