//! The ways that a shell can take through its command, from one process that it starts to the next.

use std::collections::HashSet;

use safety::parse::AndOrOperator;

use crate::builtins::{is_builtin, is_opaque, starts_programs};
use crate::frames::{Frames, Round, call, called, depth, first_round, next_round, outside};
use crate::units::{Id, Role, Shape, Units};

/// Frames within each other before the walk gives up.
const FRAMES: usize = 32;

/// A place between two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    /// In front of a unit.
    Begin(Id),
    /// In a command, in front of this substitution of its words, and behind one that ended with this code.
    Words(Id, usize, Option<i32>),
    /// In a command whose words are expanded. The code is that of the last substitution.
    Body(Id, Option<i32>),
    /// Behind a unit that ended with this code. `None` if it is not known.
    After(Id, Option<i32>),
}

/// What the shell may do next.
#[derive(Default)]
pub struct Next {
    /// The units for which it may start a process, the most likely first.
    pub units: Vec<(Id, Frames)>,
    /// Whether it may run commands from elsewhere before: by `eval`, `source`, or a name that is not known.
    pub elsewhere: bool,
    /// Whether it may end without starting another process.
    pub ends: bool,
}

/// How the walk treats the process.
#[derive(Clone, Copy)]
pub struct Process {
    /// The unit that the process runs.
    pub root: Id,
    /// Whether the last element of a pipeline runs in the shell itself.
    pub lastpipe: bool,
    /// Whether a pipeline takes the code of any element.
    pub pipefail: bool,
    /// Whether any command may pass without a process of its own.
    pub lenient: bool,
}

/// Walks through the units of one command.
pub struct Walk<'u> {
    pub units: &'u Units,
    /// Places that may still be looked at.
    pub budget: usize,
}

