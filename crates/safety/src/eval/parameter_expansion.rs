//! Expands `$x` and `${x…}`.

use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::numeric_output::leaves_digits;
use super::simulated_shell::{FieldSeparators, SimulatedShell};
use crate::glob::PathComponentGlob;
use crate::parse::{ParameterExpansion, ParameterOp, WordPart};
use crate::word_alternatives::{alternatives, is_choice};
use crate::word_value::{ValuePiece, WordValue};

/// Longest text that `#` and `%` cut, bytes.
const MAX_CUT: usize = 4096;
/// Longest pattern of `#` and `%`, bytes.
const MAX_PATTERN: usize = 256;

/// Elements of an array of which one may be meant.
const MAX_ANY: usize = 12;

/// The value of a parameter.
pub(super) enum ParameterValue {
    /// One text.
    Value(WordValue),
    /// `$@`, `${a[@]}`: each value is a word of its own, even between quotes.
    List(Vec<WordValue>),
}

/// Returns whether a parameter may expand to several words between quotes.
pub(super) fn is_list(parameter: &ParameterExpansion) -> bool {
    let all = parameter.index.as_deref().is_some_and(is_at);
    !parameter.length && (parameter.name == "@" || all)
}

fn is_at(index: &[WordPart]) -> bool {
    matches!(index, [WordPart::Text(text) | WordPart::Quoted(text)] if text == "@")
}

