//! Simple commands: expands their words and makes their assignments.

use super::command_lists::CommandEffects;
use super::evaluation_frame::EvaluationFrame;
use super::evaluator::{CommandEvaluator, CurrentCommand};
use super::program_call::ProgramCall;
use super::simulated_shell::SimulatedShell;
use crate::parse::{AssignmentSyntax, ParameterOp, UnexpandedCommand, WordPart, WordSyntax};
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::unwrap::{InnerCommand, unwrap};
use crate::word_value::{ValuePiece, WordValue};

/// Words of wrappers before a program that is not set.
const MAX_WRAPPING: usize = 12;

impl CommandEvaluator<'_> {
    /// Evaluates a simple command whose program is not an alias.
    pub(super) fn evaluate_unaliased(
        &mut self,
        shell: &mut SimulatedShell,
        simple: &UnexpandedCommand,
        frame: &EvaluationFrame,
    ) -> CommandEffects {
        let span = frame.origin.fixed.clone().unwrap_or_else(|| simple.span.clone());
        let current = CurrentCommand { span: span.clone(), dead: false };
        let outer = std::mem::replace(&mut self.current, current);
        let mut call = ProgramCall {
            argv: Vec::with_capacity(simple.words.len()),
            sources: Vec::with_capacity(simple.words.len()),
            source: frame.origin.text.get(simple.span.clone()).unwrap_or_default().to_owned(),
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
            let source = frame.origin.text.get(word.span.clone()).unwrap_or_default();
            let at = frame.origin.fixed.clone().unwrap_or_else(|| word.span.clone());
            let mut values = self.expand_fields(shell, word, frame);
            if values.is_empty() && self.is_unset(shell, word) && self.is_program(shell, &call) {
                values.push(WordValue::unknown_words());
            }
            for value in values {
                call.argv.push(value);
                call.sources.push(source.to_owned());
                call.spans.push(at.clone());
            }
        }
        let (redirects, input) = self.evaluate_redirects(shell, &simple.redirects, frame);
        call.redirects = redirects;
        if let Some((input, at)) = input {
            call.input = input;
            call.input_span = frame.origin.fixed.clone().unwrap_or(at);
        }
        for assignment in &simple.assignments {
            let values = self.expand_assigned_values(shell, assignment, frame);
            call.assigned.push(assignment.source.clone());
            let value = if values.len() == 1 { values[0].clone() } else { WordValue::unknown_words() };
            // Assignments before a program are for that program only. Without a program they last.
            if simple.words.is_empty() {
                self.apply_assignment(shell, assignment, values, frame);
            }
            call.assignments.push((assignment.name.clone(), value));
        }
        call.dead = self.current.dead;
        let arrays = simple.words.iter().filter(|word| matches!(word.parts.last(), Some(WordPart::Array(_))));
        let after = self.evaluate_call(shell, call, frame);
        for word in arrays {
            self.declared_array(shell, word, frame);
        }
        self.current = outer;
        after
    }

    /// Whether the next word is the program of a command: `$X -rf /` or `sudo $X` without an X. The program that was
    /// meant is not known, whatever bash runs.
    fn is_program(&self, shell: &SimulatedShell, call: &ProgramCall) -> bool {
        if call.argv.len() > MAX_WRAPPING {
            return false;
        }
        let mut argv = call.argv.clone();
        argv.push(WordValue::unknown_words());
        let mut from = 0;
        for _ in 0..MAX_WRAPPING {
            if from + 1 == argv.len() {
                return true;
            }
            let rest = SimpleCommandView {
                argv: &argv[from..],
                assignments: &[],
                redirects: &[],
                cwd: shell.cwd(),
                input: &CommandStdin::Inherited,
                via: &[],
                directories: self.directories,
            };
            let inners = unwrap(&rest, &CommandStdin::Inherited, self.custom);
            let begins = |text: &WordValue| matches!(text.pieces().first(), Some(ValuePiece::Unknown(_)));
            if inners.iter().any(|inner| match inner {
                InnerCommand::Words { from: at, .. } => from + at + 1 == argv.len(),
                InnerCommand::Script { text, .. } => begins(text),
                InnerCommand::Opaque { .. } => true,
                InnerCommand::Argv { .. } => false,
            }) {
                return true;
            }
            let next = inners.iter().find_map(|inner| match inner {
                InnerCommand::Words { from, .. } if *from > 0 => Some(*from),
                _ => None,
            });
            match next {
                Some(next) => from += next,
                None => return false,
            }
        }
        false
    }

    /// Returns whether a word is a single variable that is not set.
    fn is_unset(&self, shell: &SimulatedShell, word: &WordSyntax) -> bool {
        matches!(word.parts.as_slice(), [WordPart::Parameter(parameter)] if parameter.op == ParameterOp::None
            && parameter.name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && shell.get(&parameter.name, self.environment).is_none())
    }

    fn expand_assigned_values(
        &mut self,
        shell: &mut SimulatedShell,
        assignment: &AssignmentSyntax,
        frame: &EvaluationFrame,
    ) -> Vec<WordValue> {
        if let [WordPart::Array(words), ..] = assignment.value.parts.as_slice() {
            return self.expand_array_elements(shell, &assignment.name, words, frame);
        }
        if let Some(index) = &assignment.index {
            let subscript = self.expand_quoted_text(shell, index, frame);
            self.evaluate_subscript(shell, &assignment.name, &subscript, frame);
        }
        vec![self.expand_unsplit(shell, &assignment.value, frame).assigned()]
    }

    /// The elements between the parentheses of an array.
    fn expand_array_elements(
        &mut self,
        shell: &mut SimulatedShell,
        name: &str,
        words: &[WordSyntax],
        frame: &EvaluationFrame,
    ) -> Vec<WordValue> {
        let has_key =
            |word: &WordSyntax| matches!(word.parts.first(), Some(WordPart::Text(text)) if text.starts_with('['));
        let by_keys = words.iter().any(has_key);
        let values: Vec<WordValue> = words.iter().flat_map(|word| self.expand_fields(shell, word, frame)).collect();
        if !by_keys {
            return values;
        }
        let Some(keyed) = values.iter().map(split_keyed_element).collect::<Option<Vec<(String, WordValue)>>>() else {
            self.evaluate_subscript(shell, name, &WordValue::unknown_words(), frame);
            return vec![WordValue::unknown_words()];
        };
        for (key, _) in &keyed {
            self.evaluate_subscript(shell, name, &WordValue::of(key.as_str()), frame);
        }
        by_key(keyed)
    }

    fn apply_assignment(
        &mut self,
        shell: &mut SimulatedShell,
        assignment: &AssignmentSyntax,
        values: Vec<WordValue>,
        frame: &EvaluationFrame,
    ) {
        let is_array = matches!(assignment.value.parts.first(), Some(WordPart::Array(_)));
        let values = if let Some(index) = &assignment.index {
            let mut all = shell.get(&assignment.name, self.environment).unwrap_or_default();
            let place = match index.as_slice() {
                [WordPart::Text(text) | WordPart::Quoted(text)] => text.parse::<usize>().ok(),
                _ => None,
            };
            match (place, values.into_iter().next()) {
                (Some(place), Some(value)) if place < all.len() && !assignment.append => all[place] = value,
                (Some(place), Some(value)) if place == all.len() => all.push(value),
                // In an array with gaps or with names, no element is known from here on.
                _ => all = vec![WordValue::unknown_words()],
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
        self.assign_to(shell, &assignment.name, values, frame);
    }

    /// Sets the array of `local -a x=(…)`.
    fn declared_array(&mut self, shell: &mut SimulatedShell, word: &WordSyntax, frame: &EvaluationFrame) {
        if let [WordPart::Text(name), WordPart::Array(words)] = word.parts.as_slice() {
            let name = name.trim_end_matches('=').trim_end_matches('+').split('[').next().unwrap_or_default();
            let values = self.expand_array_elements(shell, name, words, frame);
            self.assign_to(shell, name, values, frame);
        }
    }
}

/// The key and the value of `[key]=value`. The key was expanded as a glob, which it is not.
fn split_keyed_element(word: &WordValue) -> Option<(String, WordValue)> {
    let mut key = String::new();
    for (at, piece) in word.pieces().iter().enumerate() {
        match piece {
            ValuePiece::Text(text) | ValuePiece::Glob(text) => key.push_str(text),
            ValuePiece::OneOf(_) | ValuePiece::Unknown(_) => return None,
        }
        if let Some((name, begun)) = key.split_once("]=") {
            let mut value = WordValue::of(begun);
            word.pieces()[at + 1..].iter().for_each(|piece| value.push(piece.clone()));
            return Some((name.trim_start_matches('[').to_owned(), value.derived_from(word)));
        }
    }
    None
}

/// The elements of `([0]=a [x]=b)`: by place if all keys are numbers, otherwise in the order of the text.
fn by_key(words: Vec<(String, WordValue)>) -> Vec<WordValue> {
    let mut places = Vec::new();
    let mut values = Vec::new();
    for (key, value) in words {
        values.push(value);
        places.push(key.parse::<usize>().ok().filter(|place| *place < 64));
    }
    let Some(places) = places.into_iter().collect::<Option<Vec<usize>>>() else { return values };
    let mut placed = vec![WordValue::default(); places.iter().max().map_or(0, |last| last + 1)];
    for (place, value) in places.into_iter().zip(values) {
        placed[place] = value;
    }
    placed
}
