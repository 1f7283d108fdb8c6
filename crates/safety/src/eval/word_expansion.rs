//! Expands words to their values.

use std::borrow::Borrow;

use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::parameter_expansion::ParameterValue;
use super::partial_text::{push_closed, push_open};
use super::predictable_output;
use super::simulated_shell::{FieldSeparators, SimulatedShell};
use super::{brace_expansion, parameter_expansion};
use crate::parse::{CommandList, CommandNodeKind, SubstitutedCommands, WordPart, WordSyntax};
use crate::word_alternatives::PARTING;
use crate::word_value::{ValueContents, ValuePiece, WordValue};

/// The fields of a word while they are put together.
#[derive(Default)]
struct FieldBuilder {
    done: Vec<WordValue>,
    current: WordValue,
    /// Whether the current field exists, even if it is empty.
    started: bool,
}

impl FieldBuilder {
    fn end_field(&mut self) {
        if std::mem::take(&mut self.started) || !self.current.pieces().is_empty() {
            self.done.push(std::mem::take(&mut self.current));
        }
    }

    /// Adds the value of an unquoted expansion: blanks split it, globs in it count.
    fn push_unquoted(&mut self, value: &WordValue, shell: &SimulatedShell) {
        let signs = match shell.separators() {
            FieldSeparators::Default => " \t\n",
            FieldSeparators::Set(signs) => signs,
            FieldSeparators::Unknown => {
                self.current.derive(value);
                self.current.push(ValuePiece::Unknown(true));
                return;
            }
        };
        self.current.derive(value);
        for piece in value.pieces() {
            match piece {
                ValuePiece::Text(text) => {
                    for (index, part) in text.split(|sign| signs.contains(sign)).enumerate() {
                        if index > 0 {
                            self.end_field();
                            self.current.derive(value);
                        }
                        push_open(&mut self.current, part);
                    }
                }
                ValuePiece::Unknown(_) => self.current.push(ValuePiece::Unknown(true)),
                ValuePiece::OneOf(texts) => {
                    let parted = |text: &String| text.replace(|sign| signs.contains(sign), PARTING);
                    self.current.push(ValuePiece::OneOf(texts.iter().map(parted).collect()));
                }
                piece => self.current.push(piece.clone()),
            }
        }
    }
}

