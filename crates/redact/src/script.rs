//! Secrets in a script, by its structure: commands, assignments, heredocs, scripts within scripts.

use std::ops::Range;

use crate::command::{Reads, Words, basename};
use crate::decoded::Decoded;
use crate::lenient;
use crate::names::holds_secret;
use crate::spans::Spans;
use super::{text, triggers};
use safety::parse::{self, Assignment, Kind, Nested, Node, ParsedScript, Part, Pipeline, Redirection, Visitor};

/// Deepest nesting of scripts in words of other scripts.
const MAX_DEPTH: usize = 5;
/// Texts between backticks that are searched for in vain, at most.
const MAX_MISSES: usize = 64;

/// Finds the secrets of a script.
pub fn scan(script: &str, spans: &mut Spans) {
    nested(script, 0, spans);
}

fn nested(script: &str, depth: usize, spans: &mut Spans) {
    text::scan(&Decoded::whole(script), spans);
    let read = parse::read(script);
    let mut walk = Walk { script, read: &read, depth, spans, searched: 0, misses: 0 };
    parse::visit(&read, &mut walk);
    if read.script.fault.is_some() {
        // Bash refuses the rest, which may hold a secret all the same.
        let end = read.script.body.last().and_then(|last| last.pipelines.last());
        let end = end.and_then(|(_, last)| last.commands.last()).map_or(0, |last| last.span.end);
        for command in lenient::commands(script, end) {
            walk.command(&Words::of(script, command.into_iter()));
        }
    }
}

struct Walk<'t, 's> {
    script: &'t str,
    read: &'t ParsedScript,
    depth: usize,
    spans: &'s mut Spans,
    /// The end of the last text between backticks.
    searched: usize,
    misses: usize,
}

impl<'t> Walk<'t, '_> {
    fn words(&self, node: &Node) -> Words<'t> {
        match &node.kind {
            Kind::Simple(simple) => Words::of(self.script, simple.words.iter().map(|word| word.span.clone())),
            _ => Words(Vec::new()),
        }
    }

    /// The words of a command, and the scripts among them.
    fn command(&mut self, words: &Words<'_>) {
        words.scan(self.spans);
        for script in words.scripts() {
            self.within(script);
        }
        for word in words.0.iter().filter(|word| word.is_argument()) {
            text::scan(word, self.spans);
        }
    }

    /// A script in a word.
    fn within(&mut self, word: &Decoded<'_>) {
        if self.depth >= MAX_DEPTH || !triggers::may_hold(&word.text) {
            return;
        }
        let mut found = Spans::default();
        nested(&word.text, self.depth + 1, &mut found);
        for secret in found.iter() {
            // `bash -c "mysql -p'$PASSWORD'"`
            if !word.is_reference(secret.clone()) {
                self.spans.add(word.place(secret.clone()));
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        let word = Decoded::of(self.script, assignment.value.span.clone());
        let items = match assignment.value.parts.as_slice() {
            [Part::Array(items)] => items.iter().map(|item| Decoded::of(self.script, item.span.clone())).collect(),
            _ => vec![word],
        };
        for item in items {
            let whole = 0..item.text.len();
            if holds_secret(&assignment.name, &item.text) && !item.is_reference(whole.clone()) {
                self.spans.add(item.place(whole));
            } else if item.is_argument() {
                text::scan(&item, self.spans);
            }
        }
    }

    /// The text that a command reads by its own redirects.
    fn inputs(&mut self, redirects: &[Redirection], reads: Reads) {
        for redirect in redirects {
            match (redirect.op, redirect.heredoc, reads) {
                ("<<<", _, _) => self.input(redirect.target.span.clone(), reads),
                (_, Some(number), Reads::Secret) => {
                    let Some(body) = self.read.heredocs.get(number) else { continue };
                    self.spans.add(trimmed(self.script, body.span.clone()));
                }
                (_, Some(number), Reads::Script) => {
                    let Some(body) = self.read.heredocs.get(number) else { continue };
                    let text = Decoded::whole(self.script.get(body.span.clone()).unwrap_or_default());
                    let mut found = Spans::default();
                    if self.depth < MAX_DEPTH {
                        nested(&text.text, self.depth + 1, &mut found);
                    }
                    found.iter().for_each(|secret| {
                        self.spans.add(body.span.start + secret.start..body.span.start + secret.end);
                    });
                }
                _ => {}
            }
        }
    }

    /// The text of a here-string.
    fn input(&mut self, span: Range<usize>, reads: Reads) {
        let word = Decoded::of(self.script, span);
        let whole = 0..word.text.len();
        match reads {
            Reads::Secret if !word.is_reference(whole.clone()) => self.spans.add(word.place(whole)),
            Reads::Script => self.within(&word),
            Reads::Secret | Reads::Other => text::scan(&word, self.spans),
        }
    }

    /// The words that `echo` and `printf` write for a command that reads a secret.
    fn printed(&mut self, node: &Node) {
        let words = self.words(node);
        let Some(program) = words.0.first().map(|word| basename(&word.text).to_owned()) else { return };
        if program != "echo" && program != "printf" {
            return;
        }
        let formats = usize::from(program == "printf" && words.0.len() > 2);
        for word in words.0.iter().skip(1 + formats).filter(|word| !word.text.starts_with('-')) {
            let whole = 0..word.text.len();
            if !word.is_reference(whole.clone()) {
                self.spans.add(word.place(whole));
            }
        }
    }
}

impl Visitor for Walk<'_, '_> {
    fn pipeline(&mut self, pipeline: &Pipeline) {
        for pair in pipeline.commands.windows(2) {
            let [from, to] = pair else { continue };
            match self.words(to).reads() {
                Reads::Secret => self.printed(from),
                Reads::Script => {
                    let words = self.words(from);
                    let is_echo = words.0.first().is_some_and(|word| matches!(basename(&word.text), "echo" | "printf"));
                    for word in words.0.iter().skip(1).filter(|_| is_echo) {
                        self.within(word);
                    }
                }
                Reads::Other => {}
            }
        }
    }

    fn node(&mut self, node: &Node) {
        let words = self.words(node);
        let reads = words.reads();
        if let Kind::Simple(simple) = &node.kind {
            simple.assignments.iter().for_each(|assignment| self.assignment(assignment));
            self.inputs(&simple.redirects, reads);
        }
        self.inputs(&node.redirects, reads);
        self.command(&words);
    }

    fn enters(&mut self, nested: &Nested) -> bool {
        let Some(text) = &nested.text else { return true };
        // The places of commands between backticks are those of another text, which is usually a part of this one.
        if self.depth >= MAX_DEPTH || self.misses >= MAX_MISSES || !triggers::may_hold(text) {
            return false;
        }
        let rest = self.script.get(self.searched..).unwrap_or_default();
        let Some(at) = memchr::memmem::find(rest.as_bytes(), text.as_bytes()) else {
            self.misses += 1;
            return false;
        };
        let start = self.searched + at;
        self.searched = start + text.len();
        let mut found = Spans::default();
        self::nested(text, self.depth + 1, &mut found);
        found.iter().for_each(|secret| self.spans.add(start + secret.start..start + secret.end));
        false
    }
}

/// A place without the newline at its end.
fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let length = text.get(span.clone()).unwrap_or_default().trim_end().len();
    span.start..span.start + length
}
