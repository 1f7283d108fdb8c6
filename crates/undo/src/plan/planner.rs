//! The state of a plan that is being made.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::moved::{DirectoryPlace, MovedDirectories, MovedDirectory};
use super::types::{CurrentTree, PlannedConflict, UndoPlan, waiting_name};
use crate::manifest::RunManifest;
use crate::node::{FileIdentity, KnownContents, PathState};
use crate::path_map::{PathMap, split};

/// The fate of a thing that the run made, by its path after the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemovalDecision {
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
pub(super) enum ReturnAction {
    Nothing,
    Make,
    Restore(PathState),
    SetMeta,
    /// A return of the file itself from a path after the run, in the place of the current thing.
    Fetch {
        from: PathBuf,
        id: FileIdentity,
        over: PathState,
    },
    Conflict(String),
    /// A conflict about a file that nothing keeps.
    Hold(String, StrandedFile),
    Lost(String),
}

/// What a planner knows of the current tree. Nothing changes while a plan is made.
#[derive(Default)]
struct SeenThings<'a> {
    things: RefCell<PathMap<Option<PathState>>>,
    /// The directory that was asked about last, and whether it is displaced, in a plan without moved directories.
    displaced: RefCell<Option<(&'a Path, bool)>>,
}

/// A moved file that cannot go back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StrandedFile {
    /// Its path after the run.
    pub after: PathBuf,
    /// Its current path, if another thing comes back there. Otherwise it stays.
    pub copied: Option<PathBuf>,
}

pub(super) struct UndoPlanner<'a> {
    pub point: &'a RunManifest,
    pub now: &'a dyn CurrentTree,
    pub paths: &'a [PathBuf],
    /// Earlier paths that have to come back with the wanted paths: the other names of files, including names in the
    /// store, the other ends of renames, and removed directories above.
    along: BTreeSet<&'a Path>,
    pub moved: MovedDirectories,
    /// The files that the run moved: the path after the run, by the path before it.
    pub renamed: BTreeMap<PathBuf, PathBuf>,
    /// Paths after the run of the things that the run made.
    pub made: BTreeSet<PathBuf>,
    /// All touched entries: the path before the run, by the path after the run.
    pub entries: PathMap<PathBuf>,
    pub fates: BTreeMap<PathBuf, RemovalDecision>,
    pub actions: BTreeMap<PathBuf, ReturnAction>,
    pub plan: UndoPlan,
    seen: SeenThings<'a>,
}

fn is_below(path: &Path, directories: &[PathBuf]) -> bool {
    directories.iter().any(|directory| path.starts_with(directory))
}

/// Returns the other names, before the run, of files below these paths: a change through one name changes all.
fn other_names<'a>(point: &'a RunManifest, paths: &[PathBuf]) -> BTreeSet<&'a Path> {
    let linked =
        |node: &PathState| matches!(node, PathState::File(file) if file.links > 1).then(|| node.id()).flatten();
    let files = || point.before.iter().filter_map(|(path, node)| Some((path, linked(node)?)));
    let wanted: HashSet<FileIdentity> = files().filter(|(path, _)| is_below(path, paths)).map(|(_, id)| id).collect();
    files().filter(|(_, id)| wanted.contains(id)).map(|(path, _)| path).collect()
}

impl<'a> UndoPlanner<'a> {
    pub fn new(point: &'a RunManifest, now: &'a dyn CurrentTree, paths: &'a [PathBuf]) -> Self {
        let mut planner = Self {
            point,
            now,
            paths,
            along: other_names(point, paths),
            moved: MovedDirectories::default(),
            renamed: BTreeMap::new(),
            made: BTreeSet::new(),
            entries: PathMap::new(),
            fates: BTreeMap::new(),
            actions: BTreeMap::new(),
            plan: UndoPlan::default(),
            seen: SeenThings::default(),
        };
        let entries = point.before.keys().filter_map(|before| Some((planner.entry(before)?, before.to_owned())));
        planner.entries = entries.collect();
        let homes: BTreeSet<&Path> = point.names.moved().map(|(_, now)| now).collect();
        let is_made = |path: &&Path| !homes.contains(path) && planner.is_made(path);
        planner.made = point.after.keys().filter(is_made).map(Path::to_owned).collect();
        planner.moved = find(&planner);
        planner.renamed = find_renamed(&planner);
        if !paths.is_empty() {
            planner.add_renamed();
            planner.add_directories();
        }
        planner
    }

