//! The planner: the manifest of a run, the current tree, and what is decided so far. Each path has three spellings,
//! which differ where the run moved a directory: its path before the run, its path after the run, and its current path,
//! now or after the steps so far.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::decision_tables::RemovalDecision;
use super::moved_directories::{DirectoryPlace, MovedDirectories, MovedDirectory};
use super::undo_plan::{CurrentTree, PlannedConflict, UndoPlan, waiting_name};
use crate::manifest::RunManifest;
use crate::path_map::{PathMap, split};
use crate::path_state::{FileIdentity, KnownContents, PathState};

/// The action for an earlier thing, by its path before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReturnAction {
    Nothing,
    MakeDirectory,
    /// A return of the kept file, or a new thing like the earlier one, in the place of the current thing.
    Restore(PathState),
    SetMeta,
    /// A return of the file itself from a path after the run, in the place of the current thing.
    MoveBack {
        from: PathBuf,
        id: FileIdentity,
        replaced: PathState,
    },
    /// The reason why the current thing stays, as a sentence.
    Conflict(String),
    /// A conflict about a file that nothing keeps.
    ConflictOfStrandedFile(String, StrandedFile),
    /// The contents are lost, for this reason. No conflict, because nothing stays.
    NotKept(String),
}

impl ReturnAction {
    /// Returns whether a thing comes to the place that may not be there now.
    pub fn fills_place(&self) -> bool {
        matches!(self, Self::MakeDirectory | Self::Restore(_) | Self::MoveBack { .. })
    }

    /// Returns whether the current thing stays, and is reported.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_) | Self::ConflictOfStrandedFile(..))
    }
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
    /// What the run left behind: its manifest.
    pub run: &'a RunManifest,
    pub current_tree: &'a dyn CurrentTree,
    pub requested_paths: &'a [PathBuf],
    /// Earlier paths that have to come back with the wanted paths: the other names of files, including names in the
    /// store, the other ends of renames, and removed directories above.
    also_requested: BTreeSet<&'a Path>,
    pub moved: MovedDirectories,
    /// The files that the run moved: the path after the run, by the path before it.
    pub renamed_files: BTreeMap<PathBuf, PathBuf>,
    /// Paths after the run of the things that the run made.
    pub made_paths: BTreeSet<PathBuf>,
    /// All touched entries: the path before the run, by the path after the run.
    pub before_by_after: PathMap<PathBuf>,
    pub removal_decisions: BTreeMap<PathBuf, RemovalDecision>,
    pub return_actions: BTreeMap<PathBuf, ReturnAction>,
    pub plan: UndoPlan,
    seen: SeenThings<'a>,
}

fn is_below_any(path: &Path, directories: &[PathBuf]) -> bool {
    directories.iter().any(|directory| path.starts_with(directory))
}

/// Returns the other names, before the run, of files below these paths: a change through one name changes all.
fn other_names<'a>(run: &'a RunManifest, paths: &[PathBuf]) -> BTreeSet<&'a Path> {
    let linked =
        |state: &PathState| matches!(state, PathState::File(file) if file.links > 1).then(|| state.id()).flatten();
    let files = || run.states_before.iter().filter_map(|(path, state)| Some((path, linked(state)?)));
    let wanted: HashSet<FileIdentity> =
        files().filter(|(path, _)| is_below_any(path, paths)).map(|(_, id)| id).collect();
    files().filter(|(_, id)| wanted.contains(id)).map(|(path, _)| path).collect()
}

impl<'a> UndoPlanner<'a> {
    pub fn new(run: &'a RunManifest, current_tree: &'a dyn CurrentTree, paths: &'a [PathBuf]) -> Self {
        let mut planner = Self {
            run,
            current_tree,
            requested_paths: paths,
            also_requested: other_names(run, paths),
            moved: MovedDirectories::default(),
            renamed_files: BTreeMap::new(),
            made_paths: BTreeSet::new(),
            before_by_after: PathMap::new(),
            removal_decisions: BTreeMap::new(),
            return_actions: BTreeMap::new(),
            plan: UndoPlan::default(),
            seen: SeenThings::default(),
        };
        let entries =
            run.states_before.keys().filter_map(|before| Some((planner.path_after_run(before)?, before.to_owned())));
        planner.before_by_after = entries.collect();
        let homes: BTreeSet<&Path> = run.names.moved_directories().map(|(_, now)| now).collect();
        let is_made = |path: &&Path| !homes.contains(path) && planner.is_made(path);
        planner.made_paths = run.states_after_run.keys().filter(is_made).map(Path::to_owned).collect();
        planner.moved = find_moved_directories(&planner);
        planner.renamed_files = find_renamed_files(&planner);
        if !paths.is_empty() {
            planner.request_rename_ends();
            planner.request_removed_parents();
        }
        planner
    }

