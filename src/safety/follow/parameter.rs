//! `$x` and `${x…}`

use super::context::Context;
use super::shell::{Shell, hole, number};
use super::walk::Walker;
use crate::safety::glob::Glob;
use crate::safety::read::{Parameter, Part};
use crate::safety::value::{Piece, Value};

/// Longer texts are not cut.
const MAX_CUT: usize = 4096;
/// Longer patterns are not read whole.
const MAX_PATTERN: usize = 256;

/// The most elements of which one may be meant.
const MAX_ANY: usize = 12;

/// What a parameter comes to.
pub(super) enum Expanded {
    /// One text.
    Value(Value),
    /// `$@`, `${a[@]}`: each a word of its own between quotes, too.
    List(Vec<Value>),
}

/// Whether it may come to several words between quotes.
pub(super) fn is_list(parameter: &Parameter) -> bool {
    let all = parameter.index.as_deref().is_some_and(is_at);
    !parameter.length && (parameter.name == "@" || all)
}

fn is_at(index: &[Part]) -> bool {
    matches!(index, [Part::Text(text) | Part::Quoted(text)] if text == "@")
}

impl Walker<'_> {
    pub(super) fn parameter(&mut self, shell: &mut Shell, parameter: &Parameter, context: &Context) -> Expanded {
        self.step(1);
        if let Some(index) = &parameter.index {
            self.joined(shell, index, context);
        }
        if parameter.length || (parameter.name == "#" && !parameter.indirect) {
            return Expanded::Value(
                self.count(shell, parameter).map_or_else(number, |count| Value::of(count.to_string())),
            );
        }
        if parameter.indirect {
            self.joined(shell, &parameter.word, context);
            return match self.indirect(shell, &parameter.name) {
                Some(value) if parameter.op.is_empty() => Expanded::Value(value),
                _ => Expanded::Value(hole()),
            };
        }
        let found = self.found(shell, parameter);
        let colon = parameter.op.starts_with(':');
        let missing = match &found {
            None => Some(true),
            Some(values) if colon => match values.as_slice() {
                [] => Some(true),
                [value] => match value.known() {
                    Some(text) => Some(text.is_empty()),
                    None if value.pieces().iter().any(|piece| matches!(piece, Piece::Text(_) | Piece::Glob(_))) => {
                        Some(false)
                    }
                    None => None,
                },
                _ => Some(false),
            },
            Some(values) => Some(values.is_empty()),
        };
        let operand = match parameter.op.as_str() {
            "" => Value::default(),
            _ => self.joined(shell, &parameter.word, context),
        };
        // Quotes in it hold words together that are split around them.
        let mixed = parameter.word.iter().any(|part| matches!(part, Part::Text(_)))
            && parameter.word.iter().any(|part| matches!(part, Part::Quoted(_) | Part::Double(_)));
        let operand =
            if mixed && operand.known().is_some_and(|text| text.contains([' ', '\t'])) { hole() } else { operand };
        match parameter.op.as_str() {
            ":-" | "-" | ":=" | "=" => match missing {
                Some(false) => list(found, parameter),
                Some(true) => {
                    if parameter.op.ends_with('=') {
                        shell.set(&parameter.name, vec![operand.clone()], self.environment);
                    }
                    Expanded::Value(operand)
                }
                None => Expanded::Value(either(found, operand)),
            },
            ":+" | "+" => match missing {
                Some(true) => Expanded::Value(Value::default()),
                Some(false) => Expanded::Value(operand),
                None => Expanded::Value(either(Some(vec![Value::default()]), operand)),
            },
            ":?" | "?" => {
                // Bash gives up: what the word stands in never runs.
                self.dead |= missing == Some(true);
                list(found, parameter)
            }
            "" => list(found, parameter),
            ":" if is_list(parameter) || parameter.name == "*" => {
                let values = found.unwrap_or_default();
                let from_zero = parameter.index.is_some();
                Expanded::List(
                    operand.known().and_then(|range| slice(&values, range, from_zero)).unwrap_or_else(|| vec![hole()]),
                )
            }
            op => {
                let values = found.unwrap_or_default();
                let changed: Vec<Value> = values.iter().map(|value| change(value, op, &operand)).collect();
                list(Some(changed), parameter)
            }
        }
    }

    /// `$#`, `${#x}`, `${#a[@]}`
    fn count(&self, shell: &Shell, parameter: &Parameter) -> Option<usize> {
        let all = parameter.index.as_deref().is_some_and(is_at) || matches!(parameter.name.as_str(), "#" | "@" | "*");
        let values = match parameter.name.as_str() {
            "#" => shell.args.get(1..)?.to_vec(),
            _ => self.found(shell, parameter).unwrap_or_default(),
        };
        if all {
            return (!values.iter().any(is_open)).then_some(values.len());
        }
        values.first().map_or(Some(0), |value| value.known().map(|text| text.chars().count()))
    }

    fn found(&self, shell: &Shell, parameter: &Parameter) -> Option<Vec<Value>> {
        let name = parameter.name.as_str();
        match name {
            "*" if shell.separators().is_some() => {
                return Some(match shell.args.len() {
                    0 | 1 => Vec::new(),
                    2 => vec![shell.args[1].clone()],
                    // Joined by something else than a blank.
                    _ => vec![hole()],
                });
            }
            "@" | "*" => return Some(shell.args.get(1..).unwrap_or_default().to_vec()),
            "?" | "$" | "!" => return Some(vec![number()]),
            "-" | "_" => return Some(vec![hole()]),
            _ => {}
        }
        if let Ok(place) = name.parse::<usize>() {
            return match shell.args.get(place) {
                Some(value) => Some(vec![value.clone()]),
                // Of a list that is not known no place is.
                None if shell.args.last().is_some_and(|last| place > 0 && is_open(last)) => Some(vec![hole()]),
                None => None,
            };
        }
        let values = shell.get(name, self.environment)?;
        let Some(index) = &parameter.index else { return Some(values.into_iter().take(1).collect()) };
        if is_at(index) || matches!(index.as_slice(), [Part::Text(text) | Part::Quoted(text)] if text == "*") {
            return Some(values);
        }
        let place = match index.as_slice() {
            [Part::Text(text) | Part::Quoted(text)] => text.parse::<usize>().ok(),
            _ => None,
        };
        match place {
            Some(place) if !values.iter().take(place + 1).any(is_open) => {
                values.get(place).cloned().map(|value| vec![value])
            }
            _ => Some(vec![any_of(&values)]),
        }
    }

    fn indirect(&self, shell: &Shell, name: &str) -> Option<Value> {
        if name == "#" {
            // `${!#}`: the last one.
            return shell.args.last().cloned();
        }
        let target = match name.parse::<usize>() {
            Ok(place) => shell.args.get(place)?.clone(),
            Err(_) => shell.get(name, self.environment)?.into_iter().next()?,
        };
        shell.get(target.known()?, self.environment)?.into_iter().next()
    }
}

