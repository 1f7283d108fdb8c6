//! The parts of a command, and which of them failed.

use std::collections::HashMap;
use std::hash::Hash;

use crate::answering_programs::is_answer;
use crate::builtins::is_builtin;
use crate::exit_code_course::{ExitCodeCourse, WatchedCommand};
use crate::process_places::ProcessPlace;
use crate::syntax_units::{SyntaxUnitId, SyntaxUnitRole, SyntaxUnitShape, SyntaxUnits};
use crate::traced_processes::ProcessStep;
use crate::unit_frames;

/// A part, before equal ones are one entry.
#[derive(Clone, Debug)]
pub struct FoundPart {
    /// Its process.
    pub process: usize,
    /// Whether it is the program that a subshell became, and not the subshell.
    pub inner: bool,
    /// Its place. `None` for a part from elsewhere.
    pub place: Option<ProcessPlace>,
    /// The command as bash prints it.
    pub printed: String,
    /// The code as `$?` gives it. `None` while it runs.
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// The number of the event with which it began.
    pub began: usize,
    /// The course of its code, if it failed.
    pub course: Option<ExitCodeCourse>,
}

impl FoundPart {
    /// Returns whether the part failed.
    pub fn has_failed(&self) -> bool {
        self.course.is_some()
    }

    /// Returns whether a unit is the place of the part.
    pub fn is_at(&self, unit: SyntaxUnitId) -> bool {
        self.place.as_ref().is_some_and(|place| place.unit == unit)
    }
}

/// Lists the parts in the order of their start.
pub fn list_parts(command: &WatchedCommand<'_>) -> Vec<FoundPart> {
    let mut found: Vec<_> = (0..command.processes.len()).flat_map(|process| of_process(command, process)).collect();
    found.sort_by_key(|part| part.began);
    // The innermost first: a subshell fails if a part in it does.
    let mut order: Vec<_> = (0..found.len()).collect();
    order.sort_by_cached_key(|at| std::cmp::Reverse(depth(command, &found[*at])));
    for at in order {
        found[at].course = course_of_part(command, &found, at);
    }
    found
}

fn depth(command: &WatchedCommand<'_>, part: &FoundPart) -> (usize, bool) {
    let fork = |process: &usize| command.processes[*process].fork.map(|(parent, _)| parent);
    (std::iter::successors(Some(part.process), fork).count(), part.inner)
}

/// Returns the parts that one process is: a subshell, a program, or both.
fn of_process(command: &WatchedCommand<'_>, index: usize) -> Vec<FoundPart> {
    let process = &command.processes[index];
    let (root, program) = (&command.places.roots[index], &command.places.programs[index]);
    let (code, signal) = (command.code_of(index), command.signal_of(index));
    let mut found = Vec::new();
    let mut add = |place: Option<&ProcessPlace>, event: &sys::WitnessEvent, inner| {
        let place = place.cloned();
        // Where traps run, the text may be that of another command, or of an exported function.
        let is_other = event.in_trap || event.text.starts_with("() {");
        let names = |words: &&[String]| words.first().is_some_and(|name| event.text.contains(name));
        let words = process.program().filter(|words| is_other || !names(words));
        let printed = words.map_or_else(|| event.text.to_string(), |words| words.join(" "));
        found.push(FoundPart {
            process: index,
            inner,
            place,
            printed,
            code,
            signal,
            began: event.number,
            course: None,
        });
    };
    let is_substitution = match root {
        Some(place) => matches!(command.units[place.unit].shape, SyntaxUnitShape::Substitution(_)),
        None => process
            .fork
            .is_some_and(|(_, fork)| process.first().is_some_and(|first| first.substitution && !fork.substitution)),
    };
    if let Some((_, event)) = process.fork
        && !is_substitution
    {
        add(root.as_ref(), event, false);
    }
    let itself = process.fork.is_some() && !is_substitution;
    let became = match process.steps.last() {
        Some(ProcessStep::Executed(event, _)) => Some(*event),
        _ => process.not_found().filter(|_| program.as_ref().is_none_or(|place| !is_builtin(name(command, place)))),
    };
    if let Some(event) = became {
        let same =
            itself && (program.is_none() && root.is_none() || is_same(command.units, program.as_ref(), root.as_ref()));
        // A program from elsewhere in a subshell with a place is its own part.
        if !same {
            add(program.as_ref(), event, itself);
        }
    }
    found
}

/// Returns whether a program is all that a process runs.
fn is_same(units: &SyntaxUnits, program: Option<&ProcessPlace>, root: Option<&ProcessPlace>) -> bool {
    program.zip(root).is_some_and(|(program, root)| match units[root.unit].shape {
        SyntaxUnitShape::Coproc(body) => program.unit == body,
        _ => program.unit == root.unit,
    })
}