    /// Adds the other ends of renames: a file comes back from where it is now, and the file comes back that was there.
    fn request_rename_ends(&mut self) {
        let before = &self.run.states_before;
        let ends =
            self.renamed_files.iter().map(|(from, to)| [(from, to), (self.before_by_after.get(to).unwrap_or(to), to)]);
        let mut ends: Vec<_> = ends.collect();
        loop {
            let (wanted, rest): (Vec<_>, Vec<_>) = ends
                .into_iter()
                .partition(|ends| ends.iter().any(|(before, after)| self.is_requested([before, after])));
            if wanted.is_empty() {
                return;
            }
            let earlier = wanted.into_iter().flatten().filter_map(|(path, _)| before.get_key_value(path));
            self.also_requested.extend(earlier.map(|(path, _)| path));
            ends = rest;
        }
    }

    /// Adds the removed directories above the wanted things.
    fn request_removed_parents(&mut self) {
        let before = &self.run.states_before;
        let is_gone = |path: &Path| match before.get_key_value(path) {
            Some((path, state_before))
                if state_before.is_directory() && !self.state_after_run_of(path).is_directory() =>
            {
                Some(path)
            }
            _ => None,
        };
        let wanted = before.iter().filter(|(path, state_before)| {
            !state_before.is_absent() && self.is_requested([path, self.path_after_run(path).as_deref().unwrap_or(path)])
        });
        let above: Vec<&Path> = wanted.flat_map(|(path, _)| path.ancestors().skip(1).filter_map(is_gone)).collect();
        self.also_requested.extend(above);
    }

    /// Returns whether the run made the thing that it left at this path. A directory that it moved there does not
    /// count, and neither does a directory that it made again in the place of a removed one.
    fn is_made(&self, path: &Path) -> bool {
        let origin = self.run.names.earlier_path_of_entry(path);
        let Some(before) = origin.as_ref().or_else(|| self.before_by_after.get(path)) else { return true };
        // A thing that the run never touched is not its own.
        let Some(state_before) = self.run.states_before.get(before) else { return false };
        let went = self.run.names.has_moved(before);
        let is_directory = self.run.states_after_run[path].is_directory();
        state_before.is_absent()
            || went
            || state_before.is_directory() != is_directory
            || origin.is_none() && !is_directory
    }

    /// Returns the current thing at a path.
    pub fn read_state(&self, path: &Path) -> Option<PathState> {
        if let Some(known) = self.seen.things.borrow().get(path) {
            return known.clone();
        }
        let found = self.current_tree.read_state(path);
        self.seen.things.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }

    /// Returns whether the undo concerns one of these paths.
    pub fn is_requested(&self, paths: [&Path; 2]) -> bool {
        self.requested_paths.is_empty()
            || paths.iter().any(|path| is_below_any(path, self.requested_paths) || self.also_requested.contains(path))
    }

    /// Returns the thing that the run left at a path.
    pub fn state_after_run_at(&self, path: &Path) -> &'a PathState {
        self.run.states_after_run.get(path).unwrap_or(&PathState::Absent)
    }

    /// Returns the place of a path after the run, now or after the steps so far. `None` if its directory is lost.
    pub fn current_path(&self, after: &Path) -> Option<PathBuf> {
        self.moved.current_path(after)
    }

    /// Returns the path after the run of the entry with this earlier path. `None` if the run has removed its directory
    /// and moved another directory there.
    pub fn path_after_run(&self, before: &Path) -> Option<PathBuf> {
        self.run.names.current_slot(before).map(Cow::into_owned)
    }

    /// Returns what the run left of an earlier thing: nothing, if it moved another thing there.
    pub fn state_after_run_of(&self, before: &Path) -> &'a PathState {
        let entry = self.path_after_run(before).filter(|entry| self.moved.by_path_after_run(entry).is_none());
        entry.map_or(&PathState::Absent, |entry| self.state_after_run_at(&entry))
    }

    /// Returns the place of the entry with this earlier path, now or after the steps so far.
    pub fn current_place(&self, before: &Path) -> Option<PathBuf> {
        if self.moved.is_empty() {
            return Some(before.to_owned());
        }
        match (before.parent(), before.file_name()) {
            (Some(parent), Some(name)) => Some(self.moved.current_place(parent)?.join(name)),
            _ => Some(before.to_owned()),
        }
    }

    /// Returns the thing in that place. Nothing, if it is below a moved directory that goes away from there.
    pub fn read_current_place(&self, before: &Path, place: &Path) -> Option<PathState> {
        if self.moved.is_empty() {
            return if self.is_displaced(before) { Some(PathState::Absent) } else { self.read_state(place) };
        }
        let innermost = place.ancestors().find_map(|above| self.moved.by_current_path(above));
        // Of the moved directories that were around it, only the inner one is. Others may be in its way.
        let mut around = before.ancestors().skip(1).filter_map(|above| self.moved.by_path_before(above));
        let inner = around.find(|moved| matches!(moved.at, DirectoryPlace::Away(_)));
        match innermost.filter(|moved| inner != Some(*moved)) {
            Some(moved) if moved.goes_back() => Some(PathState::Absent),
            Some(_) => None,
            None if self.is_displaced(before) => Some(PathState::Absent),
            None => self.read_state(place),
        }
    }

    /// Returns whether something else is in the place of an earlier thing's directory, because the run has removed that
    /// directory.
    fn is_displaced(&self, before: &Path) -> bool {
        let Some((parent, _)) = split(before).and_then(|(parent, _)| self.run.states_before.get_key_value(parent))
        else {
            return false;
        };
        if self.moved.by_path_before(parent).is_some() {
            return false;
        }
        // Files of one directory follow each other.
        let known = *self.seen.displaced.borrow();
        if let Some((_, is_displaced)) =
            known.filter(|(known, _)| self.moved.is_empty() && known.as_os_str() == parent.as_os_str())
        {
            return is_displaced;
        }
        let there = self.current_place(parent).and_then(|place| self.read_current_place(parent, &place));
        let is_displaced = there.is_some_and(|state| !state.is_directory());
        *self.seen.displaced.borrow_mut() = Some((parent, is_displaced));
        is_displaced
    }

    /// Returns the place in which a file or a directory waits that the run left at this path: beside itself, or beside
    /// the outermost new directory around it. The place is a path after the run, too.
    pub fn waiting_place(&self, after: &Path, id: FileIdentity) -> Option<PathBuf> {
        Some(outermost_made_directory(self, after).unwrap_or(after).parent()?.join(waiting_name(id)))
    }

    pub fn report_conflict(&mut self, path: PathBuf, why: impl Into<String>, before: PathState) {
        self.plan.conflicts.push(PlannedConflict {
            path,
            why: why.into(),
            state_before: before,
            stays_at: None,
            copy_from: None,
        });
    }
}

