//! A simple command as it is written: its words expanded, its assignments made.

use super::call::Call;
use super::context::Context;
use super::shell::{Shell, hole};
use super::walk::{After, Walker};
use crate::safety::command::{Command, Input};
use crate::safety::read::{Assignment, Part, Simple, Word};
use crate::safety::unwrap::{Inner, unwrap};
use crate::safety::value::{Piece, Value};

/// The most words of wrappers before a head that is not set.
const MAX_WRAPPING: usize = 12;

impl Walker<'_> {
    /// A simple command without aliases.
    pub(super) fn unaliased(&mut self, shell: &mut Shell, simple: &Simple, context: &Context) -> After {
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
            return self.elements(shell, words, context);
        }
        if let Some(index) = &assignment.index {
            // What is nested in a subscript runs.
            self.joined(shell, index, context);
        }
        vec![self.single(shell, &assignment.value, context)]
    }

    /// What stands between the parentheses of a list.
    fn elements(&mut self, shell: &mut Shell, words: &[Word], context: &Context) -> Vec<Value> {
        let keyed = |word: &Word| matches!(word.parts.first(), Some(Part::Text(text)) if text.starts_with('['));
        let by_keys = words.iter().any(keyed);
        let values: Vec<Value> = words.iter().flat_map(|word| self.fields(shell, word, context)).collect();
        if by_keys { by_key(&values) } else { values }
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
            let values = self.elements(shell, words, context);
            let name = name.trim_end_matches('=').trim_end_matches('+').split('[').next().unwrap_or_default();
            shell.set(name, values, self.environment);
        }
    }
}

/// The elements of `([0]=a [x]=b)`: by their places where all of them are numbers, else all that there are.
fn by_key(words: &[Value]) -> Vec<Value> {
    let mut places = Vec::new();
    let mut values = Vec::new();
    for word in words {
        // The key was read as a glob, which it is not here.
        let Some(text) = word.pattern() else { return vec![hole()] };
        let Some((key, value)) = text.split_once("]=") else { return vec![hole()] };
        values.push(Value::of(value));
        places.push(key.trim_start_matches('[').parse::<usize>().ok().filter(|place| *place < 64));
    }
    let Some(places) = places.into_iter().collect::<Option<Vec<usize>>>() else { return values };
    let mut placed = vec![Value::default(); places.iter().max().map_or(0, |last| last + 1)];
    for (place, value) in places.into_iter().zip(values) {
        placed[place] = value;
    }
    placed
}
