//! What a command proved: what each of its parts returned, and which failures its own exit code hides.
//!
//! A witness in the command's bash (`crates/sys/witness/`) notes each process that the shell forks, with the command as
//! bash prints it, and each end. This crate gives every process its place in the syntax of the command, and follows the
//! code of a failed part outwards to where another code takes its place.
//!
//! | file | what |
//! |---|---|
//! | `traced_processes` | from events to processes |
//! | `aliases` | the text with aliases expanded, as bash reads it |
//! | `syntax_units`, `canonical_form` | the syntax as a flat list, and the form in which source and printed text are equal |
//! | `syntax_unit_walk`, `unit_frames`, `process_places` | where the shell can go next, and so the place of each process |
//! | `found_parts`, `answering_programs` | the parts, and which of them failed |
//! | `exit_code_course` | where the code of a failed part ends |
//! | `watched_evidence` | what all of that proves |
//! | `unwatched_evidence`, `hideable_failures` | what the text alone proves, and what it can hide |
//! | `filtered_evidence` | what a stored run proves behind another filter |
//! | `test_counts` | what the counts of tests prove |
//! | `attempted_programs`, `check_evidence` | the parts that are checks, and what each of them proves |
//! | `command_evidence` | the result |
//!
//! Pure, runs in the host. Begin with [`read`].
//!
//! Nothing is guessed: a failure without a certain place makes the result `partial`, and a shell that could not be
//! watched makes it `unknown`, unless the text alone decides.

mod aliases;
mod answering_programs;
mod attempted_programs;
mod builtins;
mod canonical_form;
mod check_evidence;
mod command_evidence;
mod exit_code_course;
mod filtered_evidence;
mod found_parts;
mod hideable_failures;
mod process_places;
mod syntax_unit_walk;
mod syntax_units;
mod test_counts;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod traced_processes;
mod unit_frames;
mod unwatched_evidence;
mod watched_evidence;

pub use aliases::ShellAliases;
pub use builtins::is_builtin;
pub use command_evidence::{
    ChangesSinceRun, CheckEvidence, CheckRun, CommandEnd, CommandEvidence, EvidenceCompleteness, EvidenceInput,
    EvidencePart, EvidenceVerdict, FailedTestComparison, FailedTests, FailureMask, Kind, MaskedFailure, ShellKnowledge,
    UnknownOutcome,
};
pub use filtered_evidence::filtered_evidence;

use reduce::counts::TestCounts;
use safety::Utf16Offsets;
use safety::parse::ScriptFault;
use sys::WitnessTrace;

use aliases::ExpandedCommand;
use attempted_programs::AttemptedProgram;
use exit_code_course::WatchedCommand;
use syntax_units::SyntaxUnits;

/// Reads the evidence of a command.
#[must_use]
pub fn read(ran: EvidenceInput<'_, impl FnOnce(&[EvidencePart]) -> Vec<TestCounts>>) -> CommandEvidence {
    let EvidenceInput { command, trace, end, tests, cwd, rules, known } = ran;
    let expanded = ExpandedCommand::of(command, &known.aliases);
    let read = aliases::read_bounded(&expanded.text);
    let (evidence, programs) = match trace {
        Some(trace) => {
            let units = SyntaxUnits::of(expanded, &read, true).with_functions(&known.functions);
            watched(command, &units, trace, end)
        }
        None if read.script.fault == Some(ScriptFault::Limit) => unwatched_evidence::unread_evidence(end),
        None => unwatched_evidence::unwatched_evidence(command, &SyntaxUnits::of(expanded, &read, false), end, cwd),
    };
    let tests = tests(&evidence.parts);
    let checks = check_evidence::list_checks(programs, rules, &tests);
    CommandEvidence { checks, ..test_counts::judge_with_counts(evidence, tests) }
}

fn watched(
    command: &str,
    units: &SyntaxUnits,
    trace: &WitnessTrace,
    end: CommandEnd,
) -> (CommandEvidence, Vec<AttemptedProgram>) {
    let (processes, complete) = traced_processes::trace_processes(trace);
    let places = process_places::find_process_places(units, &processes);
    let code = end.code.or(end.signal.map(|signal| 128 + signal));
    let watched = WatchedCommand { units, processes: &processes, places: &places, code, signal: end.signal };
    let found = found_parts::list_parts(&watched);
    let evidence = watched_evidence::watched_evidence(&watched, &found, complete, end, &Utf16Offsets::new(command));
    (evidence, attempted_programs::list_programs(&watched))
}