/// Finds the moved directories, outer directories first.
fn find_moved_directories(planner: &UndoPlanner<'_>) -> MovedDirectories {
    let mut known: Vec<(&Path, &Path)> = planner.run.names.moved_directories().collect();
    known.sort_by_key(|(_, after)| after.components().count());
    let mut found = MovedDirectories::default();
    for (before, after) in known {
        let Some(recorded) = planner.run.states_before.get(before).and_then(PathState::id) else { continue };
        let id_at = |path: &Path| {
            let state =
                planner.read_state(path).filter(|state| planner.current_tree.is_recorded_directory(recorded, state));
            state.and_then(|state| state.id())
        };
        let (id, at) = if let Some(id) = id_at(before) {
            (id, DirectoryPlace::Home)
        } else if let Some((id, path)) = found.current_path(after).and_then(|path| Some((id_at(&path)?, path))) {
            (id, DirectoryPlace::Away(path))
        } else {
            // A killed undo may have put it aside.
            let place = |id| found.current_path(&planner.waiting_place(after, id)?);
            let waits = |id| place(id).filter(|path| id_at(path) == Some(id));
            let ids = planner.current_tree.successors_of(recorded).into_iter();
            ids.rev()
                .find_map(|id| Some((id, DirectoryPlace::Away(waits(id)?))))
                .unwrap_or((recorded, DirectoryPlace::Lost))
        };
        let wanted = planner.is_requested([before, after]);
        let stuck = (!wanted).then(String::new);
        found.push(MovedDirectory { before: before.to_owned(), after: after.to_owned(), id, at, stuck });
    }
    found
}

/// Finds the files that the run moved, and did not keep.
fn find_renamed_files(planner: &UndoPlanner<'_>) -> BTreeMap<PathBuf, PathBuf> {
    let run = planner.run;
    let mut places: HashMap<FileIdentity, Vec<&Path>> = HashMap::new();
    for (path, state) in run.states_after_run.iter() {
        let entry = planner.before_by_after.get(path).and_then(|entry| run.states_before.get(entry));
        if let PathState::File(file) = state
            && entry.and_then(PathState::id) != Some(file.meta.id)
        {
            places.entry(file.meta.id).or_default().push(path);
        }
    }
    let mut found = BTreeMap::new();
    for (path, state_before) in run.states_before.iter() {
        let PathState::File(file) = state_before else { continue };
        if matches!(file.contents, KnownContents::Image(_))
            || planner.state_after_run_of(path).id() == state_before.id()
        {
            continue;
        }
        let is_it =
            |after: &&Path| matches!(planner.state_after_run_at(after), PathState::File(left) if file.is_kept_as(left));
        let places = places.get_mut(&file.meta.id);
        if let Some(after) = places.and_then(|places| Some(places.remove(places.iter().position(is_it)?))) {
            found.insert(path.to_owned(), after.to_owned());
        }
    }
    found
}

/// Returns the outermost new directory around a path, if only new directories are between them.
pub(super) fn outermost_made_directory<'p>(planner: &UndoPlanner<'_>, after: &'p Path) -> Option<&'p Path> {
    after.ancestors().skip(1).take_while(|above| planner.made_paths.contains(*above)).last()
}