impl CommandEvaluator<'_> {
    /// Expands `$x` or `${x…}`.
    pub(super) fn expand_parameter(
        &mut self,
        shell: &mut SimulatedShell,
        parameter: &ParameterExpansion,
        frame: &EvaluationFrame,
    ) -> ParameterValue {
        self.budget.spend(1);
        if let Some(index) = &parameter.index {
            let subscript = self.expand_quoted_text(shell, index, frame);
            self.evaluate_subscript(shell, &parameter.name, &subscript, frame);
        }
        if parameter.length || (parameter.name == "#" && !parameter.indirect) {
            let count = self.count_of_parameter(shell, parameter);
            return ParameterValue::Value(
                count.map_or_else(WordValue::number, |count| WordValue::of(count.to_string())),
            );
        }
        if parameter.indirect {
            return self.expand_indirect(shell, parameter, frame);
        }
        let found = self.values_of_parameter(shell, parameter);
        if parameter.op == ParameterOp::None {
            return list(found, parameter);
        }
        let operand = self.expand_operand(shell, parameter, found.as_deref(), frame);
        match parameter.op {
            ParameterOp::Default { .. } => default_if_unset(found, operand, parameter),
            ParameterOp::Assign { .. } => {
                let missing = counts_as_unset(found.as_deref(), parameter.op);
                if missing != Some(false) {
                    let before = self.copy_shell(shell);
                    self.set_checked_variable(shell, &parameter.name, vec![operand.clone()], frame);
                    if missing.is_none() {
                        shell.join(before, self.environment);
                    }
                }
                default_if_unset(found, operand, parameter)
            }
            ParameterOp::Alternative { .. } => {
                ParameterValue::Value(match counts_as_unset(found.as_deref(), parameter.op) {
                    Some(true) => WordValue::default(),
                    Some(false) => operand,
                    None => value_or_operand(Some(vec![WordValue::default()]), operand),
                })
            }
            ParameterOp::Require { .. } => {
                // Bash gives up: the command that this word belongs to never runs.
                self.current.dead |= counts_as_unset(found.as_deref(), parameter.op) == Some(true);
                list(found, parameter)
            }
            ParameterOp::Slice if is_list(parameter) || parameter.name == "*" => {
                let values = found.unwrap_or_default();
                let from_zero = parameter.index.is_some();
                let places = operand.known().and_then(|range| slice(&values, range, from_zero));
                ParameterValue::List(places.unwrap_or_else(|| vec![WordValue::unknown_words()]))
            }
            op => {
                let values = found.unwrap_or_default();
                let changed = |value| apply_operator(value, op, &operand).derived_from(value).derived_from(&operand);
                list(Some(values.iter().map(changed).collect()), parameter)
            }
        }
    }

    /// `${!x}`
    fn expand_indirect(
        &mut self,
        shell: &mut SimulatedShell,
        parameter: &ParameterExpansion,
        frame: &EvaluationFrame,
    ) -> ParameterValue {
        self.expand_quoted_text(shell, &parameter.word, frame);
        if !is_list(parameter) {
            for name in self.values_of_parameter(shell, parameter).unwrap_or_default() {
                self.evaluate_variable_name(shell, &name, frame);
            }
        }
        let value = self.value_of_indirect_name(shell, &parameter.name).filter(|_| parameter.op == ParameterOp::None);
        ParameterValue::Value(value.unwrap_or_else(WordValue::unknown_words))
    }

    /// The text behind an operator. Evaluates what bash expands again.
    fn expand_operand(
        &mut self,
        shell: &mut SimulatedShell,
        parameter: &ParameterExpansion,
        found: Option<&[WordValue]>,
        frame: &EvaluationFrame,
    ) -> WordValue {
        let operand = self.expand_quoted_text(shell, &parameter.word, frame);
        match parameter.op {
            ParameterOp::Slice => self.evaluate_arithmetic(shell, &operand, frame),
            ParameterOp::Transform if operand.known() == Some("P") => {
                found.into_iter().flatten().for_each(|text| self.evaluate_prompt(shell, text, "prompt", frame));
            }
            _ => {}
        }
        // Quotes in it hold words together that are split around them.
        let has = |kind: fn(&WordPart) -> bool| parameter.word.iter().any(kind);
        let mixed = has(|part| matches!(part, WordPart::Text(_)))
            && has(|part| matches!(part, WordPart::Quoted(_) | WordPart::Double(_)));
        let splits = operand.known().is_some_and(|text| text.contains([' ', '\t']));
        if mixed && splits { WordValue::unknown_words() } else { operand }
    }

    /// `$#`, `${#x}`, `${#a[@]}`
    fn count_of_parameter(&self, shell: &SimulatedShell, parameter: &ParameterExpansion) -> Option<usize> {
        let all = parameter.index.as_deref().is_some_and(is_at) || matches!(parameter.name.as_str(), "#" | "@" | "*");
        let values = match parameter.name.as_str() {
            "#" => shell.args.get(1..)?.to_vec(),
            _ => self.values_of_parameter(shell, parameter).unwrap_or_default(),
        };
        if all {
            return (!values.iter().any(is_open)).then_some(values.len());
        }
        values.first().map_or(Some(0), |value| value.known().map(|text| text.chars().count()))
    }

    fn values_of_parameter(&self, shell: &SimulatedShell, parameter: &ParameterExpansion) -> Option<Vec<WordValue>> {
        let name = parameter.name.as_str();
        match name {
            "*" if shell.separators() != FieldSeparators::Default => {
                return Some(match shell.args.len() {
                    0 | 1 => Vec::new(),
                    2 => vec![shell.args[1].clone()],
                    // The words are joined by another character than a blank.
                    _ => vec![WordValue::unknown_words()],
                });
            }
            "@" | "*" => return Some(shell.args.get(1..).unwrap_or_default().to_vec()),
            "?" | "$" | "!" => return Some(vec![WordValue::number()]),
            "-" | "_" => return Some(vec![WordValue::unknown_words()]),
            _ => {}
        }
        if let Ok(place) = name.parse::<usize>() {
            return match shell.args.get(place) {
                Some(value) => Some(vec![value.clone()]),
                // No element of an unknown list is known.
                None if shell.args.last().is_some_and(|last| place > 0 && is_open(last)) => {
                    Some(vec![WordValue::unknown_words()])
                }
                None => None,
            };
        }
        let values = shell.get(name, self.environment)?;
        let Some(index) = &parameter.index else { return Some(values.into_iter().take(1).collect()) };
        if is_at(index) || matches!(index.as_slice(), [WordPart::Text(text) | WordPart::Quoted(text)] if text == "*") {
            return Some(values);
        }
        let place = match index.as_slice() {
            [WordPart::Text(text) | WordPart::Quoted(text)] => text.parse::<usize>().ok(),
            _ => None,
        };
        match place {
            Some(place) if !values.iter().take(place + 1).any(is_open) => {
                values.get(place).cloned().map(|value| vec![value])
            }
            _ => Some(vec![any_of(&values)]),
        }
    }

    fn value_of_indirect_name(&self, shell: &SimulatedShell, name: &str) -> Option<WordValue> {
        if name == "#" {
            // `${!#}` is the last argument.
            return shell.args.last().cloned();
        }
        let target = match name.parse::<usize>() {
            Ok(place) => shell.args.get(place)?.clone(),
            Err(_) => shell.get(name, self.environment)?.into_iter().next()?,
        };
        shell.get(target.known()?, self.environment)?.into_iter().next()
    }
}

/// Whether a parameter counts as not set, if that is known.
fn counts_as_unset(found: Option<&[WordValue]>, op: ParameterOp) -> Option<bool> {
    let empty_counts = matches!(
        op,
        ParameterOp::Default { empty: true }
            | ParameterOp::Assign { empty: true }
            | ParameterOp::Alternative { empty: true }
            | ParameterOp::Require { empty: true }
    );
    match found {
        None | Some([]) => Some(true),
        Some([value]) if empty_counts => {
            let has_text = |piece: &ValuePiece| matches!(piece, ValuePiece::Text(_) | ValuePiece::Glob(_));
            match value.known() {
                Some(text) => Some(text.is_empty()),
                None => value.pieces().iter().any(has_text).then_some(false),
            }
        }
        Some(_) => Some(false),
    }
}

/// `${x:-…}` and `${x:=…}`
fn default_if_unset(
    found: Option<Vec<WordValue>>,
    operand: WordValue,
    parameter: &ParameterExpansion,
) -> ParameterValue {
    match counts_as_unset(found.as_deref(), parameter.op) {
        Some(false) => list(found, parameter),
        Some(true) => ParameterValue::Value(operand),
        None => ParameterValue::Value(value_or_operand(found, operand)),
    }
}

