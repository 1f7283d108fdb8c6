//! Expands words to their values.

use std::borrow::Borrow;

use super::evaluator::Evaluator;
use super::frame::Frame;
use super::output;
use super::parameter::Expanded;
use super::shell::{Separators, Shell};
use super::text::{push_closed, push_open};
use super::{braces, parameter};
use crate::choices::PARTING;
use crate::parse::{Kind, List, Nested, Part, Word};
use crate::value::{Contents, Piece, Value};

/// The fields of a word while they are put together.
#[derive(Default)]
struct Fields {
    done: Vec<Value>,
    current: Value,
    /// Whether the current field exists, even if it is empty.
    started: bool,
}

impl Fields {
    fn end(&mut self) {
        if std::mem::take(&mut self.started) || !self.current.pieces().is_empty() {
            self.done.push(std::mem::take(&mut self.current));
        }
    }

    /// Adds the value of an unquoted expansion: blanks split it, globs in it count.
    fn split(&mut self, value: &Value, shell: &Shell) {
        let signs = match shell.separators() {
            Separators::Default => " \t\n",
            Separators::Set(signs) => signs,
            Separators::Unknown => {
                self.current.derive(value);
                self.current.push(Piece::Unknown(true));
                return;
            }
        };
        self.current.derive(value);
        for piece in value.pieces() {
            match piece {
                Piece::Text(text) => {
                    for (index, part) in text.split(|sign| signs.contains(sign)).enumerate() {
                        if index > 0 {
                            self.end();
                            self.current.derive(value);
                        }
                        push_open(&mut self.current, part);
                    }
                }
                Piece::Unknown(_) => self.current.push(Piece::Unknown(true)),
                Piece::OneOf(texts) => {
                    let parted = |text: &String| text.replace(|sign| signs.contains(sign), PARTING);
                    self.current.push(Piece::OneOf(texts.iter().map(parted).collect()));
                }
                piece => self.current.push(piece.clone()),
            }
        }
    }
}

