//! The parts of a command, and which of them failed.

use std::collections::HashMap;
use std::hash::Hash;

use crate::answers::is_answer;
use crate::builtins::is_builtin;
use crate::course::{Command, Course};
use crate::frames;
use crate::places::Place;
use crate::processes::Step;
use crate::units::{Id, Role, Shape, Units};

/// A part, before equal ones are one entry.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its process.
    pub process: usize,
    /// Whether it is the program that a subshell became, and not the subshell.
    pub inner: bool,
    /// Its place. `None` for a part from elsewhere.
    pub place: Option<Place>,
    /// The command as bash prints it.
    pub printed: String,
    /// The code as `$?` gives it. `None` while it runs.
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// The number of the event with which it began.
    pub began: usize,
    /// The course of its code, if it failed.
    pub course: Option<Course>,
}

impl Found {
    /// Returns whether the part failed.
    pub fn failed(&self) -> bool {
        self.course.is_some()
    }

    /// Returns whether a unit is the place of the part.
    pub fn is_at(&self, unit: Id) -> bool {
        self.place.as_ref().is_some_and(|place| place.unit == unit)
    }
}

/// Lists the parts in the order of their start.
pub fn parts(command: &Command<'_>) -> Vec<Found> {
    let mut found: Vec<_> = (0..command.processes.len()).flat_map(|process| of_process(command, process)).collect();
    found.sort_by_key(|part| part.began);
    // The innermost first: a subshell fails if a part in it does.
    let mut order: Vec<_> = (0..found.len()).collect();
    order.sort_by_cached_key(|at| std::cmp::Reverse(depth(command, &found[*at])));
    for at in order {
        found[at].course = course(command, &found, at);
    }
    found
}

fn depth(command: &Command<'_>, part: &Found) -> (usize, bool) {
    let fork = |process: &usize| command.processes[*process].fork.map(|(parent, _)| parent);
    (std::iter::successors(Some(part.process), fork).count(), part.inner)
}

