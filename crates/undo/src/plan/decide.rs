//! Decides the fate of each path, before any step.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::moved_directories::DirectoryPlace;
use super::undo_planner::{RemovalDecision, ReturnAction, StrandedFile, UndoPlanner};
use crate::coverage_gaps::named;
use crate::path_state::{FileIdentity, FileState, KnownContents, PathState};

impl UndoPlanner<'_> {
    pub(super) fn decide(&mut self) {
        // A directory that cannot go back keeps others from being removed, and vice versa.
        loop {
            self.removal_decisions = self.fates();
            if !self.mark_stuck_directories() {
                break;
            }
        }
        self.spare_used_repositories();
        let before = &self.point.states_before;
        for (path, was) in before.iter() {
            let action = self.action(path, was);
            self.return_actions.insert(path.to_owned(), action);
        }
        self.hold_back_indexes();
        self.hold_moved();
        self.find_again();
        self.find_contested();
    }

    /// Leaves the files that the run moved, and that cannot go back, where they are, unless another thing comes back
    /// there: nothing else has their contents.
    fn hold_moved(&mut self) {
        let held = self.renamed_files.iter().filter_map(|(before, after)| match self.return_actions.get(before) {
            Some(ReturnAction::Conflict(why)) if self.as_left(after, after).is_some() => {
                let comes = self.before_by_after.get(after).and_then(|entry| self.return_actions.get(entry));
                let is_needed =
                    matches!(comes, Some(ReturnAction::Make | ReturnAction::Restore(_) | ReturnAction::Fetch { .. }));
                let copied = is_needed.then(|| self.current_path(after)).flatten();
                Some((before.clone(), ReturnAction::Hold(why.clone(), StrandedFile { after: after.clone(), copied })))
            }
            _ => None,
        });
        for (before, action) in held.collect::<Vec<_>>() {
            if let ReturnAction::Hold(_, StrandedFile { after, copied: None }) = &action {
                for place in after.ancestors() {
                    match self.removal_decisions.get_mut(place) {
                        Some(fate @ RemovalDecision::Goes) => {
                            *fate = if place == after { RemovalDecision::Stays } else { RemovalDecision::Holds }
                        }
                        Some(_) => {}
                        None => break,
                    }
                }
            }
            self.return_actions.insert(before, action);
        }
    }

    /// Finds the things that stay as they are, before any of them is moved.
    fn find_contested(&mut self) {
        let made = self
            .removal_decisions
            .iter()
            .filter(|(_, fate)| matches!(fate, RemovalDecision::Changed | RemovalDecision::Used));
        let before = self
            .return_actions
            .iter()
            .filter(|(_, action)| matches!(action, ReturnAction::Conflict(_) | ReturnAction::Hold(..)));
        let place = |path: &PathBuf| match self.moved.by_path_before(path) {
            Some(moved) => self.current_path(&moved.after),
            None => self.current_place(path),
        };
        let places =
            made.filter_map(|(path, _)| self.current_path(path)).chain(before.filter_map(|(path, _)| place(path)));
        let taken = self.moved.iter().filter(|moved| moved.stuck.is_some()).map(|moved| moved.before.clone());
        self.plan.contested = places.chain(taken).filter_map(|path| self.read_state(&path)?.id()).collect();
    }

    /// Finds the directories that the run has made again in the place of removed directories. They stay, and other
    /// records know the removed directories.
    fn find_again(&mut self) {
        let found = self.point.states_before.iter().filter_map(|(path, was)| {
            let left = self.state_after_run_of(path);
            if !was.is_directory() || !left.is_directory() || self.moved.by_path_before(path).is_some() {
                return None;
            }
            let (was, left) = (was.id()?, left.id()?);
            let entry = self.path_after_run(path)?;
            let now = self.read_current_place(path, &self.current_place(path)?)?;
            let is_it = self.is_requested([path, &entry]) && now.is_directory() && now.id() == Some(left);
            (is_it && !self.current_tree.is_recorded_directory(was, &now)).then_some((was, left))
        });
        self.plan.remade_directories = found.collect();
    }

    /// Returns the fates of all things that the run made. The entries of a directory are decided before the directory.
    fn fates(&self) -> BTreeMap<PathBuf, RemovalDecision> {
        let mut fates = BTreeMap::new();
        // A path sorts after its directory.
        for path in self.made_paths.iter().rev() {
            let fate = self.fate(path, &fates);
            fates.insert(path.clone(), fate);
        }
        fates
    }

    fn fate(&self, path: &Path, below: &BTreeMap<PathBuf, RemovalDecision>) -> RemovalDecision {
        let Some(here) = self.current_path(path).filter(|_| self.is_in_its_directory(path)) else {
            return RemovalDecision::Gone;
        };
        // No entry: the run has moved the directory of the earlier file, which is elsewhere now.
        let entry = self.before_by_after.get(path).map(PathBuf::as_path);
        if !self.is_requested([entry.unwrap_or(path), path]) || self.is_shared_git_object(path) {
            return RemovalDecision::Stays;
        }
        let Some(now) = self.read_state(&here) else { return RemovalDecision::Changed };
        let after = self.state_after_run_at(path);
        // The earlier thing may be back already.
        let back = entry.is_some_and(|before| match self.moved.by_path_before(before) {
            Some(moved) => moved.at == DirectoryPlace::Home,
            None => {
                let was = self.point.states_before.get(before).unwrap_or(&PathState::Absent);
                !was.is_absent() && self.current_tree.is_recorded_state(was, &here, &now)
            }
        });
        if now.is_absent() || back {
            return RemovalDecision::Gone;
        }
        if !self.is_left(path, after, &here, &now) && !self.current_tree.is_half_undone(&here, &now) {
            return RemovalDecision::Changed;
        }
        if after.is_directory() { self.fate_of_directory(path, &here, below) } else { RemovalDecision::Goes }
    }

    /// Returns whether a made thing is still in its directory. A directory that the run made must still be there, or an
    /// undo must have made it again.
    fn is_in_its_directory(&self, path: &Path) -> bool {
        let Some(parent) = path.parent().filter(|parent| self.made_paths.contains(*parent)) else { return true };
        let there = self.current_path(parent).and_then(|here| self.read_state(&here));
        let made = self.state_after_run_at(parent).id();
        there.zip(made).is_some_and(|(there, made)| self.current_tree.is_recorded_directory(made, &there))
    }

    fn fate_of_directory(
        &self,
        path: &Path,
        here: &Path,
        below: &BTreeMap<PathBuf, RemovalDecision>,
    ) -> RemovalDecision {
        let mut fate = RemovalDecision::Goes;
        for name in self.current_tree.entry_names(here) {
            let (entry, at) = (path.join(&name), here.join(&name));
            if let Some(moved) = self.moved.by_current_path(&at) {
                if !moved.goes_back() {
                    fate = RemovalDecision::Holds;
                }
                continue;
            }
            match below.get(&entry) {
                Some(RemovalDecision::Goes) => {}
                Some(
                    RemovalDecision::Changed | RemovalDecision::Used | RemovalDecision::Holds | RemovalDecision::Stays,
                ) => fate = RemovalDecision::Holds,
                Some(RemovalDecision::Gone) | None => return RemovalDecision::Used,
            }
        }
        fate
    }

    /// Returns the action for an earlier thing.
    fn action(&self, path: &Path, was: &PathState) -> ReturnAction {
        let entry = self.path_after_run(path);
        if was.is_absent() || !self.is_requested([path, entry.as_deref().unwrap_or(path)]) {
            return ReturnAction::Nothing;
        }
        if let Some(moved) = self.moved.by_path_before(path) {
            let place = self.current_path(&moved.after);
            let now = place.as_ref().and_then(|place| self.read_state(place));
            return match place.zip(now) {
                Some((place, now)) => self.compared(path, was, self.state_after_run_at(&moved.after), (&place, now)),
                None => ReturnAction::Conflict("the run moved it, and it is no longer there".into()),
            };
        }
        let Some(spot) = self.current_place(path) else {
            return ReturnAction::Conflict("the run moved its directory, which is no longer there".into());
        };
        let left = self.state_after_run_of(path);
        if is_unchanged(was, left) {
            return ReturnAction::Nothing;
        }
        match self.read_current_place(path, &spot) {
            Some(now) => self.compared(path, was, left, (&spot, now)),
            None => ReturnAction::Conflict("its place cannot be used now".into()),
        }
    }

    /// Returns the action that follows from the three states of a thing.
    fn compared(
        &self,
        path: &Path,
        was: &PathState,
        left: &PathState,
        (spot, now): (&Path, PathState),
    ) -> ReturnAction {
        if is_unchanged(was, left) {
            return ReturnAction::Nothing;
        }
        let same = self.current_tree.is_recorded_state(was, spot, &now);
        if same && (!is_relinked(was, left) || now.id() == was.id()) {
            return ReturnAction::Nothing;
        }
        let half = self.current_tree.is_half_undone(spot, &now);
        if left.is_directory() != was.is_directory() && !left.is_absent() && !half {
            let fate = self.path_after_run(path).and_then(|entry| self.removal_decisions.get(&entry).copied());
            return match fate {
                Some(RemovalDecision::Goes | RemovalDecision::Gone) => self.put(path, was, left, PathState::Absent),
                _ if same => ReturnAction::Nothing,
                _ => ReturnAction::Conflict("it changed after the run".into()),
            };
        }
        let entry =
            self.moved.by_path_before(path).map(|moved| moved.after.clone()).or_else(|| self.path_after_run(path));
        if half || self.is_left(entry.as_deref().unwrap_or(path), left, spot, &now) {
            return self.put(path, was, left, now);
        }
        if same { ReturnAction::Nothing } else { ReturnAction::Conflict(changed(&now).into()) }
    }

    /// Returns whether the current thing is as the run left it at this path after the run.
    fn is_left(&self, path: &Path, left: &PathState, here: &Path, now: &PathState) -> bool {
        !self.point.foreign_paths.contains(path) && self.current_tree.is_recorded_state(left, here, now)
    }

    /// Puts an earlier thing back, in the place of the current thing.
    fn put(&self, path: &Path, was: &PathState, left: &PathState, now: PathState) -> ReturnAction {
        let is_there = path.parent().is_some_and(|parent| self.will_be_directory(parent));
        match (was, &now) {
            (PathState::Absent, _) => ReturnAction::Nothing,
            (PathState::Directory(_), PathState::Directory(_)) => ReturnAction::SetMeta,
            _ if !is_there => ReturnAction::Conflict("its directory is gone".into()),
            (PathState::Directory(_), _) => ReturnAction::Make,
            (PathState::File(file), PathState::File(_)) if is_meta_only(file, left) => ReturnAction::SetMeta,
            (PathState::File(FileState { contents: KnownContents::Image(_), .. }), _) => ReturnAction::Restore(now),
            (PathState::File(file), _) => self.fetched(path, file, now),
            _ => ReturnAction::Restore(now),
        }
    }

    /// Returns the action for a file that was not kept. The run may only have moved it.
    fn fetched(&self, path: &Path, file: &FileState, over: PathState) -> ReturnAction {
        match (self.renamed_files.get(path), &file.contents) {
            (Some(after), _) => {
                let is_put_back = self.removal_decisions.get(after).is_none_or(|fate| *fate == RemovalDecision::Goes);
                let places = [is_put_back.then(|| after.clone()), self.waiting_place(after, file.meta.id)];
                let found = places.into_iter().flatten().find_map(|from| Some((self.as_left(&from, after)?, from)));
                match found {
                    Some((id, from)) => ReturnAction::Fetch { from, id, over },
                    None => {
                        ReturnAction::Conflict(format!("the run moved it to {}, and it changed since", named(after)))
                    }
                }
            }
            (None, KnownContents::Nothing { why }) => ReturnAction::Lost(why.clone()),
            _ => ReturnAction::Lost("its contents were not kept".into()),
        }
    }

    /// Returns the id of the file at a place, a path after the run, if it is as the run left it at this path.
    fn as_left(&self, place: &Path, after: &Path) -> Option<FileIdentity> {
        let here = self.current_path(place)?;
        let now = self.read_state(&here)?;
        if self.is_left(after, self.state_after_run_at(after), &here, &now) { now.id() } else { None }
    }
}

/// Returns whether the run has left a thing as it was.
fn is_unchanged(was: &PathState, left: &PathState) -> bool {
    match (was, left) {
        (PathState::File(one), PathState::File(two)) => {
            let same = one.is_unwritten(two)
                || matches!(one.contents, KnownContents::Image(_) | KnownContents::Hash(_))
                    && one.contents == two.contents;
            was.is_alike(left) && same && !one.is_rewritten(two) && !is_relinked(was, left)
        }
        _ => was.is_alike(left),
    }
}

/// Returns whether the run has replaced a file by another file, and either has several names.
fn is_relinked(was: &PathState, left: &PathState) -> bool {
    match (was, left) {
        (PathState::File(was), PathState::File(left)) => {
            was.meta.id != left.meta.id && (was.links > 1 || left.links > 1)
        }
        _ => false,
    }
}

/// Returns whether the run has changed mode, owner or attributes alone.
fn is_meta_only(file: &FileState, left: &PathState) -> bool {
    matches!(left, PathState::File(left) if file.is_kept_as(left))
}

fn changed(now: &PathState) -> &'static str {
    if now.is_absent() { "it was removed after the run" } else { "it changed after the run" }
}