/// Returns a value that may be any of these.
fn any_of(values: &[WordValue]) -> WordValue {
    let texts: Option<Vec<String>> =
        values.iter().flat_map(alternatives).map(|value| value.known().map(str::to_owned)).collect();
    match texts {
        Some(texts) if !texts.is_empty() && texts.len() <= MAX_ANY => {
            values.iter().fold(WordValue::from(ValuePiece::OneOf(texts)), WordValue::derived_from)
        }
        _ => WordValue::unknown_words(),
    }
}

/// Whether a value may be several words.
fn is_open(value: &WordValue) -> bool {
    matches!(value.pieces(), [ValuePiece::Unknown(true)])
}

fn list(found: Option<Vec<WordValue>>, parameter: &ParameterExpansion) -> ParameterValue {
    let values = found.unwrap_or_default();
    if is_list(parameter) {
        return ParameterValue::List(values);
    }
    let mut joined = WordValue::default();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            joined.push(ValuePiece::Text(" ".to_owned()));
        }
        joined.extend(value);
    }
    ParameterValue::Value(joined)
}

/// A value that may be missing, or the text used instead.
fn value_or_operand(found: Option<Vec<WordValue>>, operand: WordValue) -> WordValue {
    let known = |value: &WordValue| match value.pieces() {
        [ValuePiece::OneOf(texts)] => Some(texts.clone()),
        _ => value.known().map(|text| vec![text.to_owned()]),
    };
    let first = found.and_then(|values| values.into_iter().next()).unwrap_or_default();
    match (known(&first), known(&operand)) {
        (Some(mut texts), Some(more)) => {
            texts.retain(|text| !text.is_empty() || more.contains(text));
            texts.extend(more.into_iter().filter(|text| !text.is_empty()));
            WordValue::from(ValuePiece::OneOf(texts)).derived_from(&first).derived_from(&operand)
        }
        _ => WordValue::unknown_words().derived_from(&first).derived_from(&operand),
    }
}

/// Applies an operator that changes a value.
fn apply_operator(value: &WordValue, op: ParameterOp, operand: &WordValue) -> WordValue {
    if is_choice(value) {
        let changed: Vec<WordValue> =
            alternatives(value).iter().map(|text| apply_operator(text, op, operand)).collect();
        return any_of(&changed);
    }
    let Some(text) = value.known() else { return change_unknown(value, op, operand) };
    let Some(pattern) = operand.pattern() else { return WordValue::unknown_words() };
    let changed = match op {
        ParameterOp::CutFront { longest } => glob(text, &pattern).map(|glob| glob.cut_front(text, longest).to_owned()),
        ParameterOp::CutBack { longest } => glob(text, &pattern).map(|glob| glob.cut_back(text, longest).to_owned()),
        ParameterOp::Upper { all: true } if pattern.is_empty() => Some(text.to_uppercase()),
        ParameterOp::Lower { all: true } if pattern.is_empty() => Some(text.to_lowercase()),
        ParameterOp::Replace { all } if !pattern.contains(['*', '?', '[', '\\']) => {
            let (from, to) = pattern.split_once('/').unwrap_or((&pattern, ""));
            (!from.is_empty()).then(|| if all { text.replace(from, to) } else { text.replacen(from, to, 1) })
        }
        ParameterOp::Slice => substring(text, &pattern),
        _ => None,
    };
    changed.map_or_else(WordValue::unknown_words, WordValue::of)
}

/// `${d%/}` of each of `*/`. Any other change leaves a name that no glob describes.
fn change_unknown(value: &WordValue, op: ParameterOp, operand: &WordValue) -> WordValue {
    match (op, operand.known(), value.pieces()) {
        (ParameterOp::CutBack { .. }, Some("/"), [before @ .., ValuePiece::Text(last)]) if last.ends_with('/') => {
            let mut rest = WordValue::default();
            before.iter().for_each(|piece| rest.push(piece.clone()));
            rest.push(ValuePiece::Text(last[..last.len() - 1].to_owned()));
            rest
        }
        (ParameterOp::Replace { all: true }, ..) if operand.pattern().is_some_and(|text| leaves_digits(&text)) => {
            WordValue::number()
        }
        _ => WordValue::unknown_words(),
    }
}

/// The pattern of `#` and `%`. `None` for a group such as `+(a|b)`, whose meaning depends on extglob, and for long
/// texts, of which each place would be tried.
fn glob(text: &str, pattern: &str) -> Option<PathComponentGlob> {
    let readable = !pattern.contains('(') && text.len() <= MAX_CUT && pattern.len() <= MAX_PATTERN;
    readable.then(|| PathComponentGlob::parse(pattern))
}

/// `${@:2}`, `${a[@]:1:3}`: parameters are counted from 1, elements of arrays from 0.
fn slice(values: &[WordValue], range: &str, from_zero: bool) -> Option<Vec<WordValue>> {
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
