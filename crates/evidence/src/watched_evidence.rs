//! What the parts of a command prove.

use safety::Utf16Offsets;

use crate::command_evidence::{
    CommandEnd, CommandEvidence, EvidenceCompleteness, EvidencePart, EvidenceVerdict, FailureMask, MaskedFailure,
    shorten_source,
};
use crate::exit_code_course::{ExitCodeCourse, WatchedCommand};
use crate::found_parts::{FoundPart, join_equal_outcomes};
use crate::hideable_failures;
use crate::syntax_units::{SyntaxUnitId, SyntaxUnits};

/// Most entries of `parts`.
const PARTS: usize = 50;
/// Most entries of `masked`.
const MASKED: usize = 20;

/// Returns the evidence of a command whose shell was watched. `complete`: every process that was waited for is known.
pub fn watched_evidence(
    command: &WatchedCommand<'_>,
    found: &[FoundPart],
    complete: bool,
    end: CommandEnd,
    utf16: &Utf16Offsets,
) -> CommandEvidence {
    let uncertain = |part: &&FoundPart| {
        part.has_failed()
            && part.code != command.code
            && (!is_certain(part) || part.course == Some(ExitCodeCourse::Lost))
    };
    let state = if complete && !found.iter().any(|part| uncertain(&part)) {
        EvidenceCompleteness::Known
    } else {
        EvidenceCompleteness::Partial
    };
    let hidden: Vec<_> =
        found.iter().filter(|part| matches!(part.course, Some(ExitCodeCourse::Masked { .. }))).collect();
    let masked: Vec<_> = join_equal_outcomes(hidden.iter().copied(), |part| part.course.clone())
        .into_iter()
        .filter_map(|(part, times)| match part.course.clone()? {
            ExitCodeCourse::Masked { by, behind, .. } => Some(MaskedFailure {
                part: shown(command.units, part, times, utf16),
                by,
                behind: behind.map(|text| shorten_source(&text)),
            }),
            _ => None,
        })
        .collect();
    let (verdict, why) = failed_end_verdict(end).unwrap_or_else(|| verdict_of_success(command, found, state));
    let mut entries = join_equal_outcomes(found, |_| ());
    let parts_total = entries.len();
    drop_excess(&mut entries);
    let parts = entries.into_iter().map(|(part, times)| shown(command.units, part, times, utf16)).collect();
    let ended = |id| found.iter().any(|part| part.code.is_some() && is_certain(part) && part.is_at(id));
    let open = state == EvidenceCompleteness::Partial && end.is_exit();
    let not_known = open.then(|| hideable_failures::not_known(command.units, ended, utf16)).flatten();
    let masked = masked.into_iter().take(MASKED).collect();
    CommandEvidence {
        verdict,
        why,
        state,
        parts,
        parts_total,
        masked,
        tests: Vec::new(),
        checks: Vec::new(),
        not_known,
    }
}

/// Returns whether the place of a part is known beyond doubt.
fn is_certain(part: &FoundPart) -> bool {
    part.place.as_ref().is_some_and(|place| place.certain)
}

/// Drops the last entries above the limit that did not fail.
fn drop_excess(entries: &mut Vec<(&FoundPart, usize)>) {
    let mut room = PARTS.saturating_sub(entries.iter().filter(|(part, _)| part.has_failed()).count());
    entries.retain(|(part, _)| {
        let kept = part.has_failed() || room > 0;
        room -= usize::from(kept && !part.has_failed());
        kept
    });
    entries.truncate(PARTS);
}

fn shown(units: &SyntaxUnits, part: &FoundPart, times: usize, utf16: &Utf16Offsets) -> EvidencePart {
    let unit = part.place.as_ref().map(|place| &units[place.unit]);
    EvidencePart {
        command: shorten_source(unit.map_or(part.printed.as_str(), |unit| &*unit.source)),
        span: unit.and_then(|unit| unit.span.as_ref()).map(|span| utf16.span(span)),
        exit_code: part.code,
        // 128 + n may be a code of the program's own, and says nothing of a signal.
        signal: part.signal.map(sys::signal_name),
        times,
    }
}

