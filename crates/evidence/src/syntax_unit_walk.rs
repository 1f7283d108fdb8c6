//! The ways that a shell can take through its command, from one process that it starts to the next.

use std::collections::HashSet;

use safety::parse::AndOrOperator;

use crate::builtins::{is_builtin, is_opaque, starts_programs};
use crate::syntax_units::{SyntaxUnitId, SyntaxUnitRole, SyntaxUnitShape, SyntaxUnits};
use crate::unit_frames::{
    LoopContinuation, UnitFrames, first_round, frame_count, frames_of_call, frames_outside, innermost_call, next_round,
};

/// Frames within each other before the walk gives up.
const FRAMES: usize = 32;

/// A place between two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WalkPosition {
    /// In front of a unit.
    Begin(SyntaxUnitId),
    /// In a command, in front of this substitution of its words, and behind one that ended with this code.
    Words(SyntaxUnitId, usize, Option<i32>),
    /// In a command whose words are expanded. The code is that of the last substitution.
    Body(SyntaxUnitId, Option<i32>),
    /// Behind a unit that ended with this code. `None` if it is not known.
    After(SyntaxUnitId, Option<i32>),
}

/// What the shell may do next.
#[derive(Default)]
pub struct NextProcessUnits {
    /// The units for which it may start a process, the most likely first.
    pub units: Vec<(SyntaxUnitId, UnitFrames)>,
    /// Whether it may run commands from elsewhere before: by `eval`, `source`, or a name that is not known.
    pub elsewhere: bool,
    /// Whether it may end without starting another process.
    pub ends: bool,
}

/// How the walk treats the process.
#[derive(Clone, Copy)]
pub struct WalkedProcess {
    /// The unit that the process runs.
    pub root: SyntaxUnitId,
    /// Whether the last element of a pipeline runs in the shell itself.
    pub lastpipe: bool,
    /// Whether a pipeline takes the code of any element.
    pub pipefail: bool,
    /// Whether any command may pass without a process of its own.
    pub lenient: bool,
}

/// Walks through the units of one command.
pub struct SyntaxUnitWalk<'u> {
    pub units: &'u SyntaxUnits,
    /// Places that may still be looked at.
    pub budget: usize,
}

