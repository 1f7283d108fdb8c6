//! The programs that a command ran: words, directory and exit code of each.

use std::path::PathBuf;

use sys::{WitnessEvent, WitnessEventKind};

use crate::exit_code_course::WatchedCommand;
use crate::syntax_units::SyntaxUnitShape;
use crate::traced_processes::ProcessStep;

/// A program that a command ran, or did not find.
#[derive(Debug)]
pub struct AttemptedProgram {
    /// Its words.
    pub words: Vec<String>,
    /// The absolute directory in which it ran.
    pub directory: PathBuf,
    /// Its source.
    pub source: String,
    /// The code as `$?` gives it. `None` if it is not known.
    pub code: Option<i32>,
}

/// Lists the programs of a watched command in the order of their start.
pub fn list_programs(command: &WatchedCommand<'_>) -> Vec<AttemptedProgram> {
    let mut all: Vec<_> = (0..command.processes.len()).filter_map(|process| program(command, process)).collect();
    all.sort_by_key(|(began, _)| *began);
    all.into_iter().map(|(_, program)| program).collect()
}

/// Returns the program that a process became, and the number of the event with which it began.
fn program(command: &WatchedCommand<'_>, index: usize) -> Option<(usize, AttemptedProgram)> {
    let process = &command.processes[index];
    let places = [&command.places.programs[index], &command.places.roots[index]];
    let unit = places.into_iter().flatten().next().map(|place| &command.units[place.unit]);
    let (event, words): (&WitnessEvent, _) = match (process.steps.last(), unit.map(|unit| &unit.shape)) {
        (Some(ProcessStep::Executed(event, words)), _) => {
            // Of a long command only the start of its words is known.
            matches!(event.happened, WitnessEventKind::Executed { whole: true, .. })
                .then_some((*event, words.to_vec()))?
        }
        (_, Some(SyntaxUnitShape::Simple { words })) => {
            (process.not_found()?, words.iter().cloned().collect::<Option<_>>()?)
        }
        _ => return None,
    };
    let directory = PathBuf::from(&*event.directory);
    let source = unit.map_or(&*event.text, |unit| &*unit.source).to_owned();
    let code = command.code_of(index);
    directory.is_absolute().then_some((event.number, AttemptedProgram { words, directory, source, code }))
}
