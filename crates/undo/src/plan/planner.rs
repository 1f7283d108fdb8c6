//! The state of a plan that is being made.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::moved::{At, Moved, MovedDirectory};
use super::types::{Conflict, Now, Plan, waiting_name};
use crate::manifest::Point;
use crate::node::{FileId, Node};

/// The fate of a thing that the run made, by its path after the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The thing is gone already.
    Gone,
    /// This undo removes the thing.
    Goes,
    /// The thing has changed since.
    Changed,
    /// A directory in which another process made something.
    Used,
    /// A directory in which something stays.
    Holds,
    /// Left on purpose, and no conflict.
    Stays,
}

/// The action for an earlier thing, by its path before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Nothing,
    Make,
    Restore(Node),
    SetMeta,
    /// A return from this path after the run.
    Fetch(PathBuf, FileId),
    /// A return from this current path, at which the thing waits.
    FetchFrom(PathBuf, FileId),
    Conflict(String),
    Lost(String),
}

pub(super) struct Planner<'a> {
    pub point: &'a Point,
    pub now: &'a dyn Now,
    paths: &'a [PathBuf],
    /// The other names of files at these paths, including names in the store.
    names: BTreeSet<&'a Path>,
    pub moved: Moved,
    /// Paths after the run of the things that the run made.
    pub made: BTreeSet<PathBuf>,
    /// All touched entries: the path before the run, by the path after the run.
    pub entries: HashMap<PathBuf, PathBuf>,
    pub fates: BTreeMap<PathBuf, Fate>,
    pub actions: BTreeMap<PathBuf, Action>,
    pub plan: Plan,
    /// The things seen so far. Nothing changes while a plan is made.
    seen: RefCell<HashMap<PathBuf, Option<Node>>>,
}

fn is_below(path: &Path, directories: &[PathBuf]) -> bool {
    directories.iter().any(|directory| path.starts_with(directory))
}

/// Returns the other names, before the run, of files below these paths: a change through one name changes all.
fn other_names<'a>(point: &'a Point, paths: &[PathBuf]) -> BTreeSet<&'a Path> {
    let linked = |node: &Node| matches!(node, Node::File(file) if file.links > 1).then(|| node.id()).flatten();
    let files = || point.before.iter().filter_map(|(path, node)| Some((path.as_path(), linked(node)?)));
    let wanted: HashSet<FileId> = files().filter(|(path, _)| is_below(path, paths)).map(|(_, id)| id).collect();
    files().filter(|(_, id)| wanted.contains(id)).map(|(path, _)| path).collect()
}

impl<'a> Planner<'a> {
    pub fn new(point: &'a Point, now: &'a dyn Now, paths: &'a [PathBuf]) -> Self {
        let mut planner = Self {
            point,
            now,
            paths,
            names: other_names(point, paths),
            moved: Moved::default(),
            made: BTreeSet::new(),
            entries: HashMap::new(),
            fates: BTreeMap::new(),
            actions: BTreeMap::new(),
            plan: Plan::default(),
            seen: RefCell::default(),
        };
        let entries = point.before.keys().filter_map(|before| Some((planner.entry(before)?, before.clone())));
        planner.entries = entries.collect();
        let homes: BTreeSet<&Path> = point.names.moved().map(|(_, now)| now).collect();
        let is_made = |path: &&PathBuf| !homes.contains(path.as_path()) && planner.is_made(path);
        planner.made = point.after.keys().filter(is_made).cloned().collect();
        planner.moved = find(&planner);
        planner
    }

    /// Returns whether the run made the thing that it left at this path. A directory that it moved there does not
    /// count.
    fn is_made(&self, path: &Path) -> bool {
        let Some(before) = self.point.names.origin_of_entry(path) else { return true };
        // A thing that the run never touched is not its own.
        let Some(was) = self.point.before.get(&before) else { return false };
        let went = self.point.names.has_moved(&before);
        was.is_absent() || went || was.is_directory() != self.point.after[path].is_directory()
    }

    /// Returns the current thing at a path.
    pub fn look(&self, path: &Path) -> Option<Node> {
        if let Some(known) = self.seen.borrow().get(path) {
            return known.clone();
        }
        let found = self.now.look(path);
        self.seen.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }

    /// Returns whether the undo concerns one of these paths.
    pub fn is_wanted(&self, paths: [&Path; 2]) -> bool {
        self.paths.is_empty() || paths.iter().any(|path| is_below(path, self.paths) || self.names.contains(path))
    }