    /// Adds the other ends of renames: a file comes back from where it is now, and the file comes back that was there.
    fn add_renamed(&mut self) {
        let before = &self.point.before;
        let ends = self.renamed.iter().map(|(from, to)| [(from, to), (self.entries.get(to).unwrap_or(to), to)]);
        let mut ends: Vec<_> = ends.collect();
        loop {
            let (wanted, rest): (Vec<_>, Vec<_>) =
                ends.into_iter().partition(|ends| ends.iter().any(|(before, after)| self.is_wanted([before, after])));
            if wanted.is_empty() {
                return;
            }
            let earlier = wanted.into_iter().flatten().filter_map(|(path, _)| before.get_key_value(path));
            self.along.extend(earlier.map(|(path, _)| path));
            ends = rest;
        }
    }

    /// Adds the removed directories above the wanted things.
    fn add_directories(&mut self) {
        let before = &self.point.before;
        let is_gone = |path: &Path| match before.get_key_value(path) {
            Some((path, was)) if was.is_directory() && !self.left(path).is_directory() => Some(path),
            _ => None,
        };
        let wanted = before.iter().filter(|(path, was)| {
            !was.is_absent() && self.is_wanted([path, self.entry(path).as_deref().unwrap_or(path)])
        });
        let above: Vec<&Path> = wanted.flat_map(|(path, _)| path.ancestors().skip(1).filter_map(is_gone)).collect();
        self.along.extend(above);
    }

    /// Returns whether the run made the thing that it left at this path. A directory that it moved there does not
    /// count, and neither does a directory that it made again in the place of a removed one.
    fn is_made(&self, path: &Path) -> bool {
        let origin = self.point.names.origin_of_entry(path);
        let Some(before) = origin.as_ref().or_else(|| self.entries.get(path)) else { return true };
        // A thing that the run never touched is not its own.
        let Some(was) = self.point.before.get(before) else { return false };
        let went = self.point.names.has_moved(before);
        let is_directory = self.point.after[path].is_directory();
        was.is_absent() || went || was.is_directory() != is_directory || origin.is_none() && !is_directory
    }

    /// Returns the current thing at a path.
    pub fn look(&self, path: &Path) -> Option<PathState> {
        if let Some(known) = self.seen.things.borrow().get(path) {
            return known.clone();
        }
        let found = self.now.look(path);
        self.seen.things.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }

    /// Returns whether the undo concerns one of these paths.
    pub fn is_wanted(&self, paths: [&Path; 2]) -> bool {
        self.paths.is_empty() || paths.iter().any(|path| is_below(path, self.paths) || self.along.contains(path))
    }

    /// Returns the thing that the run left at a path.
    pub fn after(&self, path: &Path) -> &'a PathState {
        self.point.after.get(path).unwrap_or(&PathState::Absent)
    }

    /// Returns the place of a path after the run, now or after the steps so far. `None` if its directory is lost.
    pub fn here(&self, after: &Path) -> Option<PathBuf> {
        self.moved.here(after)
    }

    /// Returns the path after the run of the entry with this earlier path. `None` if the run has removed its directory
    /// and moved another directory there.
    pub fn entry(&self, before: &Path) -> Option<PathBuf> {
        self.point.names.slot(before).map(Cow::into_owned)
    }

    /// Returns what the run left of an earlier thing: nothing, if it moved another thing there.
    pub fn left(&self, before: &Path) -> &'a PathState {
        let entry = self.entry(before).filter(|entry| self.moved.of_after(entry).is_none());
        entry.map_or(&PathState::Absent, |entry| self.after(&entry))
    }

    /// Returns the place of the entry with this earlier path, now or after the steps so far.
    pub fn spot(&self, before: &Path) -> Option<PathBuf> {
        if self.moved.is_empty() {
            return Some(before.to_owned());
        }
        match (before.parent(), before.file_name()) {
            (Some(parent), Some(name)) => Some(self.moved.place(parent)?.join(name)),
            _ => Some(before.to_owned()),
        }
    }

    /// Returns the thing in that place. Nothing, if it is below a moved directory that goes away from there.
    pub fn look_spot(&self, before: &Path, spot: &Path) -> Option<PathState> {
        if self.moved.is_empty() {
            return if self.is_displaced(before) { Some(PathState::Absent) } else { self.look(spot) };
        }
        let innermost = spot.ancestors().find_map(|above| self.moved.at(above));
        // Of the moved directories that were around it, only the inner one is. Others may be in its way.
        let mut around = before.ancestors().skip(1).filter_map(|above| self.moved.of_before(above));
        let inner = around.find(|moved| matches!(moved.at, DirectoryPlace::Away(_)));
        match innermost.filter(|moved| inner != Some(*moved)) {
            Some(moved) if moved.goes() => Some(PathState::Absent),
            Some(_) => None,
            None if self.is_displaced(before) => Some(PathState::Absent),
            None => self.look(spot),
        }
    }

    /// Returns whether something else is in the place of an earlier thing's directory, because the run has removed that
    /// directory.
    fn is_displaced(&self, before: &Path) -> bool {
        let Some((parent, _)) = split(before).and_then(|(parent, _)| self.point.before.get_key_value(parent)) else {
            return false;
        };
        if self.moved.of_before(parent).is_some() {
            return false;
        }
        // Files of one directory follow each other.
        let known = *self.seen.displaced.borrow();
        if let Some((_, is_displaced)) =
            known.filter(|(known, _)| self.moved.is_empty() && known.as_os_str() == parent.as_os_str())
        {
            return is_displaced;
        }
        let there = self.spot(parent).and_then(|spot| self.look_spot(parent, &spot));
        let is_displaced = there.is_some_and(|node| !node.is_directory());
        *self.seen.displaced.borrow_mut() = Some((parent, is_displaced));
        is_displaced
    }

    /// Returns the place in which a file or a directory waits that the run left at this path: beside itself, or beside
    /// the outermost new directory around it. The place is a path after the run, too.
    pub fn waiting_place(&self, after: &Path, id: FileIdentity) -> Option<PathBuf> {
        Some(outermost_made(self, after).unwrap_or(after).parent()?.join(waiting_name(id)))
    }

    pub fn conflict(&mut self, path: PathBuf, why: impl Into<String>, before: PathState) {
        self.plan.conflicts.push(PlannedConflict { path, why: why.into(), before, stays: None, found: None });
    }
}

