//! Words to their values.

use super::context::Context;
use super::output;
use super::parameter::Expanded;
use super::shell::{Shell, hole, number};
use super::text::{PARTING, push_closed, push_open};
use super::walk::Walker;
use super::{braces, parameter};
use crate::safety::read::{Kind, List, Nested, Part, Word};
use crate::safety::value::{Piece, Value};

/// Fields as they are put together.
#[derive(Default)]
struct Fields {
    done: Vec<Value>,
    current: Value,
    /// Something stands in the current one, be it empty.
    started: bool,
}

impl Fields {
    fn end(&mut self) {
        if std::mem::take(&mut self.started) || !self.current.pieces().is_empty() {
            self.done.push(std::mem::take(&mut self.current));
        }
    }

    /// What an unquoted expansion came to: blanks split it, globs in it mean something.
    fn split(&mut self, value: &Value, shell: &Shell) {
        let signs = match shell.separators() {
            None => " \t\n",
            Some(Some(signs)) => signs,
            Some(None) => {
                self.current.push(Piece::Hole(true));
                return;
            }
        };
        for piece in value.pieces() {
            match piece {
                Piece::Text(text) => {
                    for (index, part) in text.split(|sign| signs.contains(sign)).enumerate() {
                        if index > 0 {
                            self.end();
                        }
                        push_open(&mut self.current, part);
                    }
                }
                Piece::Hole(_) => self.current.push(Piece::Hole(true)),
                Piece::OneOf(texts) => {
                    let parted = |text: &String| text.replace(|sign| signs.contains(sign), PARTING);
                    self.current.push(Piece::OneOf(texts.iter().map(parted).collect()));
                }
                piece => self.current.push(piece.clone()),
            }
        }
    }
}