impl Walk<'_> {
    /// Returns the place at which a process begins that runs this unit.
    pub fn start(&self, root: Id) -> At {
        match &self.units[root].shape {
            Shape::List(_) | Shape::Pipeline { .. } => At::Begin(root),
            Shape::AndOr { pipelines, .. } => {
                pipelines.first().map_or(At::After(root, None), |(_, first)| At::Begin(*first))
            }
            Shape::Substitution(list) => At::Begin(*list),
            Shape::Subshell(list) => At::Begin(*list),
            Shape::Coproc(body) => At::Words(*body, 0, Some(0)),
            // A program's process expands its redirects.
            _ => At::Words(root, 0, Some(0)),
        }
    }

    /// Returns what the shell may do next.
    pub fn next(&mut self, at: At, frames: Frames, process: Process) -> Next {
        let mut next = Next::default();
        let mut seen = HashSet::new();
        let mut open = vec![(at, frames)];
        let mut ways = Vec::new();
        while let Some((at, frames)) = open.pop() {
            if depth(&frames) > FRAMES || self.budget == 0 || !seen.insert((at, frames.clone())) {
                continue;
            }
            self.budget -= 1;
            self.step(at, &frames, process, &mut next, &mut ways);
            open.extend(ways.drain(..).rev());
        }
        next
    }

    fn step(&self, at: At, frames: &Frames, process: Process, next: &mut Next, ways: &mut Vec<(At, Frames)>) {
        let mut go = |at| ways.push((at, frames.clone()));
        match at {
            At::Begin(id) => match &self.units[id].shape {
                Shape::List(entries) => go(entries.first().map_or(At::After(id, Some(0)), |first| At::Begin(*first))),
                Shape::AndOr { pipelines, background } if *background && pipelines.len() > 1 => {
                    next.units.push((id, frames.clone()));
                }
                Shape::AndOr { pipelines, .. } => pipelines.iter().take(1).for_each(|(_, first)| go(At::Begin(*first))),
                Shape::Pipeline { commands, .. } => {
                    go(commands.first().map_or(At::After(id, Some(0)), |first| At::Begin(*first)));
                }
                Shape::Substitution(list) => go(At::Begin(*list)),
                _ if self.units.is_apart(id) => {
                    next.units.push((id, frames.clone()));
                    if process.lastpipe && self.is_last(id) {
                        go(At::Words(id, 0, Some(0)));
                    }
                }
                _ => go(At::Words(id, 0, Some(0))),
            },
            At::Words(id, index, code) => match self.units[id].substitutions.get(index) {
                Some(substitution) => {
                    next.units.push((*substitution, frames.clone()));
                    // A program's process expands its redirects, and not again the words.
                    if self.units[*substitution].optional || process.lenient || id == process.root {
                        go(At::Words(id, index + 1, None));
                    }
                }
                None => go(At::Body(id, code)),
            },
            At::Body(id, code) => self.body((id, code), frames, process, next, ways),
            At::After(id, _) if id == process.root => next.ends = true,
            At::After(id, code) => self.after((id, code), frames, process, ways),
        }
    }

    fn is_last(&self, id: Id) -> bool {
        self.units.parent(id).is_some_and(|(pipeline, _)| match &self.units[pipeline].shape {
            Shape::Pipeline { commands, .. } => commands.last() == Some(&id),
            _ => false,
        })
    }

    fn body(
        &self,
        (id, code): (Id, Option<i32>),
        frames: &Frames,
        process: Process,
        next: &mut Next,
        ways: &mut Vec<(At, Frames)>,
    ) {
        let mut go = |at| ways.push((at, frames.clone()));
        match &self.units[id].shape {
            // Assignments alone: the code is that of the last substitution.
            Shape::Simple { words } if words.is_empty() => go(At::After(id, code)),
            Shape::Simple { words } => self.simple(id, words[0].as_deref(), frames, process, next, ways),
            Shape::Group(list) => go(At::Begin(*list)),
            Shape::Subshell(list) if self.shares_process(id, process.root) => go(At::Begin(*list)),
            Shape::Subshell(_) | Shape::Coproc(_) => next.units.push((id, frames.clone())),
            Shape::If { arms, otherwise } => {
                go(arms.first().map_or(At::Begin(*otherwise), |(condition, _)| At::Begin(*condition)));
            }
            Shape::Loop { condition, .. } => go(At::Begin(*condition)),
            Shape::For { rounds: Some(0), .. } => go(At::After(id, Some(0))),
            Shape::For { body, rounds } => match first_round(id, *rounds, frames) {
                Some(round) => ways.push((At::Begin(*body), round)),
                None => {
                    go(At::Begin(*body));
                    go(At::After(id, Some(0)));
                }
            },
            Shape::Case { arms, may_skip, .. } => {
                arms.iter().for_each(|arm| go(At::Begin(*arm)));
                may_skip.then(|| go(At::After(id, Some(0))));
            }
            Shape::Function { .. } => go(At::After(id, Some(0))),
            _ => go(At::After(id, None)),
        }
    }

    /// Goes into a command with this name. `None`: the name is not known.
    fn simple(
        &self,
        id: Id,
        name: Option<&str>,
        frames: &Frames,
        process: Process,
        next: &mut Next,
        ways: &mut Vec<(At, Frames)>,
    ) {
        let Some(name) = name else {
            next.elsewhere = true;
            next.units.push((id, frames.clone()));
            return ways.push((At::After(id, None), frames.clone()));
        };
        let is_function = self.units.function(name).is_some();
        let runs_itself = is_builtin(name) && !starts_programs(name) && id != process.root;
        next.elsewhere |= is_opaque(name);
        next.ends |= name == "exit";
        if is_function || !runs_itself {
            // A function may be defined later, or be gone.
            next.units.push((id, frames.clone()));
        }
        ways.extend(self.units.functions(name).map(|body| (At::Begin(body), called(id, frames))));
        if !is_function && (is_builtin(name) || process.lenient) {
            self.leave(id, name, frames, ways);
        }
    }

    /// Returns whether a subshell runs in the process of another one: bash starts no second process for a subshell that
    /// is all of the first.
    fn shares_process(&self, id: Id, root: Id) -> bool {
        let is_all = |around: &Id| match &self.units[*around].shape {
            Shape::List(entries) => entries.len() == 1,
            Shape::AndOr { pipelines, background } => pipelines.len() == 1 && !background,
            Shape::Pipeline { commands, negated } => commands.len() == 1 && !negated,
            Shape::Subshell(_) => true,
            _ => false,
        };
        let is_subshell = matches!(self.units[root].shape, Shape::Subshell(_));
        id == root || is_subshell && self.units.around(id).take_while(is_all).any(|around| around == root)
    }

    /// Passes a builtin.
    fn leave(&self, id: Id, name: &str, frames: &Frames, ways: &mut Vec<(At, Frames)>) {
        match name {
            "break" | "continue" => {
                let loops = self.units.around(id).filter_map(|around| match self.units[around].shape {
                    Shape::For { body, .. } | Shape::Loop { body, .. } => Some((around, body)),
                    _ => None,
                });
                // A number may name a loop further out.
                let is_bare = matches!(&self.units[id].shape, Shape::Simple { words } if words.len() == 1);
                for (around, body) in loops.take(if is_bare { 1 } else { usize::MAX }) {
                    ways.push(match name {
                        "break" => (At::After(around, Some(0)), outside(frames, around)),
                        _ => (At::After(body, None), frames.clone()),
                    });
                }
            }
            "return" => {
                if let Some(call) = call(frames) {
                    ways.push((At::After(call.site, None), call.outer.clone()));
                }
            }
            "exit" => {}
            "true" | ":" => ways.push((At::After(id, Some(0)), frames.clone())),
            "false" => ways.push((At::After(id, Some(1)), frames.clone())),
            _ => ways.push((At::After(id, None), frames.clone())),
        }
    }

    /// Goes on behind a unit.
    fn after(&self, (id, code): (Id, Option<i32>), frames: &Frames, process: Process, ways: &mut Vec<(At, Frames)>) {
        let Some((parent, role)) = self.units.parent(id) else { return };
        let mut go = |at| ways.push((at, frames.clone()));
        match (&self.units[parent].shape, role) {
            (Shape::List(entries), Role::At(index)) => {
                go(entries.get(index + 1).map_or(At::After(parent, code), |entry| At::Begin(*entry)));
            }
            (Shape::AndOr { pipelines, background }, Role::At(index)) => {
                if *background && pipelines.len() == 1 {
                    return go(At::After(parent, Some(0)));
                }
                joined(parent, &pipelines[index + 1..], code).into_iter().for_each(go);
            }
            (Shape::Pipeline { commands, negated }, Role::At(index)) => match commands.get(index + 1) {
                Some(command) => go(At::Begin(*command)),
                // With `pipefail` another element may have failed.
                None if process.pipefail && commands.len() > 1 && code == Some(0) => go(At::After(parent, None)),
                None if *negated => go(At::After(parent, code.map(|code| i32::from(code == 0)))),
                None => go(At::After(parent, code)),
            },
            (Shape::If { arms, otherwise }, Role::Condition(index)) => {
                if code.is_none_or(|code| code == 0) {
                    go(At::Begin(arms[index].1));
                }
                if code != Some(0) {
                    go(arms.get(index + 1).map_or(At::Begin(*otherwise), |(condition, _)| At::Begin(*condition)));
                }
            }
            (Shape::Loop { body, .. }, Role::Condition(_)) => {
                go(At::Begin(*body));
                go(At::After(parent, None));
            }
            (Shape::Loop { condition, .. }, _) => go(At::Begin(*condition)),
            (Shape::For { body, .. }, Role::Body(_)) => match next_round(parent, frames) {
                Round::Next(frames) => ways.push((At::Begin(*body), frames)),
                Round::Last(frames) => ways.push((At::After(parent, code), frames)),
                Round::Unknown => {
                    go(At::Begin(*body));
                    go(At::After(parent, code));
                }
            },
            (Shape::Case { arms, falls, .. }, Role::Body(index)) => {
                go(At::After(parent, code));
                arms.get(index + 1).filter(|_| *falls).into_iter().for_each(|arm| go(At::Begin(*arm)));
            }
            (Shape::Function { .. }, _) => {
                if let Some(call) = call(frames) {
                    ways.push((At::After(call.site, code), call.outer.clone()));
                }
            }
            (_, Role::Word(index)) => go(At::Words(parent, index + 1, code)),
            _ => go(At::After(parent, code)),
        }
    }
}

/// Returns where the shell goes behind a pipeline with this code: to one of these, or to the end of the list.
fn joined(list: Id, later: &[(AndOrOperator, Id)], code: Option<i32>) -> Vec<At> {
    let mut ways = Vec::new();
    for (join, pipeline) in later {
        let runs = code.map(|code| (code == 0) == (*join == AndOrOperator::And));
        if runs != Some(false) {
            ways.push(At::Begin(*pipeline));
        }
        if runs == Some(true) {
            return ways;
        }
    }
    ways.push(At::After(list, code));
    ways
}