/// Returns the name of the command at a place.
fn name<'c>(command: &'c WatchedCommand<'_>, place: &ProcessPlace) -> &'c str {
    match &command.units[place.unit].shape {
        SyntaxUnitShape::Simple { words } => words.first().and_then(Option::as_deref).unwrap_or_default(),
        _ => "",
    }
}

/// Returns the course of a part's code, if the part failed.
fn course_of_part(command: &WatchedCommand<'_>, found: &[FoundPart], at: usize) -> Option<ExitCodeCourse> {
    let part = &found[at];
    let code = part.code.filter(|code| *code != 0)?;
    let process = &command.processes[part.process];
    let Some(place) = &part.place else {
        return Some(ExitCodeCourse::Lost).filter(|_| !part_is_answer(command, part, code));
    };
    if code == SIGPIPE && has_reader(command, place) || part_is_answer(command, part, code) {
        return None;
    }
    // A place that is not certain excuses nothing.
    if !place.certain {
        return Some(ExitCodeCourse::Lost);
    }
    // A program that a shell became ends with that shell. Any other part ends in the shell that forked it.
    let itself = part.inner || process.fork.is_none() || is_substitution(command, part.process);
    let course = match process.fork {
        Some((parent, _)) if !itself => {
            let when = process.waited.map_or(usize::MAX, |(_, number)| number);
            command.course_of_code(parent, place, code, when)
        }
        _ => command.course_of_code(part.process, place, code, usize::MAX),
    };
    let excused =
        course == ExitCodeCourse::Condition || is_compound(command, part) && !fails_inside(command, found, part, code);
    (!excused).then_some(course)
}

/// The code after SIGPIPE.
const SIGPIPE: i32 = 128 + 13;

/// Returns whether another element of a pipeline reads the output of this command, or of a command around it.
fn has_reader(command: &WatchedCommand<'_>, place: &ProcessPlace) -> bool {
    let is_read = |unit: SyntaxUnitId| match command.units.parent(unit) {
        Some((pipeline, SyntaxUnitRole::At(index))) => match &command.units[pipeline].shape {
            SyntaxUnitShape::Pipeline { commands, .. } => index + 1 < commands.len(),
            _ => false,
        },
        _ => false,
    };
    let sites = unit_frames::iter_frames(&place.frames).map(|frame| frame.site);
    sites.chain([place.unit]).any(|unit| command.units.outwards_from(unit).any(is_read))
}

/// Returns whether a process runs a substitution.
fn is_substitution(command: &WatchedCommand<'_>, process: usize) -> bool {
    let root = command.places.roots[process].as_ref();
    root.is_some_and(|root| matches!(command.units[root.unit].shape, SyntaxUnitShape::Substitution(_)))
}

/// Returns whether the code of a program or a builtin is an answer.
fn part_is_answer(command: &WatchedCommand<'_>, part: &FoundPart, code: i32) -> bool {
    let process = &command.processes[part.process];
    if let Some(program) = process.program() {
        return !is_compound(command, part) && is_answer(program.iter().map(String::as_str), code);
    }
    let Some(place) = &part.place else { return false };
    match &command.units[place.unit].shape {
        SyntaxUnitShape::Simple { words } => {
            is_answer(words.iter().map(|word| word.as_deref().unwrap_or_default()), code)
        }
        SyntaxUnitShape::Test => true,
        _ => false,
    }
}

/// Returns whether the part is a subshell, a group, a loop or a function: its code comes from what runs in it.
fn is_compound(command: &WatchedCommand<'_>, part: &FoundPart) -> bool {
    let Some(place) = part.place.as_ref().filter(|_| !part.inner) else { return false };
    match &command.units[place.unit].shape {
        SyntaxUnitShape::Simple { words } => words.is_empty() || called_function_body(command, place.unit).is_some(),
        SyntaxUnitShape::Test => false,
        _ => true,
    }
}

/// Returns the body of the function that a command calls.
fn called_function_body(command: &WatchedCommand<'_>, unit: SyntaxUnitId) -> Option<SyntaxUnitId> {
    match &command.units[unit].shape {
        SyntaxUnitShape::Simple { words } => command.units.function(words.first()?.as_deref()?),
        _ => None,
    }
}