impl Walker<'_> {
    /// All fields that a word comes to.
    pub(super) fn fields(&mut self, shell: &mut Shell, word: &Word, context: &Context) -> Vec<Value> {
        self.step(1 + word.parts.len());
        let Some(words) = braces::expand(&word.parts) else { return vec![hole()] };
        let mut fields = Fields::default();
        for parts in words {
            self.parts(shell, &parts, &mut fields, context);
            fields.end();
        }
        self.step(fields.done.iter().map(Value::weight).sum::<usize>() / 64);
        fields.done
    }

    /// A word where it is not split: the value of an assignment, the target of a redirect.
    pub(super) fn single(&mut self, shell: &mut Shell, word: &Word, context: &Context) -> Value {
        self.step(1 + word.parts.len());
        let mut value = Value::default();
        let rest = tilde(&word.parts, &mut value, shell, self);
        for (index, part) in word.parts.iter().enumerate() {
            match part {
                // A tilde behind a colon may mean something.
                Part::Text(text) if text.contains(":~") => value.push(Piece::Hole(false)),
                Part::Text(text) => push_open(&mut value, if index == 0 { &text[rest..] } else { text }),
                part => self.quoted(shell, part, &mut value, context),
            }
        }
        self.step(value.weight() / 64);
        value
    }

    /// What stands between quotes, or in a heredoc.
    pub(super) fn joined(&mut self, shell: &mut Shell, parts: &[Part], context: &Context) -> Value {
        let mut value = Value::default();
        for part in parts {
            self.quoted(shell, part, &mut value, context);
        }
        value
    }

    fn parts(&mut self, shell: &mut Shell, parts: &[Part], fields: &mut Fields, context: &Context) {
        let rest = tilde(parts, &mut fields.current, shell, self);
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) => push_open(&mut fields.current, if index == 0 { &text[rest..] } else { text }),
                Part::Double(inner) => {
                    fields.started |= !only_list(inner);
                    for part in inner {
                        self.quoted_fields(shell, part, fields, context);
                    }
                }
                Part::Parameter(parameter) => {
                    let expanded = self.parameter(shell, parameter, context);
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
                    let value = self.substitution(shell, nested, context);
                    fields.split(&value, shell);
                }
                part => {
                    fields.started = true;
                    self.quoted(shell, part, &mut fields.current, context);
                }
            }
        }
    }

    fn quoted_fields(&mut self, shell: &mut Shell, part: &Part, fields: &mut Fields, context: &Context) {
        if let Part::Parameter(parameter) = part {
            match self.parameter(shell, parameter, context) {
                Expanded::Value(value) => fields.current.extend(&value),
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
            self.quoted(shell, part, &mut fields.current, context);
        }
    }

    /// One part where nothing is split.
    fn quoted(&mut self, shell: &mut Shell, part: &Part, value: &mut Value, context: &Context) {
        match part {
            Part::Text(text) | Part::Quoted(text) => push_closed(value, text),
            Part::Double(parts) => {
                for part in parts {
                    self.quoted(shell, part, value, context);
                }
            }
            Part::Parameter(parameter) => match self.parameter(shell, parameter, context) {
                Expanded::Value(found) => value.extend(&found),
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
                let found = self.substitution(shell, nested, context);
                // Of the lines of a search nobody knows how many there are.
                value.extend(&if is_search(&nested.list) { Value::unknown() } else { found });
            }
            Part::Arithmetic(parts) => {
                self.joined(shell, parts, context);
                value.extend(&number());
            }
            Part::Process(nested) => {
                let printed = self.nested(shell, nested, "process substitution", context);
                push_closed(value, "/dev/fd/");
                if printed.as_ref().is_some_and(output::is_shell_code) {
                    // A file like any other that a shell is given.
                    shell.forgetful = true;
                    push_closed(value, "63");
                } else {
                    value.push(Piece::Hole(false));
                }
            }
            Part::Pattern(text, parts) => {
                self.joined(shell, parts, context);
                value.push(Piece::Glob(text.clone()));
            }
            Part::Array(words) => {
                for word in words {
                    self.fields(shell, word, context);
                }
                value.push(Piece::Hole(true));
            }
        }
    }

    /// What a command substitution prints, as far as it is known.
    fn substitution(&mut self, shell: &mut Shell, nested: &Nested, context: &Context) -> Value {
        let printed = self.nested(shell, nested, "command substitution", context);
        // It sets variables where it is run.
        shell.forgetful |= printed.as_ref().is_some_and(output::is_shell_code);
        // Bash leaves out what `find -print0` puts between names.
        let joined = |value: &Value| {
            value.pieces().iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains('\0')))
        };
        printed.filter(|value| !joined(value)).map_or_else(hole, |value| output::trimmed(&value))
    }

    /// Follows commands in a shell of their own; what they print, where that is known.
    fn nested(&mut self, shell: &Shell, nested: &Nested, via: &str, context: &Context) -> Option<Value> {
        let mut context = context.inside(via);
        context.forked = true;
        if let Some(text) = &nested.text {
            context.origin.fixed.get_or_insert_with(|| self.outer.clone());
            context.origin.text = text.clone();
        }
        let mut inner = self.copy(shell);
        self.printed(&mut inner, &nested.list, &context)
    }
}

/// Whether its last pipeline begins with `find`.
fn is_search(list: &List) -> bool {
    let first =
        list.last().and_then(|entry| entry.pipelines.last()).and_then(|(_, pipeline)| pipeline.commands.first());
    let Some(Kind::Simple(simple)) = first.map(|node| &node.kind) else { return false };
    simple.words.iter().any(|word| matches!(word.bare(), Some("find" | "gfind")))
}

/// `"$@"` and `"${a[@]}"` come to no word at all where there are none.
fn only_list(parts: &[Part]) -> bool {
    matches!(parts, [Part::Parameter(parameter)] if parameter::is_list(parameter))
}

/// `~`, `~/…`, `~user`; returns how much of the first part it was.
fn tilde(parts: &[Part], value: &mut Value, shell: &Shell, walker: &Walker<'_>) -> usize {
    let Some(Part::Text(whole)) = parts.first() else { return 0 };
    // `of=~/x`: as in an assignment.
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
        "" => match shell.get("HOME", walker.environment) {
            Some(values) if values.len() == 1 => value.extend(&values[0]),
            _ => push_closed(value, &walker.scene.home),
        },
        "+" => value.extend(shell.cwd()),
        "-" => value.extend(&shell.before),
        "root" => push_closed(value, "/root"),
        user if user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) => {
            let home = walker.scene.home.rsplit_once('/').map_or("/home", |(folder, _)| folder);
            let folder = if home.is_empty() { "/home" } else { home };
            push_closed(value, &format!("{folder}/{user}"));
        }
        _ => push_closed(value, &text[..end]),
    }
    start + end
}