/// Returns the parts that one process is: a subshell, a program, or both.
fn of_process(command: &Command<'_>, index: usize) -> Vec<Found> {
    let process = &command.processes[index];
    let (root, program) = (&command.places.roots[index], &command.places.programs[index]);
    let (code, signal) = (command.code_of(index), command.signal_of(index));
    let mut found = Vec::new();
    let mut add = |place: Option<&Place>, event: &sys::WitnessEvent, inner| {
        let place = place.cloned();
        // Where traps run, the text may be that of another command, or of an exported function.
        let is_other = event.in_trap || event.text.starts_with("() {");
        let names = |words: &&[String]| words.first().is_some_and(|name| event.text.contains(name));
        let words = process.program().filter(|words| is_other || !names(words));
        let printed = words.map_or_else(|| event.text.to_string(), |words| words.join(" "));
        found.push(Found { process: index, inner, place, printed, code, signal, began: event.number, course: None });
    };
    let is_substitution = match root {
        Some(place) => matches!(command.units[place.unit].shape, Shape::Substitution(_)),
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
        Some(Step::Executed(event, _)) => Some(*event),
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
fn is_same(units: &Units, program: Option<&Place>, root: Option<&Place>) -> bool {
    program.zip(root).is_some_and(|(program, root)| match units[root.unit].shape {
        Shape::Coproc(body) => program.unit == body,
        _ => program.unit == root.unit,
    })
}

/// Returns the name of the command at a place.
fn name<'c>(command: &'c Command<'_>, place: &Place) -> &'c str {
    match &command.units[place.unit].shape {
        Shape::Simple { words } => words.first().and_then(Option::as_deref).unwrap_or_default(),
        _ => "",
    }
}

/// Returns the course of a part's code, if the part failed.
fn course(command: &Command<'_>, found: &[Found], at: usize) -> Option<Course> {
    let part = &found[at];
    let code = part.code.filter(|code| *code != 0)?;
    let process = &command.processes[part.process];
    let Some(place) = &part.place else {
        return Some(Course::Lost).filter(|_| !answers(command, part, code));
    };
    if code == SIGPIPE && has_reader(command, place) || answers(command, part, code) {
        return None;
    }
    // A place that is not certain excuses nothing.
    if !place.certain {
        return Some(Course::Lost);
    }
    // A program that a shell became ends with that shell. Any other part ends in the shell that forked it.
    let itself = part.inner || process.fork.is_none() || is_substitution(command, part.process);
    let course = match process.fork {
        Some((parent, _)) if !itself => {
            let when = process.waited.map_or(usize::MAX, |(_, number)| number);
            command.course(parent, place, code, when)
        }
        _ => command.course(part.process, place, code, usize::MAX),
    };
    let excused =
        course == Course::Condition || is_compound(command, part) && !fails_inside(command, found, part, code);
    (!excused).then_some(course)
}

/// The code after SIGPIPE.
const SIGPIPE: i32 = 128 + 13;

/// Returns whether another element of a pipeline reads the output of this command, or of a command around it.
fn has_reader(command: &Command<'_>, place: &Place) -> bool {
    let is_read = |unit: Id| match command.units.parent(unit) {
        Some((pipeline, Role::At(index))) => match &command.units[pipeline].shape {
            Shape::Pipeline { commands, .. } => index + 1 < commands.len(),
            _ => false,
        },
        _ => false,
    };
    let sites = frames::each(&place.frames).map(|frame| frame.site);
    sites.chain([place.unit]).any(|unit| command.units.around(unit).any(is_read))
}

/// Returns whether a process runs a substitution.
fn is_substitution(command: &Command<'_>, process: usize) -> bool {
    let root = command.places.roots[process].as_ref();
    root.is_some_and(|root| matches!(command.units[root.unit].shape, Shape::Substitution(_)))
}

/// Returns whether the code of a program or a builtin is an answer.
fn answers(command: &Command<'_>, part: &Found, code: i32) -> bool {
    let process = &command.processes[part.process];
    if let Some(program) = process.program() {
        return !is_compound(command, part) && is_answer(program.iter().map(String::as_str), code);
    }
    let Some(place) = &part.place else { return false };
    match &command.units[place.unit].shape {
        Shape::Simple { words } => is_answer(words.iter().map(|word| word.as_deref().unwrap_or_default()), code),
        Shape::Test => true,
        _ => false,
    }
}

/// Returns whether the part is a subshell, a group, a loop or a function: its code comes from what runs in it.
fn is_compound(command: &Command<'_>, part: &Found) -> bool {
    let Some(place) = part.place.as_ref().filter(|_| !part.inner) else { return false };
    match &command.units[place.unit].shape {
        Shape::Simple { words } => words.is_empty() || function(command, place.unit).is_some(),
        Shape::Test => false,
        _ => true,
    }
}

/// Returns the body of the function that a command calls.
fn function(command: &Command<'_>, unit: Id) -> Option<Id> {
    match &command.units[unit].shape {
        Shape::Simple { words } => command.units.function(words.first()?.as_deref()?),
        _ => None,
    }
}

/// Returns whether the code of a compound part comes from a failure in it.
fn fails_inside(command: &Command<'_>, found: &[Found], part: &Found, code: i32) -> bool {
    let process = &command.processes[part.process];
    let inside = |other: &Found| {
        let lost = matches!(other.course, Some(Course::Masked { .. }));
        other.code == Some(code)
            && !lost
            && (other.inner && other.process == part.process || is_in(command, other, part))
    };
    let mut sources = found.iter().rev().filter(|other| inside(other) && !std::ptr::eq(*other, part));
    let Some(last) = process.last_command() else {
        // The process became a program, or was killed.
        return sources.next().is_none_or(Found::failed);
    };
    if sources.clone().any(Found::failed) || ends(last) {
        return true;
    }
    // An answer or a condition excuses the part if nothing ran behind it but a `wait` that returned its code.
    let key = crate::key::of_printed(last);
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
fn is_in(command: &Command<'_>, other: &Found, part: &Found) -> bool {
    let fork = |process: usize| command.processes[process].fork.map(|(parent, _)| parent);
    let mut parent = fork(other.process);
    while let Some(around) = parent.filter(|around| *around != part.process && is_substitution(command, *around)) {
        parent = fork(around);
    }
    parent == Some(part.process)
}

/// Returns whether the code of a unit may come from a `!`.
fn ends_negated(command: &Command<'_>, unit: Id, depth: usize) -> bool {
    let inner = |unit: &Id| depth < DEPTH && ends_negated(command, *unit, depth + 1);
    match &command.units[unit].shape {
        Shape::Pipeline { negated: true, .. } => true,
        Shape::List(entries) => entries.last().is_some_and(inner),
        Shape::Pipeline { commands, .. } => matches!(commands.as_slice(), [only] if inner(only)),
        Shape::AndOr { pipelines, .. } => pipelines.iter().any(|(_, pipeline)| inner(pipeline)),
        Shape::If { arms, otherwise } => inner(otherwise) || arms.iter().any(|(_, body)| inner(body)),
        Shape::Case { arms, .. } => arms.iter().any(inner),
        Shape::Group(body) | Shape::Subshell(body) | Shape::For { body, .. } | Shape::Loop { body, .. } => inner(body),
        Shape::Simple { words } if words.is_empty() => command.units[unit].substitutions.last().is_some_and(inner),
        Shape::Simple { .. } => function(command, unit).is_some_and(|body| inner(&body)),
        Shape::Coproc(body) | Shape::Substitution(body) => inner(body),
        Shape::Test | Shape::Function { .. } => false,
    }
}

/// Most units within each other that are looked at.
const DEPTH: usize = 100;

/// Returns whether a command sets a code by itself.
fn ends(printed: &str) -> bool {
    let name = printed.split_whitespace().next().unwrap_or_default();
    ["exit", "return", "false"].contains(&name)
}

/// Joins equal outcomes of one part, as far as `other` is equal, too. Returns each with the number of outcomes, in the
/// order of the first.
pub fn joined<'f, K: Eq + Hash>(
    parts: impl IntoIterator<Item = &'f Found>,
    other: impl Fn(&Found) -> K,
) -> Vec<(&'f Found, usize)> {
    let mut entries: Vec<(&Found, usize)> = Vec::new();
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