/// One of these, whichever.
fn any_of(values: &[Value]) -> Value {
    let texts: Option<Vec<String>> = values.iter().map(|value| value.known().map(str::to_owned)).collect();
    match texts {
        Some(texts) if !texts.is_empty() && texts.len() <= MAX_ANY => {
            let mut any = Value::default();
            any.push(Piece::OneOf(texts));
            any
        }
        _ => hole(),
    }
}

/// Several words, perhaps.
fn is_open(value: &Value) -> bool {
    matches!(value.pieces(), [Piece::Hole(true)])
}

fn list(found: Option<Vec<Value>>, parameter: &Parameter) -> Expanded {
    let values = found.unwrap_or_default();
    if is_list(parameter) {
        return Expanded::List(values);
    }
    let mut joined = Value::default();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            joined.push(Piece::Text(" ".to_owned()));
        }
        joined.extend(value);
    }
    Expanded::Value(joined)
}

/// A value that may be missing, or what stands for it then.
fn either(found: Option<Vec<Value>>, operand: Value) -> Value {
    let known = |value: &Value| match value.pieces() {
        [Piece::OneOf(texts)] => Some(texts.clone()),
        _ => value.known().map(|text| vec![text.to_owned()]),
    };
    let first = found.and_then(|values| values.into_iter().next()).unwrap_or_default();
    match (known(&first), known(&operand)) {
        (Some(mut texts), Some(more)) => {
            texts.retain(|text| !text.is_empty() || more.contains(text));
            texts.extend(more.into_iter().filter(|text| !text.is_empty()));
            let mut value = Value::default();
            value.push(Piece::OneOf(texts));
            value
        }
        _ => hole(),
    }
}

