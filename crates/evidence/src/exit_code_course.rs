//! The course of a failed part's code: outwards through the command, to its exit code or to what hides it.

use safety::parse::AndOrOperator;

use crate::answering_programs::is_answer;
use crate::command_evidence::FailureMask;
use crate::process_places::{ProcessPlace, ProcessPlaces};
use crate::syntax_units::{SyntaxUnitId, SyntaxUnitRole, SyntaxUnitShape, SyntaxUnits};
use crate::traced_processes::{ProcessStep, TracedProcess};
use crate::unit_frames::{UnitFrames, frames_outside, innermost_call};

/// Where the code of a part ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExitCodeCourse {
    /// It is that of a part around it, or of the command.
    Carried,
    /// It decides a condition.
    Condition,
    /// It is not known.
    Lost,
    /// Another code takes its place.
    Masked {
        by: FailureMask,
        /// The source of what ran in its place.
        behind: Option<String>,
        /// The right side of `||`.
        right: Option<SyntaxUnitId>,
    },
}

/// A command with its processes and their places.
pub struct WatchedCommand<'c> {
    pub units: &'c SyntaxUnits,
    pub processes: &'c [TracedProcess<'c>],
    pub places: &'c ProcessPlaces,
    /// The exit code of the command, as `$?` gives it.
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
}

/// Most steps of a code outwards.
const STEPS: usize = 10_000;

/// A code on its way outwards.
struct ClimbingExitCode<'c> {
    /// The process, and the unit in it that has the code.
    process: usize,
    unit: SyntaxUnitId,
    frames: UnitFrames,
    code: i32,
    /// The number of the event after which the process went on.
    when: usize,
    /// The form of the command that ended with the code in this process.
    key: &'c str,
    /// Whether `set -e` lets the code pass, as in front of `&&`.
    spared: bool,
}

impl<'c> WatchedCommand<'c> {
    /// Follows the code of a unit in a process. `when` is the number of the event after which the process went on.
    pub fn course_of_code(&self, process: usize, place: &ProcessPlace, code: i32, when: usize) -> ExitCodeCourse {
        let key = &self.units[place.unit].key;
        let mut climb = ClimbingExitCode {
            process,
            unit: place.unit,
            frames: place.frames.clone(),
            code,
            when,
            key,
            spared: false,
        };
        for _ in 0..STEPS {
            match self.go_outwards(&mut climb) {
                Some(ExitCodeCourse::Masked { .. }) if self.is_exited_with(&climb) => {
                    let Some(root) = self.root(climb.process) else { return ExitCodeCourse::Carried };
                    climb.unit = root;
                }
                Some(course) => return course,
                None => {}
            }
        }
        ExitCodeCourse::Lost
    }

    fn root(&self, process: usize) -> Option<SyntaxUnitId> {
        self.places.roots[process].as_ref().map(|place| place.unit)
    }

    /// Returns the code of a process.
    pub fn code_of(&self, process: usize) -> Option<i32> {
        if process == 0 { self.code } else { self.processes[process].code() }
    }

    /// Returns the number of the signal that ended a process.
    pub fn signal_of(&self, process: usize) -> Option<i32> {
        if process == 0 { self.signal } else { self.processes[process].signal() }
    }

