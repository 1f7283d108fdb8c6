//! Compares the three states of a path, once, before anything is decided about it.
//!
//! A path that the undo was not asked for is not read. Comparing may hash a file or read other points, and an undo of
//! one file must not take the time of an undo of the whole run.

use std::path::{Path, PathBuf};

use super::decision_tables::{PathView, RequestScope, RunEffect, StateNow};
use super::moved_directories::DirectoryPlace;
use super::undo_planner::UndoPlanner;
use crate::path_state::{FileState, KnownContents, PathState};

/// The three states of a path at which something was before the run, compared.
pub(super) struct EarlierThing<'a> {
    pub view: PathView,
    pub effect: RunEffect,
    pub state_after_run: &'a PathState,
    /// Absent if nothing was read.
    pub state_now: PathState,
}

impl<'a> UndoPlanner<'a> {
    /// Compares the states of a thing that the run made, by its path after the run.
    pub(super) fn view_made(&self, path: &Path) -> PathView {
        // No earlier path: the run has moved the directory of the earlier file, which is elsewhere now.
        let path_before = self.before_by_after.get(path).map(PathBuf::as_path);
        let request = if !self.is_requested([path_before.unwrap_or(path), path]) {
            RequestScope::NotRequested
        } else if self.is_shared_git_object(path) {
            RequestScope::SharedGitObject
        } else {
            RequestScope::Requested
        };
        let state_now = match self.current_path(path).filter(|_| self.is_in_its_directory(path)) {
            None => StateNow::PlaceLost,
            Some(_) if request != RequestScope::Requested => StateNow::Unknown,
            Some(place) => self.compare_made(path, path_before, &place),
        };
        PathView { request, state_now }
    }

    fn compare_made(&self, path: &Path, path_before: Option<&Path>, place: &Path) -> StateNow {
        let Some(now) = self.read_state(place) else { return StateNow::Unknown };
        if now.is_absent() {
            StateNow::Absent
        } else if path_before.is_some_and(|path_before| self.is_back(path_before, place, &now)) {
            StateNow::AsBefore
        } else if self.is_as_left(path, self.state_after_run_at(path), place, &now) {
            StateNow::AsAfterRun
        } else if self.current_tree.is_half_undone(place, &now) {
            StateNow::HalfUndone
        } else {
            StateNow::Other
        }
    }

    /// Returns whether the earlier thing is in the place of a thing that the run made: an earlier undo of this run may
    /// have put it there.
    fn is_back(&self, path_before: &Path, place: &Path, now: &PathState) -> bool {
        if let Some(moved) = self.moved.by_path_before(path_before) {
            return moved.at == DirectoryPlace::Home;
        }
        let state_before = self.run.states_before.get(path_before).unwrap_or(&PathState::Absent);
        !state_before.is_absent() && self.current_tree.is_recorded_state(state_before, place, now)
    }

    /// Returns whether a made thing is still in its directory. A directory that the run made must still be there, or an
    /// undo must have made it again. Another directory in its place has the user's files, whatever their names.
    fn is_in_its_directory(&self, path: &Path) -> bool {
        let Some(parent) = path.parent().filter(|parent| self.made_paths.contains(*parent)) else { return true };
        let there = self.current_path(parent).and_then(|place| self.read_state(&place));
        let made = self.state_after_run_at(parent).id();
        there.zip(made).is_some_and(|(there, made)| self.current_tree.is_recorded_directory(made, &there))
    }