impl CommandEvaluator<'_> {
    /// Expands a word to its fields.
    pub(super) fn expand_fields(
        &mut self,
        shell: &mut SimulatedShell,
        word: &WordSyntax,
        frame: &EvaluationFrame,
    ) -> Vec<WordValue> {
        self.budget.spend(1 + word.parts.len());
        let mut fields = FieldBuilder::default();
        if brace_expansion::may_have(&word.parts) {
            let mut steps = 0;
            let words = brace_expansion::expand(&word.parts, &mut steps);
            self.budget.spend(steps / 2);
            let Some(words) = words else { return vec![WordValue::unknown_words()] };
            for parts in words {
                self.expand_parts(shell, &parts, &mut fields, frame);
                fields.end_field();
            }
        } else {
            self.expand_parts(shell, &word.parts, &mut fields, frame);
            fields.end_field();
        }
        self.budget.spend(fields.done.iter().map(WordValue::weight).sum::<usize>() / 64);
        fields.done
    }

    /// Expands a word that is not split: the value of an assignment, the target of a redirect.
    pub(super) fn expand_unsplit(
        &mut self,
        shell: &mut SimulatedShell,
        word: &WordSyntax,
        frame: &EvaluationFrame,
    ) -> WordValue {
        self.budget.spend(1 + word.parts.len());
        let mut value = WordValue::default();
        let rest = expand_tilde(&word.parts, &mut value, shell, self);
        for (index, part) in word.parts.iter().enumerate() {
            match part {
                // A tilde behind a colon may be expanded.
                WordPart::Text(text) if text.contains(":~") => value.push(ValuePiece::Unknown(false)),
                WordPart::Text(text) => push_open(&mut value, if index == 0 { &text[rest..] } else { text }),
                part => self.expand_unsplit_part(shell, part, &mut value, frame),
            }
        }
        self.budget.spend(value.weight() / 64);
        value
    }

    /// Expands text between double quotes, or in a heredoc.
    pub(super) fn expand_quoted_text(
        &mut self,
        shell: &mut SimulatedShell,
        parts: &[WordPart],
        frame: &EvaluationFrame,
    ) -> WordValue {
        let mut value = WordValue::default();
        for part in parts {
            self.expand_unsplit_part(shell, part, &mut value, frame);
        }
        value
    }

    fn expand_parts<P: Borrow<WordPart>>(
        &mut self,
        shell: &mut SimulatedShell,
        parts: &[P],
        fields: &mut FieldBuilder,
        frame: &EvaluationFrame,
    ) {
        let rest = expand_tilde(parts, &mut fields.current, shell, self);
        for (index, part) in parts.iter().map(Borrow::borrow).enumerate() {
            match part {
                WordPart::Text(text) => push_open(&mut fields.current, if index == 0 { &text[rest..] } else { text }),
                WordPart::Double(inner) => {
                    fields.started |= !only_list(inner);
                    for part in inner {
                        self.quoted_fields(shell, part, fields, frame);
                    }
                }
                WordPart::Parameter(parameter) => {
                    let expanded = self.expand_parameter(shell, parameter, frame);
                    match expanded {
                        ParameterValue::Value(value) => fields.push_unquoted(&value, shell),
                        ParameterValue::List(values) => {
                            for (index, value) in values.iter().enumerate() {
                                if index > 0 {
                                    fields.end_field();
                                }
                                fields.push_unquoted(value, shell);
                            }
                        }
                    }
                }
                WordPart::Command(nested) => {
                    let value = self.substitution_output(shell, nested, frame);
                    fields.push_unquoted(&value, shell);
                }
                part => {
                    fields.started = true;
                    self.expand_unsplit_part(shell, part, &mut fields.current, frame);
                }
            }
        }
    }

    fn quoted_fields(
        &mut self,
        shell: &mut SimulatedShell,
        part: &WordPart,
        fields: &mut FieldBuilder,
        frame: &EvaluationFrame,
    ) {
        if let WordPart::Parameter(parameter) = part {
            match self.expand_parameter(shell, parameter, frame) {
                ParameterValue::Value(value) => fields.current.extend_quoted(&value),
                ParameterValue::List(values) => {
                    for (index, value) in values.iter().enumerate() {
                        if index > 0 {
                            fields.started = true;
                            fields.end_field();
                        }
                        fields.started = true;
                        fields.current.extend(value);
                    }
                }
            }
        } else {
            fields.started = true;
            self.expand_unsplit_part(shell, part, &mut fields.current, frame);
        }
    }

    /// Expands one part of text that is not split.
    fn expand_unsplit_part(
        &mut self,
        shell: &mut SimulatedShell,
        part: &WordPart,
        value: &mut WordValue,
        frame: &EvaluationFrame,
    ) {
        match part {
            WordPart::Text(text) | WordPart::Quoted(text) => push_closed(value, text),
            WordPart::Double(parts) => {
                for part in parts {
                    self.expand_unsplit_part(shell, part, value, frame);
                }
            }
            WordPart::Parameter(parameter) => match self.expand_parameter(shell, parameter, frame) {
                ParameterValue::Value(found) => value.extend_quoted(&found),
                ParameterValue::List(values) => {
                    for (index, found) in values.iter().enumerate() {
                        if index > 0 {
                            push_closed(value, " ");
                        }
                        value.extend(found);
                    }
                }
            },
            WordPart::Command(nested) => {
                let found = self.substitution_output(shell, nested, frame);
                // The number of lines that a search prints is not known.
                value.derive(&found);
                value.extend(&if is_search(&nested.list) { WordValue::unknown() } else { found });
            }
            WordPart::Arithmetic(parts) => {
                self.evaluate_arithmetic_command(shell, parts, frame);
                value.extend(&WordValue::number());
            }
            WordPart::Process(nested) => {
                let (printed, contents) = self.evaluate_substitution(shell, nested, "process substitution", frame);
                value.derive(&WordValue::default().with_contents(contents.as_ref()));
                push_closed(value, "/dev/fd/");
                if printed.as_ref().is_some_and(predictable_output::is_shell_code) {
                    // The shell reads it as it reads any file.
                    shell.variables.forgetful = true;
                    push_closed(value, "63");
                } else {
                    value.push(ValuePiece::Unknown(false));
                }
            }
            WordPart::Pattern(pattern) => {
                self.expand_quoted_text(shell, &pattern.parts, frame);
                value.push(ValuePiece::Glob(pattern.source.clone()));
            }
            WordPart::Array(words) => {
                for word in words {
                    self.expand_fields(shell, word, frame);
                }
                value.push(ValuePiece::Unknown(true));
            }
        }
    }

    /// The output of a command substitution, as far as it is known.
    fn substitution_output(
        &mut self,
        shell: &mut SimulatedShell,
        nested: &SubstitutedCommands,
        frame: &EvaluationFrame,
    ) -> WordValue {
        let (printed, contents) = self.evaluate_substitution(shell, nested, "command substitution", frame);
        // The shell that runs it gets other variables.
        shell.variables.forgetful |= printed.as_ref().is_some_and(predictable_output::is_shell_code);
        // Bash drops the NULs that `find -print0` puts between names.
        let joined = |value: &WordValue| {
            value.pieces().iter().any(|piece| matches!(piece, ValuePiece::Text(text) if text.contains('\0')))
        };
        let value = printed
            .filter(|value| !joined(value))
            .map_or_else(WordValue::unknown_words, |value| predictable_output::trimmed(&value));
        value.with_contents(contents.as_ref())
    }

    /// Evaluates commands in a subshell. Returns their output, if it is known, and its contents.
    fn evaluate_substitution(
        &mut self,
        shell: &SimulatedShell,
        nested: &SubstitutedCommands,
        via: &str,
        frame: &EvaluationFrame,
    ) -> (Option<WordValue>, Option<ValueContents>) {
        let mut frame = frame.nested_via(via);
        frame.forked = true;
        if let Some(text) = &nested.text {
            frame.origin.fixed.get_or_insert_with(|| self.current.span.clone());
            frame.origin.text = text.clone();
        }
        let mut inner = self.copy_shell(shell);
        self.with_printed_contents(|evaluator| evaluator.output_in_subshell(&mut inner, &nested.list, &frame))
    }
}

