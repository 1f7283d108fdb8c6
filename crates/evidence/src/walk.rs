//! The ways that a shell can take through its command, from one process that it starts to the next.

use std::collections::HashSet;
use std::rc::Rc;

use safety::parse::Join;

use crate::builtins::{is_builtin, is_opaque, starts_programs};
use crate::units::{Id, Role, Shape, Units};

/// The function calls and the counted loops around a place, the innermost first.
pub type Frames = Option<Rc<Frame>>;

/// One function call, or one counted loop.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The command that calls, or the loop.
    pub site: Id,
    /// The rounds of the loop after this one. `None` for a call.
    pub left: Option<usize>,
    /// What is around it.
    pub outer: Frames,
}

/// Returns the frames outside of the innermost one of this site, or all if there is none.
pub fn outside(frames: &Frames, site: Id) -> Frames {
    let mut each = std::iter::successors(frames.as_ref(), |frame| frame.outer.as_ref());
    each.find(|frame| frame.site == site).map_or_else(|| frames.clone(), |frame| frame.outer.clone())
}

/// Returns the innermost function call.
pub fn call(frames: &Frames) -> Option<&Rc<Frame>> {
    std::iter::successors(frames.as_ref(), |frame| frame.outer.as_ref()).find(|frame| frame.left.is_none())
}

/// Frames within each other before the walk gives up.
const FRAMES: usize = 32;
/// Rounds that are counted.
const ROUNDS: usize = 64;

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
            _ if self.units.is_apart(root) => At::Words(root, 0, Some(0)),
            _ => At::Body(root, None),
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
                    // In `${x:-$(…)}` it may not run.
                    go(At::Words(id, index + 1, None));
                }
                None => go(At::Body(id, code)),
            },
            At::Body(id, code) => self.body((id, code), frames, process, next, ways),
            At::After(id, _) if id == process.root => next.ends = true,
            At::After(id, code) => self.after(id, code, frames, ways),
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
            Shape::Simple { words } => match words.first() {
                // Assignments alone: the code is that of the last substitution.
                None => go(At::After(id, code)),
                Some(Some(name)) => {
                    if let Some(body) = self.units.function(name) {
                        ways.push((
                            At::Begin(body),
                            Some(Rc::new(Frame { site: id, left: None, outer: frames.clone() })),
                        ));
                        // The function may be defined later, or be gone.
                        next.units.push((id, frames.clone()));
                        return;
                    }
                    next.elsewhere |= is_opaque(name);
                    next.ends |= name == "exit";
                    if !is_builtin(name) || starts_programs(name) || id == process.root {
                        next.units.push((id, frames.clone()));
                    }
                    if is_builtin(name) || process.lenient {
                        self.leave(id, name, frames, ways);
                    }
                }
                Some(None) => {
                    next.elsewhere = true;
                    next.units.push((id, frames.clone()));
                    go(At::After(id, None));
                }
            },
            Shape::Group(list) => go(At::Begin(*list)),
            Shape::Subshell(list) if self.shares_process(id, process.root) => go(At::Begin(*list)),
            Shape::Subshell(_) | Shape::Coproc(_) => next.units.push((id, frames.clone())),
            Shape::If { arms, otherwise } => {
                go(arms.first().map_or(At::Begin(*otherwise), |(condition, _)| At::Begin(*condition)));
            }
            Shape::Loop { condition, .. } => go(At::Begin(*condition)),
            Shape::For { body, rounds: Some(rounds @ 1..=ROUNDS) } => {
                let frame = Frame { site: id, left: Some(rounds - 1), outer: frames.clone() };
                ways.push((At::Begin(*body), Some(Rc::new(frame))));
            }
            Shape::For { body, rounds } => {
                if *rounds != Some(0) {
                    go(At::Begin(*body));
                }
                go(At::After(id, Some(0)));
            }
            Shape::Case(arms) => {
                arms.iter().for_each(|arm| go(At::Begin(*arm)));
                go(At::After(id, Some(0)));
            }
            Shape::Function { .. } => go(At::After(id, Some(0))),
            _ => go(At::After(id, None)),
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
                for around in self.units.around(id) {
                    match self.units[around].shape {
                        Shape::For { body, .. } | Shape::Loop { body, .. } => {
                            ways.push((At::After(body, None), frames.clone()));
                            ways.push((At::After(around, Some(0)), outside(frames, around)));
                        }
                        _ => {}
                    }
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
    fn after(&self, id: Id, code: Option<i32>, frames: &Frames, ways: &mut Vec<(At, Frames)>) {
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
                for (join, pipeline) in &pipelines[index + 1..] {
                    let runs = code.map(|code| (code == 0) == (*join == Join::And));
                    if runs != Some(false) {
                        go(At::Begin(*pipeline));
                    }
                    if runs == Some(true) {
                        return;
                    }
                }
                go(At::After(parent, code));
            }
            (Shape::Pipeline { commands, negated }, Role::At(index)) => match commands.get(index + 1) {
                Some(command) => go(At::Begin(*command)),
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
            (Shape::For { body, .. }, Role::Body(_)) => match frames.as_ref().filter(|frame| frame.site == parent) {
                Some(frame) => match frame.left {
                    Some(left @ 1..) => {
                        let next = Frame { site: parent, left: Some(left - 1), outer: frame.outer.clone() };
                        ways.push((At::Begin(*body), Some(Rc::new(next))));
                    }
                    _ => ways.push((At::After(parent, code), frame.outer.clone())),
                },
                None => {
                    go(At::Begin(*body));
                    go(At::After(parent, code));
                }
            },
            (Shape::Case(arms), Role::Body(index)) => {
                go(At::After(parent, code));
                arms.get(index + 1).into_iter().for_each(|arm| go(At::Begin(*arm)));
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

fn depth(frames: &Frames) -> usize {
    std::iter::successors(frames.as_ref(), |frame| frame.outer.as_ref()).count()
}