/// Returns a part that ended with 0.
pub fn passed_part(units: &SyntaxUnits, id: SyntaxUnitId, utf16: &Utf16Offsets) -> EvidencePart {
    let unit = &units[id];
    let span = unit.span.as_ref().map(|span| utf16.span(span));
    EvidencePart { command: shorten_source(&unit.source), span, exit_code: Some(0), signal: None, times: 1 }
}

/// Returns the verdict of a command whose own end is a failure.
pub fn failed_end_verdict(end: CommandEnd) -> Option<(EvidenceVerdict, Option<String>)> {
    let why = match end {
        CommandEnd { by_itself: false, .. } => "The command did not end by itself.".to_owned(),
        CommandEnd { signal: Some(signal), .. } => format!("The command was ended by {}.", sys::signal_name(signal)),
        CommandEnd { code: Some(0), .. } => return None,
        CommandEnd { code: Some(code), .. } => format!("The exit code is {code}."),
        CommandEnd { code: None, .. } => "The exit code is not known.".to_owned(),
    };
    Some((EvidenceVerdict::Failed, Some(why)))
}

/// Returns the verdict of a command that ended with 0, and why it is not `passed`.
fn verdict_of_success(
    command: &WatchedCommand<'_>,
    found: &[FoundPart],
    state: EvidenceCompleteness,
) -> (EvidenceVerdict, Option<String>) {
    let excused = |part: &FoundPart| match &part.course {
        Some(ExitCodeCourse::Masked { by: FailureMask::Or, right: Some(right), .. }) => {
            started_program(command, found, *right)
        }
        _ => false,
    };
    let is_hidden = |part: &&FoundPart| matches!(part.course, Some(ExitCodeCourse::Masked { .. }));
    if let Some(part) = found.iter().filter(is_hidden).find(|part| !excused(part)) {
        return (EvidenceVerdict::Failed, Some(format!("{} is hidden.", named(command.units, part))));
    }
    if let Some(part) = found.iter().find(is_hidden) {
        let why = format!("{} is hidden by a program behind ||.", named(command.units, part));
        return (EvidenceVerdict::Unproven, Some(why));
    }
    if state != EvidenceCompleteness::Known {
        return (EvidenceVerdict::Unproven, Some("Not every part of the command is known.".to_owned()));
    }
    if let Some(part) = found.iter().find(|part| part.code.is_none()) {
        let why = format!("The end of «{}» is not known.", brief(source(command.units, part)));
        return (EvidenceVerdict::Unproven, Some(why));
    }
    (EvidenceVerdict::Passed, None)
}

fn source<'a>(units: &'a SyntaxUnits, part: &'a FoundPart) -> &'a str {
    part.place.as_ref().map_or(part.printed.as_str(), |place| &*units[place.unit].source)
}

fn named(units: &SyntaxUnits, part: &FoundPart) -> String {
    describe_failure(source(units, part), part.signal.map(sys::signal_name).as_deref(), part.code)
}

/// Names the failure of a program.
pub fn describe_failure(source: &str, signal: Option<&str>, code: Option<i32>) -> String {
    let source = brief(source);
    match signal {
        Some(signal) => format!("The end of «{source}» by {signal}"),
        None => format!("The exit code {} of «{source}»", code.unwrap_or_default()),
    }
}

fn brief(source: &str) -> String {
    source.chars().take(60).collect()
}

/// Returns whether a program was started in a unit.
fn started_program(command: &WatchedCommand<'_>, found: &[FoundPart], unit: SyntaxUnitId) -> bool {
    found.iter().any(|part| {
        let program = command.processes[part.process].program().is_some();
        program && part.place.as_ref().is_some_and(|place| place.lies_in(command.units, unit))
    })
}