    /// Returns the thing that the run left at a path.
    pub fn after(&self, path: &Path) -> &'a Node {
        self.point.after.get(path).unwrap_or(&Node::Absent)
    }

    /// Returns the place of a path after the run, now or after the steps so far. `None` if its directory is lost.
    pub fn here(&self, after: &Path) -> Option<PathBuf> {
        self.moved.here(after)
    }

    /// Returns the path after the run of the entry with this earlier path. `None` if the run has removed its directory
    /// and moved another directory there.
    pub fn entry(&self, before: &Path) -> Option<PathBuf> {
        self.point.names.slot(before)
    }

    /// Returns what the run left of an earlier thing: nothing, if it moved another thing there.
    pub fn left(&self, before: &Path) -> &'a Node {
        let entry = self.entry(before).filter(|entry| self.moved.of_after(entry).is_none());
        entry.map_or(&Node::Absent, |entry| self.after(&entry))
    }

    /// Returns the place of the entry with this earlier path, now or after the steps so far.
    pub fn spot(&self, before: &Path) -> Option<PathBuf> {
        match (before.parent(), before.file_name()) {
            (Some(parent), Some(name)) => Some(self.moved.place(parent)?.join(name)),
            _ => Some(before.to_owned()),
        }
    }

    /// Returns the thing in that place. Nothing, if it is below a moved directory that goes away from there.
    pub fn look_spot(&self, before: &Path, spot: &Path) -> Option<Node> {
        let innermost = spot.ancestors().find_map(|above| self.moved.at(above));
        // Of the moved directories that were around it, only the inner one is. Others may be in its way.
        let mut around = before.ancestors().skip(1).filter_map(|above| self.moved.of_before(above));
        let inner = around.find(|moved| matches!(moved.at, At::Away(_)));
        match innermost.filter(|moved| inner != Some(*moved)) {
            Some(moved) if moved.goes() => Some(Node::Absent),
            Some(_) => None,
            None if self.is_displaced(before) => Some(Node::Absent),
            None => self.look(spot),
        }
    }

    /// Returns whether something else is in the place of an earlier thing's directory, because the run has removed that
    /// directory.
    fn is_displaced(&self, before: &Path) -> bool {
        let Some(parent) = before.parent().filter(|parent| self.point.before.contains_key(*parent)) else {
            return false;
        };
        if self.moved.of_before(parent).is_some() {
            return false;
        }
        let there = self.spot(parent).and_then(|spot| self.look_spot(parent, &spot));
        there.is_some_and(|node| !node.is_directory())
    }

    pub fn conflict(&mut self, path: PathBuf, why: impl Into<String>, before: Node) {
        self.plan.conflicts.push(Conflict { path, why: why.into(), before, stays: None });
    }
}

/// Finds the moved directories, outer directories first.
fn find(planner: &Planner<'_>) -> Moved {
    let mut known: Vec<(&Path, &Path)> = planner.point.names.moved().collect();
    known.sort_by_key(|(_, after)| after.components().count());
    let mut found = Moved::default();
    for (before, after) in known {
        let Some(recorded) = planner.point.before.get(before).and_then(Node::id) else { continue };
        let id_at = |path: &Path| {
            let node = planner.look(path).filter(|node| planner.now.is_directory(recorded, node));
            node.and_then(|node| node.id())
        };
        let (id, at) = if let Some(id) = id_at(before) {
            (id, At::Home)
        } else if let Some((id, path)) = found.here(after).and_then(|path| Some((id_at(&path)?, path))) {
            (id, At::Away(path))
        } else {
            // A killed undo may have put it aside.
            let waits = |id| waiting_place(planner, &found, after, id).filter(|path| id_at(path) == Some(id));
            let ids = planner.now.again(recorded).into_iter();
            ids.rev().find_map(|id| Some((id, At::Away(waits(id)?)))).unwrap_or((recorded, At::Lost))
        };
        let wanted = planner.is_wanted([before, after]);
        let stuck = (!wanted).then(String::new);
        found.push(MovedDirectory { before: before.to_owned(), after: after.to_owned(), id, at, stuck });
    }
    found
}

/// Returns the place in which a directory waits: beside itself, or beside the outermost new directory around it.
fn waiting_place(planner: &Planner<'_>, moved: &Moved, after: &Path, id: FileId) -> Option<PathBuf> {
    let outermost = outermost_made(planner, after).unwrap_or(after);
    Some(moved.here(outermost.parent()?)?.join(waiting_name(id)))
}

/// Returns the outermost new directory around a path, if only new directories are between them.
pub(super) fn outermost_made<'p>(planner: &Planner<'_>, after: &'p Path) -> Option<&'p Path> {
    after.ancestors().skip(1).take_while(|above| planner.made.contains(*above)).last()
}