impl Evaluator<'_> {
    /// Expands a word to its fields.
    pub(super) fn fields(&mut self, shell: &mut Shell, word: &Word, frame: &Frame) -> Vec<Value> {
        self.budget.spend(1 + word.parts.len());
        let mut fields = Fields::default();
        if braces::may_have(&word.parts) {
            let mut steps = 0;
            let words = braces::expand(&word.parts, &mut steps);
            self.budget.spend(steps / 2);
            let Some(words) = words else { return vec![Value::unknown_words()] };
            for parts in words {
                self.parts(shell, &parts, &mut fields, frame);
                fields.end();
            }
        } else {
            self.parts(shell, &word.parts, &mut fields, frame);
            fields.end();
        }
        self.budget.spend(fields.done.iter().map(Value::weight).sum::<usize>() / 64);
        fields.done
    }

    /// Expands a word that is not split: the value of an assignment, the target of a redirect.
    pub(super) fn single(&mut self, shell: &mut Shell, word: &Word, frame: &Frame) -> Value {
        self.budget.spend(1 + word.parts.len());
        let mut value = Value::default();
        let rest = tilde(&word.parts, &mut value, shell, self);
        for (index, part) in word.parts.iter().enumerate() {
            match part {
                // A tilde behind a colon may be expanded.
                Part::Text(text) if text.contains(":~") => value.push(Piece::Unknown(false)),
                Part::Text(text) => push_open(&mut value, if index == 0 { &text[rest..] } else { text }),
                part => self.quoted(shell, part, &mut value, frame),
            }
        }
        self.budget.spend(value.weight() / 64);
        value
    }

    /// Expands text between double quotes, or in a heredoc.
    pub(super) fn joined(&mut self, shell: &mut Shell, parts: &[Part], frame: &Frame) -> Value {
        let mut value = Value::default();
        for part in parts {
            self.quoted(shell, part, &mut value, frame);
        }
        value
    }

    fn parts<P: Borrow<Part>>(&mut self, shell: &mut Shell, parts: &[P], fields: &mut Fields, frame: &Frame) {
        let rest = tilde(parts, &mut fields.current, shell, self);
        for (index, part) in parts.iter().map(Borrow::borrow).enumerate() {
            match part {
                Part::Text(text) => push_open(&mut fields.current, if index == 0 { &text[rest..] } else { text }),
                Part::Double(inner) => {
                    fields.started |= !only_list(inner);
                    for part in inner {
                        self.quoted_fields(shell, part, fields, frame);
                    }
                }
                Part::Parameter(parameter) => {
                    let expanded = self.parameter(shell, parameter, frame);
                    match expanded {
                        Expanded::Value(value) => fields.split(&value, shell),
                        Expanded::List(values) => {
                            for (index, value) in values.iter().enumerate() {
                                if index > 0 {
                                    fields.end();
                                }
                                fields.split(value, shell);
                            }
                        }
                    }
                }
                Part::Command(nested) => {
                    let value = self.substitution(shell, nested, frame);
                    fields.split(&value, shell);
                }
                part => {
                    fields.started = true;
                    self.quoted(shell, part, &mut fields.current, frame);
                }
            }
        }
    }

    fn quoted_fields(&mut self, shell: &mut Shell, part: &Part, fields: &mut Fields, frame: &Frame) {
        if let Part::Parameter(parameter) = part {
            match self.parameter(shell, parameter, frame) {
                Expanded::Value(value) => fields.current.extend_quoted(&value),
                Expanded::List(values) => {
                    for (index, value) in values.iter().enumerate() {
                        if index > 0 {
                            fields.started = true;
                            fields.end();
                        }
                        fields.started = true;
                        fields.current.extend(value);
                    }
                }
            }
        } else {
            fields.started = true;
            self.quoted(shell, part, &mut fields.current, frame);
        }
    }

    /// Expands one part of text that is not split.
    fn quoted(&mut self, shell: &mut Shell, part: &Part, value: &mut Value, frame: &Frame) {
        match part {
            Part::Text(text) | Part::Quoted(text) => push_closed(value, text),
            Part::Double(parts) => {
                for part in parts {
                    self.quoted(shell, part, value, frame);
                }
            }
            Part::Parameter(parameter) => match self.parameter(shell, parameter, frame) {
                Expanded::Value(found) => value.extend_quoted(&found),
                Expanded::List(values) => {
                    for (index, found) in values.iter().enumerate() {
                        if index > 0 {
                            push_closed(value, " ");
                        }
                        value.extend(found);
                    }
                }
            },
            Part::Command(nested) => {
                let found = self.substitution(shell, nested, frame);
                // The number of lines that a search prints is not known.
                value.derive(&found);
                value.extend(&if is_search(&nested.list) { Value::unknown() } else { found });
            }
            Part::Arithmetic(parts) => {
                self.expression(shell, parts, frame);
                value.extend(&Value::number());
            }
            Part::Process(nested) => {
                let (printed, contents) = self.nested(shell, nested, "process substitution", frame);
                value.derive(&Value::default().with_contents(contents.as_ref()));
                push_closed(value, "/dev/fd/");
                if printed.as_ref().is_some_and(output::is_shell_code) {
                    // The shell reads it as it reads any file.
                    shell.variables.forgetful = true;
                    push_closed(value, "63");
                } else {
                    value.push(Piece::Unknown(false));
                }
            }
            Part::Pattern(pattern) => {
                self.joined(shell, &pattern.parts, frame);
                value.push(Piece::Glob(pattern.source.clone()));
            }
            Part::Array(words) => {
                for word in words {
                    self.fields(shell, word, frame);
                }
                value.push(Piece::Unknown(true));
            }
        }
    }

    /// The output of a command substitution, as far as it is known.
    fn substitution(&mut self, shell: &mut Shell, nested: &Nested, frame: &Frame) -> Value {
        let (printed, contents) = self.nested(shell, nested, "command substitution", frame);
        // The shell that runs it gets other variables.
        shell.variables.forgetful |= printed.as_ref().is_some_and(output::is_shell_code);
        // Bash drops the NULs that `find -print0` puts between names.
        let joined = |value: &Value| {
            value.pieces().iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains('\0')))
        };
        let value =
            printed.filter(|value| !joined(value)).map_or_else(Value::unknown_words, |value| output::trimmed(&value));
        value.with_contents(contents.as_ref())
    }

    /// Evaluates commands in a subshell. Returns their output, if it is known, and its contents.
    fn nested(
        &mut self,
        shell: &Shell,
        nested: &Nested,
        via: &str,
        frame: &Frame,
    ) -> (Option<Value>, Option<Contents>) {
        let mut frame = frame.inside(via);
        frame.forked = true;
        if let Some(text) = &nested.text {
            frame.origin.fixed.get_or_insert_with(|| self.current.span.clone());
            frame.origin.text = text.clone();
        }
        let mut inner = self.copy(shell);
        self.watched(|evaluator| evaluator.printed(&mut inner, &nested.list, &frame))
    }
}

/// Whether the last pipeline of a list begins with `find`.
fn is_search(list: &List) -> bool {
    let first =
        list.last().and_then(|entry| entry.pipelines.last()).and_then(|(_, pipeline)| pipeline.commands.first());
    let Some(Kind::Simple(simple)) = first.map(|node| &node.kind) else { return false };
    simple.words.iter().any(|word| matches!(word.bare(), Some("find" | "gfind")))
}

/// Whether a word is `"$@"` or `"${a[@]}"` alone. It expands to no word at all if the list is empty.
fn only_list(parts: &[Part]) -> bool {
    matches!(parts, [Part::Parameter(parameter)] if parameter::is_list(parameter))
}

/// Expands `~`, `~/…` and `~user`. Returns the length of the tilde and its name in the first part.
fn tilde<P: Borrow<Part>>(parts: &[P], value: &mut Value, shell: &Shell, evaluator: &Evaluator<'_>) -> usize {
    let Some(Part::Text(whole)) = parts.first().map(Borrow::borrow) else { return 0 };
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