/// Finds the moved directories, outer directories first.
fn find(planner: &UndoPlanner<'_>) -> MovedDirectories {
    let mut known: Vec<(&Path, &Path)> = planner.point.names.moved().collect();
    known.sort_by_key(|(_, after)| after.components().count());
    let mut found = MovedDirectories::default();
    for (before, after) in known {
        let Some(recorded) = planner.point.before.get(before).and_then(PathState::id) else { continue };
        let id_at = |path: &Path| {
            let node = planner.look(path).filter(|node| planner.now.is_directory(recorded, node));
            node.and_then(|node| node.id())
        };
        let (id, at) = if let Some(id) = id_at(before) {
            (id, DirectoryPlace::Home)
        } else if let Some((id, path)) = found.here(after).and_then(|path| Some((id_at(&path)?, path))) {
            (id, DirectoryPlace::Away(path))
        } else {
            // A killed undo may have put it aside.
            let place = |id| found.here(&planner.waiting_place(after, id)?);
            let waits = |id| place(id).filter(|path| id_at(path) == Some(id));
            let ids = planner.now.again(recorded).into_iter();
            ids.rev()
                .find_map(|id| Some((id, DirectoryPlace::Away(waits(id)?))))
                .unwrap_or((recorded, DirectoryPlace::Lost))
        };
        let wanted = planner.is_wanted([before, after]);
        let stuck = (!wanted).then(String::new);
        found.push(MovedDirectory { before: before.to_owned(), after: after.to_owned(), id, at, stuck });
    }
    found
}

/// Finds the files that the run moved, and did not keep.
fn find_renamed(planner: &UndoPlanner<'_>) -> BTreeMap<PathBuf, PathBuf> {
    let point = planner.point;
    let mut places: HashMap<FileIdentity, Vec<&Path>> = HashMap::new();
    for (path, node) in point.after.iter() {
        let entry = planner.entries.get(path).and_then(|entry| point.before.get(entry));
        if let PathState::File(file) = node
            && entry.and_then(PathState::id) != Some(file.meta.id)
        {
            places.entry(file.meta.id).or_default().push(path);
        }
    }
    let mut found = BTreeMap::new();
    for (path, was) in point.before.iter() {
        let PathState::File(file) = was else { continue };
        if matches!(file.contents, KnownContents::Image(_)) || planner.left(path).id() == was.id() {
            continue;
        }
        let is_it = |after: &&Path| matches!(planner.after(after), PathState::File(left) if file.is_kept_as(left));
        let places = places.get_mut(&file.meta.id);
        if let Some(after) = places.and_then(|places| Some(places.remove(places.iter().position(is_it)?))) {
            found.insert(path.to_owned(), after.to_owned());
        }
    }
    found
}

/// Returns the outermost new directory around a path, if only new directories are between them.
pub(super) fn outermost_made<'p>(planner: &UndoPlanner<'_>, after: &'p Path) -> Option<&'p Path> {
    after.ancestors().skip(1).take_while(|above| planner.made.contains(*above)).last()
}
