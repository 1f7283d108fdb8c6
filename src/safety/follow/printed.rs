//! What lists print: their last command alone, or one of two.

use super::context::Context;
use super::shell::Shell;
use super::walk::Walker;
use crate::safety::read::{AndOr, Join, Kind, List, Node, Pipeline, Redirection, Word};
use crate::safety::value::{Piece, Value};

impl Walker<'_> {
    /// Follows commands in a subshell of their own, and says what they print.
    pub(super) fn printed(&mut self, shell: &mut Shell, list: &List, context: &Context) -> Option<Value> {
        self.subshell(shell, |walker, shell| match list.as_slice() {
            [] => Some(Value::default()),
            [AndOr { pipelines, .. }] if pipelines.len() == 1 => {
                walker.pipeline(shell, &pipelines[0].1, context).output
            }
            _ => {
                let alone = prints_last(shell, list);
                let printed = walker.list(shell, list, context).filter(|_| alone);
                if list.len() > 1 { printed.and_then(|printed| wherever(shell, printed)) } else { printed }
            }
        })
    }
}

/// Whether only the last command of a list prints, and surely runs where anything is printed: `cd x && pwd`.
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

/// Whether it prints nothing.
fn is_silent(shell: &Shell, pipeline: &Pipeline) -> bool {
    let [Node { kind: Kind::Simple(simple), .. }] = pipeline.commands.as_slice() else { return false };
    let away =
        |redirect: &Redirection| matches!(redirect.op, ">" | "&>" | ">>") && redirect.fd.is_none_or(|fd| fd == 1);
    let mut words = simple.words.iter().map(Word::bare);
    let head = words.by_ref().find(|word| !matches!(word, Some("builtin" | "command")));
    let silent = match head {
        None => simple.words.is_empty(),
        Some(Some(name @ ("cd" | ":" | "true" | "set" | "unset" | "umask" | "shift"))) => {
            !shell.has_function(name) && !words.any(|word| word == Some("-"))
        }
        Some(_) => false,
    };
    silent || simple.redirects.iter().any(away)
}

/// What is printed where a `cd` before it may have failed: any of the folders.
fn wherever(shell: &Shell, printed: Value) -> Option<Value> {
    if shell.folders.len() < 2 {
        return Some(printed);
    }
    if printed.known()?.trim_end() != shell.cwd().known()? {
        return None;
    }
    let folders = shell.folders.iter().map(|folder| folder.known().map(str::to_owned)).collect::<Option<_>>()?;
    let mut any = Value::default();
    any.push(Piece::OneOf(folders));
    Some(any)
}

/// What `a || b` prints: that of one of them, as far as the two agree. Programs that are looked for have their names.
pub(super) fn one_printed(one: Option<Value>, other: Option<Value>) -> Option<Value> {
    let (one, other) = (one?, other?);
    if one == other {
        return Some(one);
    }
    let texts = |value: &Value| match value.pieces() {
        [Piece::OneOf(texts)] => Some(texts.clone()),
        [Piece::Hole(_), Piece::Text(name)] if name.starts_with('/') => Some(vec![format!("/usr/bin{name}")]),
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
    known.push(Piece::Hole(false));
    Some(known)
}
