//! The output of lists: the output of the last command, or of either of two commands.

use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::simulated_shell::SimulatedShell;
use crate::parse::{
    AndOrList, AndOrOperator, CommandList, CommandNode, CommandNodeKind, PipelineSyntax, RedirectSyntax, WordSyntax,
};
use crate::word_value::{ValuePiece, WordValue};

impl CommandEvaluator<'_> {
    /// Evaluates commands in a subshell. Returns their output, if it is known.
    pub(super) fn output_in_subshell(
        &mut self,
        shell: &mut SimulatedShell,
        list: &CommandList,
        frame: &EvaluationFrame,
    ) -> Option<WordValue> {
        self.in_subshell(shell, |evaluator, shell| match list.as_slice() {
            [] => Some(WordValue::default()),
            [AndOrList { pipelines, .. }] if pipelines.len() == 1 => {
                evaluator.evaluate_pipeline(shell, &pipelines[0].1, frame).output
            }
            _ => {
                let alone = prints_last(shell, list);
                let printed = evaluator.evaluate_list(shell, list, frame).filter(|_| alone);
                if list.len() > 1 {
                    printed.and_then(|printed| any_possible_directory(shell, printed))
                } else {
                    printed
                }
            }
        })
    }
}

/// Whether only the last command of a list prints, and runs if anything is printed: `cd x && pwd`.
fn prints_last(shell: &SimulatedShell, list: &CommandList) -> bool {
    if let [AndOrList { pipelines, .. }] = list.as_slice()
        && pipelines.iter().skip(1).all(|(join, _)| *join == AndOrOperator::Or)
    {
        return true;
    }
    let mut all = list.iter().flat_map(|entry| entry.pipelines.iter().enumerate()).peekable();
    while let Some((place, (join, pipeline))) = all.next() {
        if all.peek().is_none() {
            return *join == AndOrOperator::And || list.last().is_some_and(|last| last.pipelines.len() == 1);
        }
        if place > 0 && *join != AndOrOperator::And {
            return false;
        }
        if !is_silent(shell, pipeline) {
            return false;
        }
    }
    false
}

/// Whether a pipeline prints nothing.
fn is_silent(shell: &SimulatedShell, pipeline: &PipelineSyntax) -> bool {
    let [CommandNode { kind: CommandNodeKind::Simple(simple), .. }] = pipeline.commands.as_slice() else {
        return false;
    };
    let away =
        |redirect: &RedirectSyntax| matches!(redirect.op, ">" | "&>" | ">>") && redirect.fd.is_none_or(|fd| fd == 1);
    let mut words = simple.words.iter().map(WordSyntax::bare);
    let program = words.by_ref().find(|word| !matches!(word, Some("builtin" | "command")));
    let silent = match program {
        None => simple.words.is_empty(),
        Some(Some(name @ ("cd" | ":" | "true" | "set" | "unset" | "umask" | "shift"))) => {
            !shell.functions.has(name) && !words.any(|word| word == Some("-"))
        }
        Some(_) => false,
    };
    silent || simple.redirects.iter().any(away)
}

/// The output of `pwd` behind a `cd` that may have failed: any of the directories.
fn any_possible_directory(shell: &SimulatedShell, printed: WordValue) -> Option<WordValue> {
    if shell.location.candidates.len() < 2 {
        return Some(printed);
    }
    if printed.known()?.trim_end() != shell.cwd().known()? {
        return None;
    }
    let directories = shell
        .location
        .candidates
        .iter()
        .map(|directory| directory.known().map(str::to_owned))
        .collect::<Option<_>>()?;
    let mut any = WordValue::default();
    any.push(ValuePiece::OneOf(directories));
    Some(any)
}

/// Returns the output of `a || b`, as far as both outputs agree. A program found in PATH keeps its name.
pub(super) fn one_printed(one: Option<WordValue>, other: Option<WordValue>) -> Option<WordValue> {
    let (one, other) = (one?, other?);
    if one == other {
        return Some(one);
    }
    let texts = |value: &WordValue| match value.pieces() {
        [ValuePiece::OneOf(texts)] => Some(texts.clone()),
        [ValuePiece::Unknown(_), ValuePiece::Text(name)] if name.starts_with('/') => {
            Some(vec![format!("/usr/bin{name}")])
        }
        _ => value.known().map(|text| vec![text.trim_end_matches('\n').to_owned()]),
    };
    if let (Some(mut all), Some(more)) = (texts(&one), texts(&other)) {
        all.extend(more);
        let mut any = WordValue::default();
        any.push(ValuePiece::OneOf(all));
        return Some(any);
    }
    let same = one.prefix().chars().zip(other.prefix().chars()).take_while(|(one, other)| one == other);
    let mut known = WordValue::of(same.map(|(next, _)| next).collect::<String>());
    known.push(ValuePiece::Unknown(false));
    Some(known)
}