    /// Goes one unit outwards. Returns the course once it is known.
    fn go_outwards(&self, climb: &mut ClimbingExitCode<'c>) -> Option<ExitCodeCourse> {
        if Some(climb.unit) == self.root(climb.process) {
            return self.leave_process(climb);
        }
        if matches!(self.units[climb.unit].shape, SyntaxUnitShape::Coproc(_)) {
            return self.course_in_background(climb, climb.unit);
        }
        let (parent, role) = self.units.parent(climb.unit)?;
        match (&self.units[parent].shape, role) {
            (SyntaxUnitShape::List(entries), SyntaxUnitRole::At(index)) => {
                if matches!(self.units[climb.unit].shape, SyntaxUnitShape::AndOr { background: true, .. }) {
                    return self.course_in_background(climb, climb.unit);
                }
                if let Some(next) = entries.get(index + 1)
                    && self.went_on(climb)
                {
                    return self.course_in_sequence(climb, *next);
                }
            }
            (SyntaxUnitShape::AndOr { pipelines, .. }, SyntaxUnitRole::At(index)) => {
                let right = pipelines[index + 1..].iter().find(|(join, _)| *join == AndOrOperator::Or);
                if let Some((_, right)) = right {
                    let behind = Some(self.units[*right].source.to_string());
                    return Some(ExitCodeCourse::Masked { by: FailureMask::Or, behind, right: Some(*right) });
                }
                climb.spared |= index + 1 < pipelines.len();
            }
            (SyntaxUnitShape::Pipeline { commands, negated }, SyntaxUnitRole::At(index)) => {
                let last = commands[commands.len() - 1];
                if index + 1 < commands.len()
                    && !self.pipefail_takes(climb, &commands[index + 1..])
                    && !self.asks_for_elements(parent)
                {
                    return Some(masked(FailureMask::Pipe, Some(self.units[last].source.to_string())));
                }
                if *negated {
                    return Some(ExitCodeCourse::Condition);
                }
            }
            (SyntaxUnitShape::If { .. } | SyntaxUnitShape::Loop { .. }, SyntaxUnitRole::Condition(_)) => {
                return Some(ExitCodeCourse::Condition);
            }
            (SyntaxUnitShape::For { body, .. } | SyntaxUnitShape::Loop { body, .. }, SyntaxUnitRole::Body(_)) => {
                if self.has_next_round(climb, parent) {
                    return Some(masked(FailureMask::Sequence, self.first_of(*body)));
                }
                climb.frames = frames_outside(&climb.frames, parent);
            }
            (SyntaxUnitShape::Function { .. }, _) => {
                let Some(call) = innermost_call(&climb.frames).cloned() else { return Some(ExitCodeCourse::Lost) };
                (climb.unit, climb.frames) = (call.site, call.outer.clone());
                return None;
            }
            _ => {}
        }
        climb.unit = parent;
        None
    }

    /// Returns whether the process ran something after the code.
    fn went_on(&self, climb: &ClimbingExitCode<'_>) -> bool {
        let process = &self.processes[climb.process];
        let later = process.steps.iter().any(|step| match step {
            ProcessStep::Forked(_, event) | ProcessStep::Executed(event, _) => {
                event.number > climb.when && !event.in_trap
            }
        });
        let stopped = process.errexit && !climb.spared && self.code_of(climb.process) == Some(climb.code);
        later || process.exit.is_some() && !stopped
    }

    /// Returns whether the process exits with the code that it has kept: `code=$?; …; exit $code`. What bash printed
    /// last may be another command: that of a trap.
    fn is_exited_with(&self, climb: &ClimbingExitCode<'_>) -> bool {
        let Some(root) = self.root(climb.process).filter(|root| *root != climb.unit) else { return false };
        let exits = |id: &SyntaxUnitId| match &self.units[*id].shape {
            SyntaxUnitShape::Simple { words } => matches!(words.as_slice(), [Some(name), None, ..] if name == "exit"),
            _ => false,
        };
        let exit = self.units.ids().filter(|id| *id > climb.unit && self.units.is_within(*id, root)).find(exits);
        exit.is_some() && self.code_of(climb.process) == Some(climb.code)
    }

    /// Returns whether what runs behind a pipeline asks for the codes of its elements.
    fn asks_for_elements(&self, pipeline: SyntaxUnitId) -> bool {
        let next = self.units.parent(pipeline).and_then(|(entry, _)| self.entry_behind(entry));
        next.is_some_and(|next| self.units[next].source.contains("PIPESTATUS"))
    }