    /// Compares the states of an earlier thing, by its path before the run. The removals are decided.
    pub(super) fn view_earlier(&self, path: &Path, state_before: &PathState) -> EarlierThing<'a> {
        let moved = self.moved.by_path_before(path);
        let (state_after_run, place) = match moved {
            Some(moved) => (self.state_after_run_at(&moved.after), self.current_path(&moved.after)),
            None => (self.state_after_run_of(path), self.current_place(path)),
        };
        let path_after_run = self.path_after_run(path);
        let is_requested = self.is_requested([path, path_after_run.as_deref().unwrap_or(path)]);
        let request = if is_requested { RequestScope::Requested } else { RequestScope::NotRequested };
        let effect = self.effect_of_run(path, state_before, state_after_run);
        let thing = |state_now, now| EarlierThing {
            view: PathView { request, state_now },
            effect,
            state_after_run,
            state_now: now,
        };
        let Some(place) = place else { return thing(StateNow::PlaceLost, PathState::Absent) };
        let needs_state = is_requested && effect != RunEffect::NothingBefore;
        let read = match moved {
            _ if !needs_state => None,
            // Its place is known by the directory alone, so a directory that cannot be read is lost.
            Some(_) => match self.read_state(&place) {
                None => return thing(StateNow::PlaceLost, PathState::Absent),
                read => read,
            },
            None if effect == RunEffect::Untouched => None,
            None => self.read_current_place(path, &place),
        };
        let Some(now) = read else { return thing(StateNow::Unknown, PathState::Absent) };
        if effect == RunEffect::Untouched {
            return thing(StateNow::Unknown, now);
        }
        let path_after_run = moved.map(|moved| moved.after.as_path()).or(path_after_run.as_deref()).unwrap_or(path);
        let state_now = self.compare_earlier(path_after_run, [state_before, state_after_run, &now], &place);
        thing(state_now, now)
    }

    /// Returns what the run has done to an earlier thing.
    fn effect_of_run(&self, path: &Path, state_before: &PathState, state_after_run: &PathState) -> RunEffect {
        let is_other_kind = state_before.is_directory() != state_after_run.is_directory();
        if state_before.is_absent() {
            RunEffect::NothingBefore
        } else if is_unchanged(state_before, state_after_run) {
            RunEffect::Untouched
        } else if state_after_run.is_absent() || !is_other_kind {
            RunEffect::Changed
        } else if self.is_place_cleared(path) {
            RunEffect::KindReplacedAndRemoved
        } else {
            RunEffect::KindReplacedAndKept
        }
    }

    fn compare_earlier(&self, path_after_run: &Path, states: [&PathState; 3], place: &Path) -> StateNow {
        let [state_before, state_after_run, now] = states;
        let has_state_before = self.current_tree.is_recorded_state(state_before, place, now);
        if has_state_before && (!is_relinked(state_before, state_after_run) || now.id() == state_before.id()) {
            StateNow::AsBefore
        } else if self.current_tree.is_half_undone(place, now) {
            StateNow::HalfUndone
        } else if self.is_as_left(path_after_run, state_after_run, place, now) {
            StateNow::AsAfterRun
        } else if has_state_before {
            StateNow::CopyOfBefore
        } else if now.is_absent() {
            StateNow::Absent
        } else {
            StateNow::Other
        }
    }

    /// Returns whether the current thing is as the run left it at this path after the run. What another program has
    /// made or changed there while the run went on is not.
    pub(super) fn is_as_left(
        &self,
        path_after_run: &Path,
        state_after_run: &PathState,
        place: &Path,
        now: &PathState,
    ) -> bool {
        !self.run.foreign_paths.contains(path_after_run)
            && self.current_tree.is_recorded_state(state_after_run, place, now)
    }
}

/// Returns whether the run has left a thing as it was.
fn is_unchanged(state_before: &PathState, state_after_run: &PathState) -> bool {
    match (state_before, state_after_run) {
        (PathState::File(before), PathState::File(after)) => {
            let is_compared = matches!(before.contents, KnownContents::Image(_) | KnownContents::Hash(_));
            let has_same_contents = before.is_unwritten(after) || is_compared && before.contents == after.contents;
            state_before.is_alike(state_after_run)
                && has_same_contents
                && !before.is_rewritten(after)
                && !is_relinked(state_before, state_after_run)
        }
        _ => state_before.is_alike(state_after_run),
    }
}

/// Returns whether the run has replaced a file by another file, and either has several names. Equal contents are not
/// enough then: the names of before have to be names of one file again.
fn is_relinked(state_before: &PathState, state_after_run: &PathState) -> bool {
    match (state_before, state_after_run) {
        (PathState::File(before), PathState::File(after)) => {
            before.meta.id != after.meta.id && (before.links > 1 || after.links > 1)
        }
        _ => false,
    }
}

/// Returns whether the run has changed mode, owner or attributes of a file alone.
pub(super) fn is_meta_only(before: &FileState, state_after_run: &PathState) -> bool {
    matches!(state_after_run, PathState::File(after) if before.is_kept_as(after))
}