/// Whether the last pipeline of a list begins with `find`.
fn is_search(list: &CommandList) -> bool {
    let first =
        list.last().and_then(|entry| entry.pipelines.last()).and_then(|(_, pipeline)| pipeline.commands.first());
    let Some(CommandNodeKind::Simple(simple)) = first.map(|node| &node.kind) else { return false };
    simple.words.iter().any(|word| matches!(word.bare(), Some("find" | "gfind")))
}

/// Whether a word is `"$@"` or `"${a[@]}"` alone. It expands to no word at all if the list is empty.
fn only_list(parts: &[WordPart]) -> bool {
    matches!(parts, [WordPart::Parameter(parameter)] if parameter_expansion::is_list(parameter))
}

/// Expands `~`, `~/…` and `~user`. Returns the length of the tilde and its name in the first part.
fn expand_tilde<P: Borrow<WordPart>>(
    parts: &[P],
    value: &mut WordValue,
    shell: &SimulatedShell,
    evaluator: &CommandEvaluator<'_>,
) -> usize {
    let Some(WordPart::Text(whole)) = parts.first().map(Borrow::borrow) else { return 0 };
    // `of=~/x` counts as an assignment.
    let name = whole.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let start = if name > 0 && whole[name..].starts_with("=~") { name + 1 } else { 0 };
    let text = &whole[start..];
    if !text.starts_with('~') {
        return 0;
    }
    let end = text.find('/').unwrap_or(text.len());
    if end == text.len() && parts.len() > 1 {
        return 0;
    }
    push_closed(value, &whole[..start]);
    match &text[1..end] {
        "" => match shell.get("HOME", evaluator.environment) {
            Some(values) if values.len() == 1 => value.extend(&values[0]),
            _ => push_closed(value, &evaluator.directories.home),
        },
        "+" => value.extend(shell.cwd()),
        "-" => value.extend(&shell.location.previous),
        "root" => push_closed(value, "/root"),
        user if user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) => {
            let home = evaluator.directories.home.rsplit_once('/').map_or("/home", |(directory, _)| directory);
            let directory = if home.is_empty() { "/home" } else { home };
            push_closed(value, &format!("{directory}/{user}"));
        }
        _ => push_closed(value, &text[..end]),
    }
    start + end
}