/// `#`, `%`, `/`, `^` and the like.
fn change(value: &Value, op: &str, operand: &Value) -> Value {
    let Some(text) = value.known() else {
        // `${d%/}` of each of `*/`. What else is cut off such a name leaves what no glob says.
        return match (op, operand.known(), value.pieces()) {
            ("%" | "%%", Some("/"), [before @ .., Piece::Text(last)]) if last.ends_with('/') => {
                let mut rest = Value::default();
                before.iter().for_each(|piece| rest.push(piece.clone()));
                rest.push(Piece::Text(last[..last.len() - 1].to_owned()));
                rest
            }
            _ => hole(),
        };
    };
    let pattern = operand.pattern();
    let changed = match (op, pattern) {
        // What a group such as `+(a|b)` means depends on extglob.
        ("#" | "##" | "%" | "%%", Some(pattern)) if pattern.contains('(') => None,
        // Each place of a long text would be tried.
        ("#" | "##" | "%" | "%%", Some(pattern)) if text.len() > MAX_CUT || pattern.len() > MAX_PATTERN => None,
        ("#" | "##", Some(pattern)) => Some(Glob::parse(&pattern).cut_front(text, op == "##").to_owned()),
        ("%" | "%%", Some(pattern)) => Some(Glob::parse(&pattern).cut_back(text, op == "%%").to_owned()),
        ("^^", Some(pattern)) if pattern.is_empty() => Some(text.to_uppercase()),
        (",,", Some(pattern)) if pattern.is_empty() => Some(text.to_lowercase()),
        ("/" | "//", Some(pattern)) if !pattern.contains(['*', '?', '[', '\\']) => {
            let (from, to) = pattern.split_once('/').unwrap_or((&pattern, ""));
            let all = op == "//";
            (!from.is_empty()).then(|| if all { text.replace(from, to) } else { text.replacen(from, to, 1) })
        }
        (":", Some(range)) => substring(text, &range),
        _ => None,
    };
    changed.map_or_else(hole, Value::of)
}

/// `${@:2}`, `${a[@]:1:3}`: places of parameters are counted from 1, those of arrays from 0.
fn slice(values: &[Value], range: &str, from_zero: bool) -> Option<Vec<Value>> {
    if values.iter().any(is_open) {
        return None;
    }
    let (offset, length) = range.split_once(':').map_or((range, None), |(offset, length)| (offset, Some(length)));
    let offset = offset.trim().parse::<usize>().ok()?;
    let offset = if from_zero { offset } else { offset.checked_sub(1)? };
    let count = length.map_or(Some(usize::MAX), |length| length.trim().parse().ok())?;
    Some(values.iter().skip(offset).take(count).cloned().collect())
}

fn substring(text: &str, range: &str) -> Option<String> {
    let (offset, length) = range.split_once(':').map_or((range, None), |(offset, length)| (offset, Some(length)));
    let offset = offset.trim().parse::<usize>().ok()?;
    let chars = text.chars().skip(offset);
    Some(match length {
        Some(length) => chars.take(length.trim().parse().ok()?).collect(),
        None => chars.collect(),
    })
}
