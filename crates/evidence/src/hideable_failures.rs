//! What the text of a command can hide where the ends of its parts are not known.

use safety::Utf16Offsets;
use safety::parse::AndOrOperator;

use crate::builtins::{is_builtin, is_opaque, starts_programs};
use crate::command_evidence::{FailureMask, UnknownOutcome, shorten_source};
use crate::syntax_units::{SyntaxUnitId, SyntaxUnitRole, SyntaxUnitShape, SyntaxUnits};

/// Builtins that do not fail.
const HARMLESS: [&str; 4] = [":", "echo", "printf", "true"];
/// Most commands that are looked at.
const MOST: usize = 1_000;

/// Returns the first command whose failure the text can hide, preferably one of a pipeline. `ended`: whether the end of
/// a unit is known.
pub fn not_known(
    units: &SyntaxUnits,
    ended: impl Fn(SyntaxUnitId) -> bool,
    utf16: &Utf16Offsets,
) -> Option<UnknownOutcome> {
    let rules = ExitCodeRules::of(units);
    let candidates = units.ids().filter(|id| can_fail(units, *id) && !ended(*id)).take(MOST);
    let hidden = candidates.filter_map(|id| rules.hidden_failure(units, id)).filter(|hidden| !ended(hidden.unit));
    let mut first = None;
    for hidden in hidden {
        if hidden.by == FailureMask::Pipe {
            first = Some(hidden);
            break;
        }
        first.get_or_insert(hidden);
    }
    let hidden = first?;
    let unit = &units[hidden.unit];
    let span = unit.span.as_ref().map(|span| utf16.span(span));
    let behind = hidden.behind.map(|id| shorten_source(&units[id].source));
    Some(UnknownOutcome { command: shorten_source(&unit.source), span, by: hidden.by, behind })
}

/// Returns whether a unit is a command that can be a part or start one. Only a call of a function runs its body.
fn can_fail(units: &SyntaxUnits, id: SyntaxUnitId) -> bool {
    let SyntaxUnitShape::Simple { words } = &units[id].shape else { return false };
    let runs = match words.first() {
        Some(Some(name)) if is_builtin(name) => {
            is_opaque(name) || starts_programs(name) || units.is_apart(id) && !HARMLESS.contains(&name.as_str())
        }
        Some(_) => true,
        None => false,
    };
    runs && !units.outwards_from(id).any(|around| matches!(units[around].shape, SyntaxUnitShape::Function { .. }))
}

/// A command whose failure can be hidden.
#[derive(Clone, Copy)]
struct HideableFailure {
    unit: SyntaxUnitId,
    by: FailureMask,
    /// What runs in its place or after it.
    behind: Option<SyntaxUnitId>,
}

/// What the shell's own options and the rest of the text say of hidden codes.
struct ExitCodeRules {
    errexit: bool,
    pipefail: bool,
    /// Whether the text asks for the codes of elements.
    elements: bool,
}

impl ExitCodeRules {
    fn of(units: &SyntaxUnits) -> Self {
        let options = |id: &SyntaxUnitId| match &units[*id].shape {
            SyntaxUnitShape::Simple { words } => words.first().is_some_and(|name| name.as_deref() == Some("set")),
            _ => false,
        };
        let mut rules = Self { errexit: false, pipefail: false, elements: units[0].source.contains("PIPESTATUS") };
        for id in units.ids().filter(options) {
            let SyntaxUnitShape::Simple { words } = &units[id].shape else { continue };
            for word in words.iter().skip(1).flatten() {
                let letters = word.strip_prefix('-').is_some_and(|letters| letters.contains('e'));
                rules.errexit |= letters || word == "errexit";
                rules.pipefail |= word == "pipefail";
            }
        }
        rules
    }