impl SyntaxUnitWalk<'_> {
    /// Returns the place at which a process begins that runs this unit.
    pub fn start_position(&self, root: SyntaxUnitId) -> WalkPosition {
        match &self.units[root].shape {
            SyntaxUnitShape::List(_) | SyntaxUnitShape::Pipeline { .. } => WalkPosition::Begin(root),
            SyntaxUnitShape::AndOr { pipelines, .. } => {
                pipelines.first().map_or(WalkPosition::After(root, None), |(_, first)| WalkPosition::Begin(*first))
            }
            SyntaxUnitShape::Substitution(list) => WalkPosition::Begin(*list),
            SyntaxUnitShape::Subshell(list) => WalkPosition::Begin(*list),
            SyntaxUnitShape::Coproc(body) => WalkPosition::Words(*body, 0, Some(0)),
            // A program's process expands its redirects.
            _ => WalkPosition::Words(root, 0, Some(0)),
        }
    }

    /// Returns what the shell may do next.
    pub fn next_units(&mut self, at: WalkPosition, frames: UnitFrames, process: WalkedProcess) -> NextProcessUnits {
        let mut next = NextProcessUnits::default();
        let mut seen = HashSet::new();
        let mut open = vec![(at, frames)];
        let mut ways = Vec::new();
        while let Some((at, frames)) = open.pop() {
            if frame_count(&frames) > FRAMES || self.budget == 0 || !seen.insert((at, frames.clone())) {
                continue;
            }
            self.budget -= 1;
            self.step(at, &frames, process, &mut next, &mut ways);
            open.extend(ways.drain(..).rev());
        }
        next
    }

    fn step(
        &self,
        at: WalkPosition,
        frames: &UnitFrames,
        process: WalkedProcess,
        next: &mut NextProcessUnits,
        ways: &mut Vec<(WalkPosition, UnitFrames)>,
    ) {
        let mut go = |at| ways.push((at, frames.clone()));
        match at {
            WalkPosition::Begin(id) => match &self.units[id].shape {
                SyntaxUnitShape::List(entries) => {
                    go(entries.first().map_or(WalkPosition::After(id, Some(0)), |first| WalkPosition::Begin(*first)))
                }
                SyntaxUnitShape::AndOr { pipelines, background } if *background && pipelines.len() > 1 => {
                    next.units.push((id, frames.clone()));
                }
                SyntaxUnitShape::AndOr { pipelines, .. } => {
                    pipelines.iter().take(1).for_each(|(_, first)| go(WalkPosition::Begin(*first)))
                }
                SyntaxUnitShape::Pipeline { commands, .. } => {
                    go(commands.first().map_or(WalkPosition::After(id, Some(0)), |first| WalkPosition::Begin(*first)));
                }
                SyntaxUnitShape::Substitution(list) => go(WalkPosition::Begin(*list)),
                _ if self.units.is_apart(id) => {
                    next.units.push((id, frames.clone()));
                    if process.lastpipe && self.is_last(id) {
                        go(WalkPosition::Words(id, 0, Some(0)));
                    }
                }
                _ => go(WalkPosition::Words(id, 0, Some(0))),
            },
            WalkPosition::Words(id, index, code) => match self.units[id].substitutions.get(index) {
                Some(substitution) => {
                    next.units.push((*substitution, frames.clone()));
                    // A program's process expands its redirects, and not again the words.
                    if self.units[*substitution].optional || process.lenient || id == process.root {
                        go(WalkPosition::Words(id, index + 1, None));
                    }
                }
                None => go(WalkPosition::Body(id, code)),
            },
            WalkPosition::Body(id, code) => self.body((id, code), frames, process, next, ways),
            WalkPosition::After(id, _) if id == process.root => next.ends = true,
            WalkPosition::After(id, code) => self.go_on_after((id, code), frames, process, ways),
        }
    }

    fn is_last(&self, id: SyntaxUnitId) -> bool {
        self.units.parent(id).is_some_and(|(pipeline, _)| match &self.units[pipeline].shape {
            SyntaxUnitShape::Pipeline { commands, .. } => commands.last() == Some(&id),
            _ => false,
        })
    }

    fn body(
        &self,
        (id, code): (SyntaxUnitId, Option<i32>),
        frames: &UnitFrames,
        process: WalkedProcess,
        next: &mut NextProcessUnits,
        ways: &mut Vec<(WalkPosition, UnitFrames)>,
    ) {
        let mut go = |at| ways.push((at, frames.clone()));
        match &self.units[id].shape {
            // Assignments alone: the code is that of the last substitution.
            SyntaxUnitShape::Simple { words } if words.is_empty() => go(WalkPosition::After(id, code)),
            SyntaxUnitShape::Simple { words } => {
                self.enter_command(id, words[0].as_deref(), frames, process, next, ways)
            }
            SyntaxUnitShape::Group(list) => go(WalkPosition::Begin(*list)),
            SyntaxUnitShape::Subshell(list) if self.shares_process(id, process.root) => go(WalkPosition::Begin(*list)),
            SyntaxUnitShape::Subshell(_) | SyntaxUnitShape::Coproc(_) => next.units.push((id, frames.clone())),
            SyntaxUnitShape::If { arms, otherwise } => {
                go(arms
                    .first()
                    .map_or(WalkPosition::Begin(*otherwise), |(condition, _)| WalkPosition::Begin(*condition)));
            }
            SyntaxUnitShape::Loop { condition, .. } => go(WalkPosition::Begin(*condition)),
            SyntaxUnitShape::For { rounds: Some(0), .. } => go(WalkPosition::After(id, Some(0))),
            SyntaxUnitShape::For { body, rounds } => match first_round(id, *rounds, frames) {
                Some(round) => ways.push((WalkPosition::Begin(*body), round)),
                None => {
                    go(WalkPosition::Begin(*body));
                    go(WalkPosition::After(id, Some(0)));
                }
            },
            SyntaxUnitShape::Case { arms, may_skip, .. } => {
                arms.iter().for_each(|arm| go(WalkPosition::Begin(*arm)));
                may_skip.then(|| go(WalkPosition::After(id, Some(0))));
            }
            SyntaxUnitShape::Function { .. } => go(WalkPosition::After(id, Some(0))),
            _ => go(WalkPosition::After(id, None)),
        }
    }

    /// Goes into a command with this name. `None`: the name is not known.
    fn enter_command(
        &self,
        id: SyntaxUnitId,
        name: Option<&str>,
        frames: &UnitFrames,
        process: WalkedProcess,
        next: &mut NextProcessUnits,
        ways: &mut Vec<(WalkPosition, UnitFrames)>,
    ) {
        let Some(name) = name else {
            next.elsewhere = true;
            next.units.push((id, frames.clone()));
            return ways.push((WalkPosition::After(id, None), frames.clone()));
        };
        let is_function = self.units.function(name).is_some();
        let runs_itself = is_builtin(name) && !starts_programs(name) && id != process.root;
        next.elsewhere |= is_opaque(name);
        next.ends |= name == "exit";
        if is_function || !runs_itself {
            // A function may be defined later, or be gone.
            next.units.push((id, frames.clone()));
        }
        ways.extend(self.units.functions(name).map(|body| (WalkPosition::Begin(body), frames_of_call(id, frames))));
        if !is_function && (is_builtin(name) || process.lenient) {
            self.pass_builtin(id, name, frames, ways);
        }
    }

    /// Returns whether a subshell runs in the process of another one: bash starts no second process for a subshell that
    /// is all of the first.
    fn shares_process(&self, id: SyntaxUnitId, root: SyntaxUnitId) -> bool {
        let is_all = |around: &SyntaxUnitId| match &self.units[*around].shape {
            SyntaxUnitShape::List(entries) => entries.len() == 1,
            SyntaxUnitShape::AndOr { pipelines, background } => pipelines.len() == 1 && !background,
            SyntaxUnitShape::Pipeline { commands, negated } => commands.len() == 1 && !negated,
            SyntaxUnitShape::Subshell(_) => true,
            _ => false,
        };
        let is_subshell = matches!(self.units[root].shape, SyntaxUnitShape::Subshell(_));
        id == root || is_subshell && self.units.outwards_from(id).take_while(is_all).any(|around| around == root)
    }

    /// Passes a builtin.
    fn pass_builtin(
        &self,
        id: SyntaxUnitId,
        name: &str,
        frames: &UnitFrames,
        ways: &mut Vec<(WalkPosition, UnitFrames)>,
    ) {
        match name {
            "break" | "continue" => {
                let loops = self.units.outwards_from(id).filter_map(|around| match self.units[around].shape {
                    SyntaxUnitShape::For { body, .. } | SyntaxUnitShape::Loop { body, .. } => Some((around, body)),
                    _ => None,
                });
                // A number may name a loop further out.
                let is_bare = matches!(&self.units[id].shape, SyntaxUnitShape::Simple { words } if words.len() == 1);
                for (around, body) in loops.take(if is_bare { 1 } else { usize::MAX }) {
                    ways.push(match name {
                        "break" => (WalkPosition::After(around, Some(0)), frames_outside(frames, around)),
                        _ => (WalkPosition::After(body, None), frames.clone()),
                    });
                }
            }
            "return" => {
                if let Some(call) = innermost_call(frames) {
                    ways.push((WalkPosition::After(call.site, None), call.outer.clone()));
                }
            }
            "exit" => {}
            "true" | ":" => ways.push((WalkPosition::After(id, Some(0)), frames.clone())),
            "false" => ways.push((WalkPosition::After(id, Some(1)), frames.clone())),
            _ => ways.push((WalkPosition::After(id, None), frames.clone())),
        }
    }

    /// Goes on behind a unit.
    fn go_on_after(
        &self,
        (id, code): (SyntaxUnitId, Option<i32>),
        frames: &UnitFrames,
        process: WalkedProcess,
        ways: &mut Vec<(WalkPosition, UnitFrames)>,
    ) {
        let Some((parent, role)) = self.units.parent(id) else { return };
        let mut go = |at| ways.push((at, frames.clone()));
        match (&self.units[parent].shape, role) {
            (SyntaxUnitShape::List(entries), SyntaxUnitRole::At(index)) => {
                go(entries
                    .get(index + 1)
                    .map_or(WalkPosition::After(parent, code), |entry| WalkPosition::Begin(*entry)));
            }
            (SyntaxUnitShape::AndOr { pipelines, background }, SyntaxUnitRole::At(index)) => {
                if *background && pipelines.len() == 1 {
                    return go(WalkPosition::After(parent, Some(0)));
                }
                positions_after_pipeline(parent, &pipelines[index + 1..], code).into_iter().for_each(go);
            }
            (SyntaxUnitShape::Pipeline { commands, negated }, SyntaxUnitRole::At(index)) => {
                match commands.get(index + 1) {
                    Some(command) => go(WalkPosition::Begin(*command)),
                    // With `pipefail` another element may have failed.
                    None if process.pipefail && commands.len() > 1 && code == Some(0) => {
                        go(WalkPosition::After(parent, None))
                    }
                    None if *negated => go(WalkPosition::After(parent, code.map(|code| i32::from(code == 0)))),
                    None => go(WalkPosition::After(parent, code)),
                }
            }
            (SyntaxUnitShape::If { arms, otherwise }, SyntaxUnitRole::Condition(index)) => {
                if code.is_none_or(|code| code == 0) {
                    go(WalkPosition::Begin(arms[index].1));
                }
                if code != Some(0) {
                    go(arms
                        .get(index + 1)
                        .map_or(WalkPosition::Begin(*otherwise), |(condition, _)| WalkPosition::Begin(*condition)));
                }
            }
            (SyntaxUnitShape::Loop { body, .. }, SyntaxUnitRole::Condition(_)) => {
                go(WalkPosition::Begin(*body));
                go(WalkPosition::After(parent, None));
            }
            (SyntaxUnitShape::Loop { condition, .. }, _) => go(WalkPosition::Begin(*condition)),
            (SyntaxUnitShape::For { body, .. }, SyntaxUnitRole::Body(_)) => match next_round(parent, frames) {
                LoopContinuation::Next(frames) => ways.push((WalkPosition::Begin(*body), frames)),
                LoopContinuation::Last(frames) => ways.push((WalkPosition::After(parent, code), frames)),
                LoopContinuation::Unknown => {
                    go(WalkPosition::Begin(*body));
                    go(WalkPosition::After(parent, code));
                }
            },
            (SyntaxUnitShape::Case { arms, falls, .. }, SyntaxUnitRole::Body(index)) => {
                go(WalkPosition::After(parent, code));
                arms.get(index + 1).filter(|_| *falls).into_iter().for_each(|arm| go(WalkPosition::Begin(*arm)));
            }
            (SyntaxUnitShape::Function { .. }, _) => {
                if let Some(call) = innermost_call(frames) {
                    ways.push((WalkPosition::After(call.site, code), call.outer.clone()));
                }
            }
            (_, SyntaxUnitRole::Word(index)) => go(WalkPosition::Words(parent, index + 1, code)),
            _ => go(WalkPosition::After(parent, code)),
        }
    }
}

/// Returns where the shell goes behind a pipeline with this code: to one of these, or to the end of the list.
fn positions_after_pipeline(
    list: SyntaxUnitId,
    later: &[(AndOrOperator, SyntaxUnitId)],
    code: Option<i32>,
) -> Vec<WalkPosition> {
    let mut ways = Vec::new();
    for (join, pipeline) in later {
        let runs = code.map(|code| (code == 0) == (*join == AndOrOperator::And));
        if runs != Some(false) {
            ways.push(WalkPosition::Begin(*pipeline));
        }
        if runs == Some(true) {
            return ways;
        }
    }
    ways.push(WalkPosition::After(list, code));
    ways
}
