//! What the text of a command can hide where the ends of its parts are not known.

use safety::Utf16Offsets;
use safety::parse::AndOrOperator;

use crate::builtins::{is_builtin, is_opaque, starts_programs};
use crate::types::{By, NotKnown, cut};
use crate::units::{Id, Role, Shape, Units};

/// Builtins that do not fail.
const HARMLESS: [&str; 4] = [":", "echo", "printf", "true"];
/// Most commands that are looked at.
const MOST: usize = 1_000;

/// Returns the first command whose failure the text can hide, preferably one of a pipeline. `ended`: whether the end of
/// a unit is known.
pub fn not_known(units: &Units, ended: impl Fn(Id) -> bool, utf16: &Utf16Offsets) -> Option<NotKnown> {
    let rules = Rules::of(units);
    let candidates = units.ids().filter(|id| can_fail(units, *id) && !ended(*id)).take(MOST);
    let hidden = candidates.filter_map(|id| rules.hidden(units, id)).filter(|hidden| !ended(hidden.unit));
    let mut first = None;
    for hidden in hidden {
        if hidden.by == By::Pipe {
            first = Some(hidden);
            break;
        }
        first.get_or_insert(hidden);
    }
    let hidden = first?;
    let unit = &units[hidden.unit];
    let span = unit.span.as_ref().map(|span| utf16.span(span));
    let behind = hidden.behind.map(|id| cut(&units[id].source));
    Some(NotKnown { command: cut(&unit.source), span, by: hidden.by, behind })
}

/// Returns whether a unit is a command that can be a part or start one. Only a call of a function runs its body.
fn can_fail(units: &Units, id: Id) -> bool {
    let Shape::Simple { words } = &units[id].shape else { return false };
    let runs = match words.first() {
        Some(Some(name)) if is_builtin(name) => {
            is_opaque(name) || starts_programs(name) || units.is_apart(id) && !HARMLESS.contains(&name.as_str())
        }
        Some(_) => true,
        None => false,
    };
    runs && !units.around(id).any(|around| matches!(units[around].shape, Shape::Function { .. }))
}

/// A command whose failure can be hidden.
#[derive(Clone, Copy)]
struct Hidden {
    unit: Id,
    by: By,
    /// What runs in its place or after it.
    behind: Option<Id>,
}

/// What the shell's own options and the rest of the text say of hidden codes.
struct Rules {
    errexit: bool,
    pipefail: bool,
    /// Whether the text asks for the codes of elements.
    elements: bool,
}

impl Rules {
    fn of(units: &Units) -> Self {
        let options = |id: &Id| match &units[*id].shape {
            Shape::Simple { words } => words.first().is_some_and(|name| name.as_deref() == Some("set")),
            _ => false,
        };
        let mut rules = Self { errexit: false, pipefail: false, elements: units[0].source.contains("PIPESTATUS") };
        for id in units.ids().filter(options) {
            let Shape::Simple { words } = &units[id].shape else { continue };
            for word in words.iter().skip(1).flatten() {
                let letters = word.strip_prefix('-').is_some_and(|letters| letters.contains('e'));
                rules.errexit |= letters || word == "errexit";
                rules.pipefail |= word == "pipefail";
            }
        }
        rules
    }

    /// Follows the code of a command outwards to what can hide it.
    fn hidden(&self, units: &Units, command: Id) -> Option<Hidden> {
        let mut unit = command;
        loop {
            let (parent, role) = units.parent(unit)?;
            let by = |by, behind| Some(Hidden { unit, by, behind });
            match (&units[parent].shape, role) {
                (Shape::List(_), _) if matches!(units[unit].shape, Shape::AndOr { background: true, .. }) => {
                    return by(By::Background, None);
                }
                (Shape::List(entries), Role::At(at)) if !self.errexit && at + 1 < entries.len() => {
                    let next = entries[at + 1];
                    return by(By::Sequence, Some(next)).filter(|_| !takes_code(units, next));
                }
                (Shape::AndOr { pipelines, .. }, Role::At(at)) => {
                    if let Some((_, right)) = pipelines[at + 1..].iter().find(|(join, _)| *join == AndOrOperator::Or) {
                        return by(By::Or, Some(*right)).filter(|_| !fails(units, *right));
                    }
                }
                (Shape::Pipeline { commands, negated }, _) => {
                    let last = commands[commands.len() - 1];
                    if unit != last && !self.pipefail {
                        return by(By::Pipe, Some(last)).filter(|_| !self.elements);
                    }
                    if *negated {
                        return None;
                    }
                }
                (Shape::If { .. } | Shape::Loop { .. }, Role::Condition(_)) => return None,
                (Shape::For { body, rounds }, Role::Body(_)) if !self.errexit && rounds.is_none_or(|most| most > 1) => {
                    return by(By::Sequence, first(units, *body));
                }
                (Shape::Loop { body, .. }, Role::Body(_)) if !self.errexit => {
                    return by(By::Sequence, first(units, *body));
                }
                (Shape::Coproc(_), _) => return by(By::Background, None),
                (Shape::Simple { words }, Role::Word(at)) => {
                    let is_last = at + 1 == units[parent].substitutions.len();
                    if !words.is_empty() || !is_last {
                        return by(By::Substitution, None);
                    }
                }
                (_, Role::Word(_)) => return by(By::Substitution, None),
                _ => {}
            }
            unit = parent;
        }
    }
}

/// Returns whether what runs next takes the code before it: `exit`, `code=$?`, `wait $!`.
fn takes_code(units: &Units, next: Id) -> bool {
    let source = &units[next].source;
    let ends = first(units, next).is_some_and(|first| match &units[first].shape {
        Shape::Simple { words } => matches!(words.as_slice(), [Some(name)] if name == "exit" || name == "return"),
        _ => false,
    });
    ends || source.contains("$?")
}

/// Returns whether the right side of `||` ends with a failure: `false`, `exit 1`.
fn fails(units: &Units, right: Id) -> bool {
    last(units, right).is_some_and(|last| match &units[last].shape {
        Shape::Simple { words } => match words.as_slice() {
            [Some(name)] => ["exit", "return", "false"].contains(&name.as_str()),
            [Some(name), code, ..] => {
                ["exit", "return"].contains(&name.as_str()) && code.as_deref().is_some_and(|code| code != "0")
            }
            _ => false,
        },
        _ => false,
    })
}

/// Returns the first command of a unit.
fn first(units: &Units, id: Id) -> Option<Id> {
    match &units[id].shape {
        Shape::List(inner) => inner.first().and_then(|inner| first(units, *inner)),
        Shape::AndOr { pipelines, .. } => pipelines.first().and_then(|(_, inner)| first(units, *inner)),
        Shape::Pipeline { commands, .. } => commands.first().copied(),
        _ => Some(id),
    }
}

/// Returns the last command of a unit.
fn last(units: &Units, id: Id) -> Option<Id> {
    match &units[id].shape {
        Shape::List(inner) => inner.last().and_then(|inner| last(units, *inner)),
        Shape::AndOr { pipelines, .. } => pipelines.last().and_then(|(_, inner)| last(units, *inner)),
        Shape::Pipeline { commands, .. } => commands.last().and_then(|inner| last(units, *inner)),
        Shape::Group(inner) | Shape::Subshell(inner) => last(units, *inner),
        _ => Some(id),
    }
}
