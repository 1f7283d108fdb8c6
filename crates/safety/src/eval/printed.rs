//! The output of lists: the output of the last command, or of either of two commands.

use super::evaluator::Evaluator;
use super::frame::Frame;
use super::shell::Shell;
use crate::parse::{AndOr, Join, Kind, List, Node, Pipeline, Redirection, Word};
use crate::value::{Piece, Value};

impl Evaluator<'_> {
    /// Evaluates commands in a subshell. Returns their output, if it is known.
    pub(super) fn printed(&mut self, shell: &mut Shell, list: &List, frame: &Frame) -> Option<Value> {
        self.subshell(shell, |evaluator, shell| match list.as_slice() {
            [] => Some(Value::default()),
            [AndOr { pipelines, .. }] if pipelines.len() == 1 => {
                evaluator.pipeline(shell, &pipelines[0].1, frame).output
            }
            _ => {
                let alone = prints_last(shell, list);
                let printed = evaluator.list(shell, list, frame).filter(|_| alone);
                if list.len() > 1 { printed.and_then(|printed| wherever(shell, printed)) } else { printed }
            }
        })
    }
}

/// Whether only the last command of a list prints, and runs if anything is printed: `cd x && pwd`.
fn prints_last(shell: &Shell, list: &List) -> bool {
    if let [AndOr { pipelines, .. }] = list.as_slice()
        && pipelines.iter().skip(1).all(|(join, _)| *join == Join::Or)
    {
        return true;
    }
    let mut all = list.iter().flat_map(|entry| entry.pipelines.iter().enumerate()).peekable();
    while let Some((place, (join, pipeline))) = all.next() {
        if all.peek().is_none() {
            return *join == Join::And || list.last().is_some_and(|last| last.pipelines.len() == 1);
        }
        if place > 0 && *join != Join::And {
            return false;
        }
        if !is_silent(shell, pipeline) {
            return false;
        }
    }
    false
}

/// Whether a pipeline prints nothing.
fn is_silent(shell: &Shell, pipeline: &Pipeline) -> bool {
    let [Node { kind: Kind::Simple(simple), .. }] = pipeline.commands.as_slice() else { return false };
    let away =
        |redirect: &Redirection| matches!(redirect.op, ">" | "&>" | ">>") && redirect.fd.is_none_or(|fd| fd == 1);
    let mut words = simple.words.iter().map(Word::bare);
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
fn wherever(shell: &Shell, printed: Value) -> Option<Value> {
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
    let mut any = Value::default();
    any.push(Piece::OneOf(directories));
    Some(any)
}

/// Returns the output of `a || b`, as far as both outputs agree. A program found in PATH keeps its name.
pub(super) fn one_printed(one: Option<Value>, other: Option<Value>) -> Option<Value> {
    let (one, other) = (one?, other?);
    if one == other {
        return Some(one);
    }
    let texts = |value: &Value| match value.pieces() {
        [Piece::OneOf(texts)] => Some(texts.clone()),
        [Piece::Unknown(_), Piece::Text(name)] if name.starts_with('/') => Some(vec![format!("/usr/bin{name}")]),
        _ => value.known().map(|text| vec![text.trim_end_matches('\n').to_owned()]),
    };
    if let (Some(mut all), Some(more)) = (texts(&one), texts(&other)) {
        all.extend(more);
        let mut any = Value::default();
        any.push(Piece::OneOf(all));
        return Some(any);
    }
    let same = one.prefix().chars().zip(other.prefix().chars()).take_while(|(one, other)| one == other);
    let mut known = Value::of(same.map(|(next, _)| next).collect::<String>());
    known.push(Piece::Unknown(false));
    Some(known)
}