/// Returns whether the code of a compound part comes from a failure in it.
fn fails_inside(command: &WatchedCommand<'_>, found: &[FoundPart], part: &FoundPart, code: i32) -> bool {
    let process = &command.processes[part.process];
    let inside = |other: &FoundPart| {
        let lost = matches!(other.course, Some(ExitCodeCourse::Masked { .. }));
        other.code == Some(code)
            && !lost
            && (other.inner && other.process == part.process || is_in(command, other, part))
    };
    let mut sources = found.iter().rev().filter(|other| inside(other) && !std::ptr::eq(*other, part));
    let Some(last) = process.last_command() else {
        // The process became a program, or was killed.
        return sources.next().is_none_or(FoundPart::has_failed);
    };
    if sources.clone().any(FoundPart::has_failed) || sets_code_itself(last) {
        return true;
    }
    // An answer or a condition excuses the part if nothing ran behind it but a `wait` that returned its code.
    let key = crate::canonical_form::of_printed(last);
    let waited = last.starts_with("wait ") && sources.clone().next().is_some();
    if waited || sources.any(|source| source.place.as_ref().is_some_and(|place| command.units[place.unit].key == key)) {
        return false;
    }
    // No process had the code, so a builtin or `!` made it.
    let negated = part.place.as_ref().is_some_and(|place| ends_negated(command, place.unit, 0));
    !is_answer(last.split_whitespace(), code) && (!negated || code != 1)
}

/// Returns whether a part was started by the process of another one, or by a substitution there, which gives its code
/// to the command around it.
fn is_in(command: &WatchedCommand<'_>, other: &FoundPart, part: &FoundPart) -> bool {
    let fork = |process: usize| command.processes[process].fork.map(|(parent, _)| parent);
    let mut parent = fork(other.process);
    while let Some(around) = parent.filter(|around| *around != part.process && is_substitution(command, *around)) {
        parent = fork(around);
    }
    parent == Some(part.process)
}

/// Returns whether the code of a unit may come from a `!`.
fn ends_negated(command: &WatchedCommand<'_>, unit: SyntaxUnitId, depth: usize) -> bool {
    let inner = |unit: &SyntaxUnitId| depth < DEPTH && ends_negated(command, *unit, depth + 1);
    match &command.units[unit].shape {
        SyntaxUnitShape::Pipeline { negated: true, .. } => true,
        SyntaxUnitShape::List(entries) => entries.last().is_some_and(inner),
        SyntaxUnitShape::Pipeline { commands, .. } => matches!(commands.as_slice(), [only] if inner(only)),
        SyntaxUnitShape::AndOr { pipelines, .. } => pipelines.iter().any(|(_, pipeline)| inner(pipeline)),
        SyntaxUnitShape::If { arms, otherwise } => inner(otherwise) || arms.iter().any(|(_, body)| inner(body)),
        SyntaxUnitShape::Case { arms, .. } => arms.iter().any(inner),
        SyntaxUnitShape::Group(body)
        | SyntaxUnitShape::Subshell(body)
        | SyntaxUnitShape::For { body, .. }
        | SyntaxUnitShape::Loop { body, .. } => inner(body),
        SyntaxUnitShape::Simple { words } if words.is_empty() => {
            command.units[unit].substitutions.last().is_some_and(inner)
        }
        SyntaxUnitShape::Simple { .. } => called_function_body(command, unit).is_some_and(|body| inner(&body)),
        SyntaxUnitShape::Coproc(body) | SyntaxUnitShape::Substitution(body) => inner(body),
        SyntaxUnitShape::Test | SyntaxUnitShape::Function { .. } => false,
    }
}

/// Most units within each other that are looked at.
const DEPTH: usize = 100;

/// Returns whether a command sets a code by itself.
fn sets_code_itself(printed: &str) -> bool {
    let name = printed.split_whitespace().next().unwrap_or_default();
    ["exit", "return", "false"].contains(&name)
}

/// Joins equal outcomes of one part, as far as `other` is equal, too. Returns each with the number of outcomes, in the
/// order of the first.
pub fn join_equal_outcomes<'f, K: Eq + Hash>(
    parts: impl IntoIterator<Item = &'f FoundPart>,
    other: impl Fn(&FoundPart) -> K,
) -> Vec<(&'f FoundPart, usize)> {
    let mut entries: Vec<(&FoundPart, usize)> = Vec::new();
    let mut known = HashMap::new();
    for part in parts {
        let unit = part.place.as_ref().map(|place| place.unit);
        let printed = if unit.is_none() { part.printed.as_str() } else { "" };
        let entry = *known.entry((unit, printed, part.code, part.signal, other(part))).or_insert(entries.len());
        match entries.get_mut(entry) {
            Some((_, times)) => *times += 1,
            None => entries.push((part, 1)),
        }
    }
    entries
}
