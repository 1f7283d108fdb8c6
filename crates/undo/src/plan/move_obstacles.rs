//! Decides which moved directories can go back. A directory goes back whole, by one rename, with whatever others have
//! put into it since. Taking its files back one by one would tear those from the rest.

use std::path::{Path, PathBuf};

use super::decision_tables::RemovalDecision;
use super::moved_directories::{DirectoryPlace, MovedDirectory};
use super::undo_planner::UndoPlanner;

impl UndoPlanner<'_> {
    /// Finds the moved directories that cannot go back. Returns whether their number has grown.
    pub(super) fn mark_stuck_directories(&mut self) -> bool {
        let going = self.moved.iter().filter(|directory| directory.goes_back());
        let stuck: Vec<(PathBuf, String)> =
            going.filter_map(|directory| Some((directory.before.clone(), self.find_obstacle(directory)?))).collect();
        let found = !stuck.is_empty();
        self.moved.mark_stuck(stuck);
        found
    }

    fn find_obstacle(&self, directory: &MovedDirectory) -> Option<String> {
        let before = &directory.before;
        let (Some(parent), Some(place)) = (before.parent(), self.current_place(before)) else {
            return Some("its directory is gone".into());
        };
        if !self.will_be_directory(parent) {
            return Some("its directory is gone".into());
        }
        let free = self.read_current_place(before, &place).is_some_and(|there| there.is_absent())
            || self.is_place_cleared(before);
        (!free).then(|| "something else is in its place".into())
    }

    /// Returns whether the run's replacement for an earlier file is gone, or goes.
    pub(super) fn is_place_cleared(&self, before: &Path) -> bool {
        let decision = self.path_after_run(before).and_then(|path| self.removal_decisions.get(&path).copied());
        decision.is_some_and(RemovalDecision::clears_place)
    }

    /// Returns whether an earlier path will be a directory after the undo.
    pub(super) fn will_be_directory(&self, before: &Path) -> bool {
        if let Some(moved) = self.moved.by_path_before(before) {
            return moved.at != DirectoryPlace::Lost;
        }
        let there = self.current_place(before).and_then(|place| self.read_current_place(before, &place));
        let Some(state_before) = self.run.states_before.get(before) else {
            return there.is_some_and(|state| state.is_directory());
        };
        match there {
            _ if !state_before.is_directory() => false,
            Some(state) if state.is_directory() => true,
            // Another process removed the directory.
            Some(state) if state.is_absent() && self.state_after_run_of(before).is_directory() => false,
            Some(state) => {
                let above = before.parent().is_some_and(|parent| self.will_be_directory(parent));
                above && (state.is_absent() || self.is_place_cleared(before))
            }
            None => false,
        }
    }
}
