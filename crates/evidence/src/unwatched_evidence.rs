//! What the text of a command proves if its shell could not be watched.

use std::path::Path;

use safety::parse::AndOrOperator;

use crate::attempted_programs::AttemptedProgram;
use crate::builtins::{is_builtin, is_opaque, starts_programs};
use crate::command_evidence::{CommandEnd, CommandEvidence, EvidenceCompleteness, EvidenceVerdict};
use crate::hideable_failures;
use crate::syntax_units::{SyntaxUnitId, SyntaxUnitRole, SyntaxUnitShape, SyntaxUnits};
use crate::watched_evidence;

/// Returns the evidence of a command whose shell was not watched: one program, or programs joined by `&&`, that ended
/// with 0 have all ended with 0. Of all else nothing is known.
pub fn unwatched_evidence(
    command: &str,
    units: &SyntaxUnits,
    end: CommandEnd,
    cwd: &Path,
) -> (CommandEvidence, Vec<AttemptedProgram>) {
    let utf16 = safety::Utf16Offsets::new(command);
    let failed = watched_evidence::failed_end_verdict(end);
    let programs = failed.is_none().then(|| and_joined_programs(units)).flatten();
    let (verdict, why) = match (&programs, failed) {
        (_, Some(failed)) => failed,
        (Some(_), None) => (EvidenceVerdict::Passed, None),
        (None, None) => not_watched(),
    };
    let state = if programs.is_some() { EvidenceCompleteness::Known } else { EvidenceCompleteness::Unknown };
    let ids = programs.unwrap_or_default();
    let parts: Vec<_> = ids.iter().map(|id| watched_evidence::passed_part(units, *id, &utf16)).collect();
    let open = state == EvidenceCompleteness::Unknown && end.is_exit();
    let not_known = open.then(|| hideable_failures::not_known(units, |_| false, &utf16)).flatten();
    let (masked, tests, checks) = (Vec::new(), Vec::new(), Vec::new());
    let evidence =
        CommandEvidence { verdict, why, state, parts_total: parts.len(), parts, masked, tests, checks, not_known };
    (evidence, ids.into_iter().filter_map(|id| passed_program(units, id, cwd)).collect())
}

/// Returns the evidence of a command whose shell was not watched, and whose text is too much to read.
pub fn unread_evidence(end: CommandEnd) -> (CommandEvidence, Vec<AttemptedProgram>) {
    let (verdict, why) = watched_evidence::failed_end_verdict(end).unwrap_or_else(not_watched);
    let (parts, masked, tests, checks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (state, not_known) = (EvidenceCompleteness::Unknown, None);
    let evidence = CommandEvidence { verdict, why, state, parts, parts_total: 0, masked, tests, checks, not_known };
    (evidence, Vec::new())
}

fn not_watched() -> (EvidenceVerdict, Option<String>) {
    (EvidenceVerdict::Unproven, Some("The shell could not be watched.".to_owned()))
}

/// Returns a program that ended with 0, if its words and its directory are known.
fn passed_program(units: &SyntaxUnits, id: SyntaxUnitId, cwd: &Path) -> Option<AttemptedProgram> {
    let SyntaxUnitShape::Simple { words } = &units[id].shape else { return None };
    // A `cd` before it is not followed.
    let first = units.outwards_from(id).nth(1).and_then(|pipeline| units.parent(pipeline));
    let words = words.iter().cloned().collect::<Option<_>>()?;
    matches!(first, Some((_, SyntaxUnitRole::At(0)))).then(|| AttemptedProgram {
        words,
        directory: cwd.to_owned(),
        source: units[id].source.to_string(),
        code: Some(0),
    })
}

/// Returns the programs of a text that is one program, or programs joined by `&&`.
fn and_joined_programs(units: &SyntaxUnits) -> Option<Vec<SyntaxUnitId>> {
    let SyntaxUnitShape::List(entries) = &units[0].shape else { return None };
    let [entry] = entries.as_slice() else { return None };
    let SyntaxUnitShape::AndOr { pipelines, background: false } = &units[*entry].shape else { return None };
    let program = |(at, (join, pipeline)): (usize, &(AndOrOperator, SyntaxUnitId))| {
        let SyntaxUnitShape::Pipeline { commands, negated: false } = &units[*pipeline].shape else { return None };
        let [command] = commands.as_slice() else { return None };
        let SyntaxUnitShape::Simple { words } = &units[*command].shape else { return None };
        let name = words.first()?.as_deref()?;
        let runs_itself = !is_opaque(name) && !starts_programs(name) && name != "trap";
        let plain = units[*command].substitutions.is_empty() && units.function(name).is_none() && runs_itself;
        // `cd` and the like prove nothing wrong, and are no part.
        ((at == 0 || *join == AndOrOperator::And) && plain).then_some((!is_builtin(name)).then_some(*command))
    };
    let programs = pipelines.iter().enumerate().map(program).collect::<Option<Vec<_>>>()?;
    Some(programs.into_iter().flatten().collect())
}
