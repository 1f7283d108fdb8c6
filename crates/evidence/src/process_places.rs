//! The place of each process in the command.

use std::collections::HashMap;
use std::rc::Rc;

use sys::WitnessEvent;

use crate::builtins::is_opaque;
use crate::canonical_form;
use crate::syntax_unit_walk::{SyntaxUnitWalk, WalkPosition, WalkedProcess as Walked};
use crate::syntax_units::{SyntaxUnitId, SyntaxUnitShape, SyntaxUnits};
use crate::traced_processes::{ProcessStep, TracedProcess};
use crate::unit_frames::{self, UnitFrames};

/// The place of a process, or of the program that it became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessPlace {
    /// The unit.
    pub unit: SyntaxUnitId,
    /// The function calls and counted loops around it.
    pub frames: UnitFrames,
    /// Whether it can be no other one.
    pub certain: bool,
}

impl ProcessPlace {
    /// Returns whether the place lies in a unit, or in a function that is called there.
    pub fn lies_in(&self, units: &SyntaxUnits, outer: SyntaxUnitId) -> bool {
        units.is_within(self.unit, outer)
            || unit_frames::iter_frames(&self.frames).any(|frame| units.is_within(frame.site, outer))
    }
}

/// The places of all processes.
pub struct ProcessPlaces {
    /// The unit that each process runs. `None` for commands from elsewhere.
    pub roots: Vec<Option<ProcessPlace>>,
    /// The unit of the program that each process became, or did not find.
    pub programs: Vec<Option<ProcessPlace>>,
}

/// Ways through the command that are followed at once.
const WAYS: usize = 16;
/// Places between commands that are looked at for one trace.
const BUDGET: usize = 100_000;

/// One way of a process through its command so far.
#[derive(Clone)]
struct ExecutionPath {
    at: WalkPosition,
    frames: UnitFrames,
    /// The unit of each step, the last first.
    taken: Option<Rc<TakenSteps>>,
}

/// The unit of a step, and those of the steps before, which ways share.
struct TakenSteps {
    unit: Option<(SyntaxUnitId, UnitFrames)>,
    before: Option<Rc<TakenSteps>>,
}

impl ExecutionPath {
    /// Returns the way behind one more step.
    fn after_step(&self, unit: Option<(SyntaxUnitId, UnitFrames)>, at: WalkPosition, frames: UnitFrames) -> Self {
        Self { at, frames, taken: Some(Rc::new(TakenSteps { unit, before: self.taken.clone() })) }
    }

    /// Returns the units of the steps, the last first.
    fn taken(&self) -> impl Iterator<Item = &Option<(SyntaxUnitId, UnitFrames)>> {
        std::iter::successors(self.taken.as_ref(), |taken| taken.before.as_ref()).map(|taken| &taken.unit)
    }
}

/// Finds the places of all processes.
pub fn find_process_places(units: &SyntaxUnits, processes: &[TracedProcess<'_>]) -> ProcessPlaces {
    let mut finder = ProcessPlaceFinder {
        walk: SyntaxUnitWalk { units, budget: BUDGET },
        processes,
        unclear: false,
        keys: HashMap::new(),
        places: ProcessPlaces { roots: vec![None; processes.len()], programs: vec![None; processes.len()] },
    };
    finder.places.roots[0] = Some(ProcessPlace { unit: 0, frames: None, certain: units.is_settled() });
    // A shell comes before its children, so its place is known.
    for index in 0..processes.len() {
        finder.place_children(index);
    }
    finder.places
}

struct ProcessPlaceFinder<'u, 'p> {
    walk: SyntaxUnitWalk<'u>,
    processes: &'p [TracedProcess<'p>],
    /// Whether a way was left out, so that no place of this process is certain.
    unclear: bool,
    /// The canonical form of each printed command.
    keys: HashMap<&'p str, String>,
    places: ProcessPlaces,
}

/// What a step asks of a unit.
struct StepRequirement<'p> {
    event: &'p WitnessEvent,
    /// The process that was forked. `None` for the process itself, which becomes a program.
    child: Option<usize>,
}