    /// Follows the code of a command outwards to what can hide it.
    fn hidden_failure(&self, units: &SyntaxUnits, command: SyntaxUnitId) -> Option<HideableFailure> {
        let mut unit = command;
        loop {
            let (parent, role) = units.parent(unit)?;
            let by = |by, behind| Some(HideableFailure { unit, by, behind });
            match (&units[parent].shape, role) {
                (SyntaxUnitShape::List(_), _)
                    if matches!(units[unit].shape, SyntaxUnitShape::AndOr { background: true, .. }) =>
                {
                    return by(FailureMask::Background, None);
                }
                (SyntaxUnitShape::List(entries), SyntaxUnitRole::At(at)) if !self.errexit && at + 1 < entries.len() => {
                    let next = entries[at + 1];
                    return by(FailureMask::Sequence, Some(next)).filter(|_| !takes_code(units, next));
                }
                (SyntaxUnitShape::AndOr { pipelines, .. }, SyntaxUnitRole::At(at)) => {
                    if let Some((_, right)) = pipelines[at + 1..].iter().find(|(join, _)| *join == AndOrOperator::Or) {
                        return by(FailureMask::Or, Some(*right)).filter(|_| !ends_with_failure(units, *right));
                    }
                }
                (SyntaxUnitShape::Pipeline { commands, negated }, _) => {
                    let last = commands[commands.len() - 1];
                    if unit != last && !self.pipefail {
                        return by(FailureMask::Pipe, Some(last)).filter(|_| !self.elements);
                    }
                    if *negated {
                        return None;
                    }
                }
                (SyntaxUnitShape::If { .. } | SyntaxUnitShape::Loop { .. }, SyntaxUnitRole::Condition(_)) => {
                    return None;
                }
                (SyntaxUnitShape::For { body, rounds }, SyntaxUnitRole::Body(_))
                    if !self.errexit && rounds.is_none_or(|most| most > 1) =>
                {
                    return by(FailureMask::Sequence, first_command(units, *body));
                }
                (SyntaxUnitShape::Loop { body, .. }, SyntaxUnitRole::Body(_)) if !self.errexit => {
                    return by(FailureMask::Sequence, first_command(units, *body));
                }
                (SyntaxUnitShape::Coproc(_), _) => return by(FailureMask::Background, None),
                (SyntaxUnitShape::Simple { words }, SyntaxUnitRole::Word(at)) => {
                    let is_last = at + 1 == units[parent].substitutions.len();
                    if !words.is_empty() || !is_last {
                        return by(FailureMask::Substitution, None);
                    }
                }
                (_, SyntaxUnitRole::Word(_)) => return by(FailureMask::Substitution, None),
                _ => {}
            }
            unit = parent;
        }
    }
}

/// Returns whether what runs next takes the code before it: `exit`, `code=$?`, `wait $!`.
fn takes_code(units: &SyntaxUnits, next: SyntaxUnitId) -> bool {
    let source = &units[next].source;
    let ends = first_command(units, next).is_some_and(|first| match &units[first].shape {
        SyntaxUnitShape::Simple { words } => {
            matches!(words.as_slice(), [Some(name)] if name == "exit" || name == "return")
        }
        _ => false,
    });
    ends || source.contains("$?")
}

/// Returns whether the right side of `||` ends with a failure: `false`, `exit 1`.
fn ends_with_failure(units: &SyntaxUnits, right: SyntaxUnitId) -> bool {
    last_command(units, right).is_some_and(|last| match &units[last].shape {
        SyntaxUnitShape::Simple { words } => match words.as_slice() {
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
fn first_command(units: &SyntaxUnits, id: SyntaxUnitId) -> Option<SyntaxUnitId> {
    match &units[id].shape {
        SyntaxUnitShape::List(inner) => inner.first().and_then(|inner| first_command(units, *inner)),
        SyntaxUnitShape::AndOr { pipelines, .. } => {
            pipelines.first().and_then(|(_, inner)| first_command(units, *inner))
        }
        SyntaxUnitShape::Pipeline { commands, .. } => commands.first().copied(),
        _ => Some(id),
    }
}

/// Returns the last command of a unit.
fn last_command(units: &SyntaxUnits, id: SyntaxUnitId) -> Option<SyntaxUnitId> {
    match &units[id].shape {
        SyntaxUnitShape::List(inner) => inner.last().and_then(|inner| last_command(units, *inner)),
        SyntaxUnitShape::AndOr { pipelines, .. } => pipelines.last().and_then(|(_, inner)| last_command(units, *inner)),
        SyntaxUnitShape::Pipeline { commands, .. } => commands.last().and_then(|inner| last_command(units, *inner)),
        SyntaxUnitShape::Group(inner) | SyntaxUnitShape::Subshell(inner) => last_command(units, *inner),
        _ => Some(id),
    }
}