    /// Returns the entry of a list behind this one.
    fn entry_behind(&self, entry: SyntaxUnitId) -> Option<SyntaxUnitId> {
        match self.units.parent(entry)? {
            (list, SyntaxUnitRole::At(index)) => match &self.units[list].shape {
                SyntaxUnitShape::List(entries) => entries.get(index + 1).copied(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether the process went on in a loop after the code.
    fn has_next_round(&self, climb: &ClimbingExitCode<'_>, around: SyntaxUnitId) -> bool {
        if let Some(frame) = climb.frames.as_ref().filter(|frame| frame.site == around) {
            return frame.left != Some(0) && self.went_on(climb);
        }
        self.processes[climb.process].steps.iter().any(|step| match step {
            ProcessStep::Forked(child, event) => {
                let place = self.places.roots[*child].as_ref();
                event.number > climb.when && place.is_some_and(|place| place.lies_in(self.units, around))
            }
            ProcessStep::Executed(..) => false,
        })
    }

    /// Handles a code behind which this entry of a list ran.
    fn course_in_sequence(&self, climb: &mut ClimbingExitCode<'c>, next: SyntaxUnitId) -> Option<ExitCodeCourse> {
        let behind = Some(self.units[next].source.to_string());
        let root = self.root(climb.process)?;
        let ends = |words: &[Option<String>]| match words {
            [Some(name)] => Some((name.clone(), true)),
            [Some(name), argument, ..] => Some((name.clone(), argument.is_none())),
            _ => None,
        };
        if let Some(SyntaxUnitShape::Simple { words }) = self.first_command(next).map(|first| &self.units[first].shape)
            && let Some((name, passes)) = ends(words)
        {
            match (name.as_str(), passes) {
                ("exit", true) => {
                    climb.unit = root;
                    return None;
                }
                ("return", true) => {
                    if let Some(call) = innermost_call(&climb.frames).cloned() {
                        (climb.unit, climb.frames) = (call.site, call.outer.clone());
                        return None;
                    }
                }
                _ => {}
            }
        }
        Some(masked(FailureMask::Sequence, behind))
    }

    /// Returns the first command of a unit.
    fn first_command(&self, id: SyntaxUnitId) -> Option<SyntaxUnitId> {
        match &self.units[id].shape {
            SyntaxUnitShape::List(inner) => inner.first().and_then(|first| self.first_command(*first)),
            SyntaxUnitShape::AndOr { pipelines, .. } => {
                pipelines.first().and_then(|(_, first)| self.first_command(*first))
            }
            SyntaxUnitShape::Pipeline { commands, .. } => commands.first().copied(),
            _ => Some(id),
        }
    }

    /// Handles a code behind `&`: `wait` may return it.
    fn course_in_background(&self, climb: &mut ClimbingExitCode<'c>, entry: SyntaxUnitId) -> Option<ExitCodeCourse> {
        let process = &self.processes[climb.process];
        let after = process.steps.iter().filter_map(|step| match step {
            ProcessStep::Forked(_, event) | ProcessStep::Executed(event, _) => {
                (event.number > climb.when).then_some(*event)
            }
        });
        let status = after.chain(process.exit).next().map(|event| event.status);
        let waits = |id: &SyntaxUnitId| match &self.units[*id].shape {
            SyntaxUnitShape::Simple { words } => words.len() > 1 && words[0].as_deref() == Some("wait"),
            _ => false,
        };
        let wait = self.units.ids().filter(|id| *id > entry && !self.units.is_within(*id, entry)).find(waits);
        let next = self.entry_behind(entry).filter(|next| {
            let shape = self.first_command(*next).map(|first| &self.units[first]);
            shape.is_some_and(|unit| unit.source.starts_with("wait ") && unit.source.contains("$!"))
        });
        let next = next.and_then(|next| self.first_command(next));
        match next.or(wait.filter(|_| status == Some(climb.code))) {
            Some(wait) => {
                climb.unit = wait;
                None
            }
            None => Some(masked(FailureMask::Background, None)),
        }
    }

    /// Returns whether a pipeline with `pipefail` takes the code of an element in front of these.
    fn pipefail_takes(&self, climb: &ClimbingExitCode<'_>, later: &[SyntaxUnitId]) -> bool {
        let steps = || self.processes[climb.process].steps.iter();
        let forked = |step: &ProcessStep<'_>| match step {
            ProcessStep::Forked(child, event) => Some((*child, event.pipefail, event.number)),
            ProcessStep::Executed(..) => None,
        };
        let pipefail = steps().filter_map(forked).any(|(_, pipefail, number)| pipefail && number < climb.when);
        pipefail
            && later.iter().all(|unit| {
                let mut elements = steps().filter_map(forked).filter(|(child, ..)| self.root(*child) == Some(*unit));
                elements.next_back().is_some_and(|(child, ..)| self.code_of(child) == Some(0))
            })
    }

    /// Handles a code that is the last one of its process.
    fn leave_process(&self, climb: &mut ClimbingExitCode<'c>) -> Option<ExitCodeCourse> {
        let process = &self.processes[climb.process];
        if self.code_of(climb.process) != Some(climb.code) {
            return Some(masked(FailureMask::Sequence, self.next_round(climb.key)));
        }
        let (Some((parent, _)), Some(place)) = (process.fork, &self.places.roots[climb.process]) else {
            return Some(ExitCodeCourse::Carried);
        };
        if !matches!(self.units[place.unit].shape, SyntaxUnitShape::Substitution(_)) {
            return Some(ExitCodeCourse::Carried);
        }
        let (around, SyntaxUnitRole::Word(index)) = self.units.parent(place.unit)? else {
            return Some(ExitCodeCourse::Carried);
        };
        let when = process.waited.map_or(climb.when, |(_, number)| number);
        let hidden = Some(masked(FailureMask::Substitution, None));
        let assigns = matches!(&self.units[around].shape, SyntaxUnitShape::Simple { words } if words.is_empty());
        let last = index + 1 == self.units[around].substitutions.len();
        match self.code_around(parent, around, when) {
            // An answer of the command around it says nothing of the failure.
            Some(code) if code == climb.code && !self.code_is_answer(around, code) => Some(ExitCodeCourse::Carried),
            Some(_) => hidden,
            None if assigns && last => {
                *climb = ClimbingExitCode {
                    process: parent,
                    unit: around,
                    frames: place.frames.clone(),
                    code: climb.code,
                    when,
                    key: &self.units[around].key,
                    spared: false,
                };
                None
            }
            None => hidden,
        }
    }

    /// Returns whether a code of this command is an answer.
    fn code_is_answer(&self, unit: SyntaxUnitId, code: i32) -> bool {
        match &self.units[unit].shape {
            SyntaxUnitShape::Simple { words } => {
                is_answer(words.iter().map(|word| word.as_deref().unwrap_or_default()), code)
            }
            _ => false,
        }
    }

    /// Returns the code of the process that a command around a substitution became.
    fn code_around(&self, parent: usize, around: SyntaxUnitId, when: usize) -> Option<i32> {
        if self.places.programs[parent].as_ref().is_some_and(|place| place.unit == around) {
            return self.code_of(parent);
        }
        self.processes[parent].steps.iter().find_map(|step| match step {
            ProcessStep::Forked(child, event) if event.number > when && self.root(*child) == Some(around) => {
                self.code_of(*child)
            }
            _ => None,
        })
    }

    /// Returns the source of the first command of the loop around a command.
    fn next_round(&self, key: &str) -> Option<String> {
        let unit = self.units.ids().find(|id| self.units[*id].key == key)?;
        let body = self.units.outwards_from(unit).find_map(|id| match self.units[id].shape {
            SyntaxUnitShape::For { body, .. } | SyntaxUnitShape::Loop { body, .. } => Some(body),
            _ => None,
        })?;
        self.first_of(body)
    }

    /// Returns the source of the first command of a unit, with its `!`.
    fn first_of(&self, id: SyntaxUnitId) -> Option<String> {
        let first = self.first_command(id)?;
        let pipeline = self.units.parent(first).map(|(around, _)| around);
        let negated =
            pipeline.filter(|id| matches!(self.units[*id].shape, SyntaxUnitShape::Pipeline { negated: true, .. }));
        Some(self.units[negated.unwrap_or(first)].source.to_string())
    }
}

fn masked(by: FailureMask, behind: Option<String>) -> ExitCodeCourse {
    ExitCodeCourse::Masked { by, behind, right: None }
}