impl<'p> ProcessPlaceFinder<'_, 'p> {
    /// Places the children of a process, and the program that it became.
    fn place_children(&mut self, index: usize) {
        let process = &self.processes[index];
        let Some(root) = self.places.roots[index].clone() else { return };
        let wanted = self.steps_of_process(process);
        let lastpipe = process.first().is_some_and(|event| event.lastpipe);
        let pipefail = wanted.iter().any(|step| step.event.pipefail);
        let walked = Walked { root: root.unit, lastpipe, pipefail, lenient: false };
        self.unclear = false;
        let mut ways =
            vec![ExecutionPath { at: self.walk.start_position(root.unit), frames: root.frames.clone(), taken: None }];
        for step in &wanted {
            ways = self.follow_paths(ways, step, walked);
        }
        self.prefer_ended(&mut ways, process, walked);
        let mut taken: Vec<_> = ways.iter().map(ExecutionPath::taken).collect();
        for step in wanted.iter().rev() {
            let units: Vec<_> = taken.iter_mut().filter_map(Iterator::next).collect();
            let Some((unit, frames)) = units.iter().find_map(|unit| unit.as_ref()) else { continue };
            let agrees =
                |other: &&Option<(SyntaxUnitId, UnitFrames)>| other.as_ref().is_some_and(|(other, _)| other == unit);
            let certain = root.certain && !self.unclear && units.iter().all(agrees);
            let place = Some(ProcessPlace { unit: *unit, frames: frames.clone(), certain });
            match step.child {
                Some(child) => self.places.roots[child] = place,
                None => self.places.programs[index] = place,
            }
        }
    }

    /// Prefers ways behind which the process may have ended, if it exited as a shell.
    fn prefer_ended(&mut self, ways: &mut Vec<ExecutionPath>, process: &TracedProcess<'_>, walked: Walked) {
        if ways.len() > 1 && process.exit.is_some() && !process.errexit {
            let mut ends = |way: &ExecutionPath| self.walk.next_units(way.at, way.frames.clone(), walked).ends;
            let ended: Vec<_> = ways.iter().map(&mut ends).collect();
            if ended.contains(&true) {
                let mut ended = ended.iter();
                ways.retain(|_| *ended.next().unwrap_or(&true));
            }
        }
    }

    /// Lists the steps of a process. The last may be a program that was not found.
    fn steps_of_process(&self, process: &'p TracedProcess<'p>) -> Vec<StepRequirement<'p>> {
        let mut wanted: Vec<_> = process
            .steps
            .iter()
            .map(|step| match step {
                ProcessStep::Forked(child, event) => StepRequirement { event, child: Some(*child) },
                ProcessStep::Executed(event, _) => StepRequirement { event, child: None },
            })
            .collect();
        if let Some(event) = process.not_found() {
            wanted.push(StepRequirement { event, child: None });
        }
        wanted
    }

    /// Follows each way to the places where this step can be.
    fn follow_paths(
        &mut self,
        ways: Vec<ExecutionPath>,
        step: &StepRequirement<'p>,
        walked: Walked,
    ) -> Vec<ExecutionPath> {
        let code = step.child.and_then(|child| self.processes[child].code());
        let mut followed: Vec<ExecutionPath> = Vec::new();
        let mut elsewhere = step.event.in_trap;
        for (lenient, kept) in [(false, false), (false, true), (true, true)] {
            for way in &ways {
                if step.event.in_trap {
                    break;
                }
                let next = self.walk.next_units(way.at, way.frames.clone(), Walked { lenient, ..walked });
                elsewhere |= next.elsewhere;
                for (unit, frames) in next.units {
                    if !self.fits(unit, step, kept) {
                        continue;
                    }
                    self.unclear |= followed.len() == WAYS;
                    if followed.len() < WAYS {
                        followed.push(way.after_step(
                            Some((unit, frames.clone())),
                            WalkPosition::After(unit, code),
                            frames,
                        ));
                    }
                }
            }
            self.prefer_substitutions(&mut followed, step);
            if !followed.is_empty() || kept && elsewhere {
                break;
            }
        }
        self.unclear |= self.walk.budget == 0;
        if followed.is_empty() && !elsewhere {
            self.unclear = true;
            followed.extend(self.paths_to_any_fit(&ways, step, walked.root, code));
        }
        if followed.is_empty() {
            followed = ways.iter().map(|way| way.after_step(None, way.at, way.frames.clone())).collect();
        }
        followed
    }

    /// Returns the ways to every unit of the process that fits, wherever the shell was.
    fn paths_to_any_fit(
        &mut self,
        ways: &[ExecutionPath],
        step: &StepRequirement<'p>,
        root: SyntaxUnitId,
        code: Option<i32>,
    ) -> Vec<ExecutionPath> {
        let Some(way) = ways.first() else { return Vec::new() };
        let units = self.walk.units;
        let has_process = |unit: &SyntaxUnitId| match &units[*unit].shape {
            SyntaxUnitShape::List(_) | SyntaxUnitShape::Pipeline { .. } => false,
            SyntaxUnitShape::AndOr { pipelines, background } => *background && pipelines.len() > 1,
            _ => units.is_within(*unit, root),
        };
        let fitting: Vec<_> = units.ids().filter(has_process).collect();
        let fitting = fitting.into_iter().filter(|unit| self.fits(*unit, step, true)).take(WAYS).collect::<Vec<_>>();
        let there = |unit| {
            way.after_step(Some((unit, way.frames.clone())), WalkPosition::After(unit, code), way.frames.clone())
        };
        fitting.into_iter().map(there).collect()
    }

    /// Returns whether a step can be that of a unit. `kept`: see [`Self::is_printed`].
    fn fits(&mut self, unit: SyntaxUnitId, step: &StepRequirement<'p>, kept: bool) -> bool {
        let units = self.walk.units;
        let Some(child) = step.child else {
            return matches!(units[unit].shape, SyntaxUnitShape::Simple { .. }) && self.is_printed(unit, step, kept);
        };
        let process = &self.processes[child];
        let substitution = self.is_substitution(process);
        if !matches!(units[unit].shape, SyntaxUnitShape::Substitution(_)) {
            return substitution != Some(true) && self.is_printed(unit, step, kept);
        }
        if substitution == Some(false) || !self.is_printed_around(unit, step, kept) {
            return false;
        }
        let Some(first) = process.first().filter(|first| first.text != step.event.text) else { return true };
        let first = self.key(&first.text).to_owned();
        let calls = |inner: SyntaxUnitId| match &units[inner].shape {
            SyntaxUnitShape::Simple { words } => words
                .first()
                .is_some_and(|name| name.as_ref().is_none_or(|name| is_opaque(name) || units.function(name).is_some())),
            _ => false,
        };
        units.ids().filter(|inner| units.is_within(*inner, unit)).any(|inner| units[inner].key == first || calls(inner))
    }

    /// Prefers substitutions for a process that began with another command than the one that was printed.
    fn prefer_substitutions(&self, followed: &mut Vec<ExecutionPath>, step: &StepRequirement<'_>) {
        let is_substitution = |way: &ExecutionPath| match way.taken().next() {
            Some(Some((unit, _))) => matches!(self.walk.units[*unit].shape, SyntaxUnitShape::Substitution(_)),
            _ => false,
        };
        let first = step.child.and_then(|child| self.processes[child].first());
        if first.is_some_and(|first| first.text != step.event.text) && followed.iter().any(is_substitution) {
            followed.retain(is_substitution);
        }
    }

    /// Returns whether a process runs a substitution, as far as it shows.
    fn is_substitution(&self, process: &TracedProcess<'_>) -> Option<bool> {
        let (_, fork) = process.fork?;
        let first = process.first()?;
        match (fork.substitution, first.substitution) {
            (false, within) => Some(within),
            // Within a substitution all processes have its mark. A command that starts a program has the same text.
            (true, _) if first.text == fork.text && process.program().is_some() => Some(false),
            (true, _) => None,
        }
    }

    /// Returns whether bash printed this unit. `kept`: or keeps it for the time of traps, which it does for simple
    /// commands.
    fn is_printed(&mut self, unit: SyntaxUnitId, step: &StepRequirement<'p>, kept: bool) -> bool {
        let units = self.walk.units;
        let mut is = |text| self.key(text) == units[unit].key;
        is(&step.event.text) || kept && is(&step.event.kept)
    }

    /// Returns whether bash printed the simple command around a substitution, or the list in it. It prints one of the
    /// two before it runs the substitution.
    fn is_printed_around(&mut self, unit: SyntaxUnitId, step: &StepRequirement<'p>, kept: bool) -> bool {
        let units = self.walk.units;
        let around = units.parent(unit).map(|(around, _)| around);
        let Some(around) = around.filter(|around| matches!(units[*around].shape, SyntaxUnitShape::Simple { .. }))
        else {
            return true;
        };
        if self.is_printed(around, step, kept) {
            return true;
        }
        let printed = self.key(&step.event.text).to_owned();
        units.ids().any(|inner| units[inner].key == printed && units.is_within(inner, unit))
    }

    fn key(&mut self, text: &'p str) -> &str {
        self.keys.entry(text).or_insert_with(|| canonical_form::of_printed(text))
    }
}
