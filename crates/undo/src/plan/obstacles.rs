//! Decides which moved directories can go back.

use std::path::{Path, PathBuf};

use super::moved::{DirectoryPlace, MovedDirectory};
use super::planner::{RemovalDecision, UndoPlanner};

impl UndoPlanner<'_> {
    /// Finds the moved directories that cannot go back. Returns whether their number has grown.
    pub(super) fn find_stuck(&mut self) -> bool {
        let going = self.moved.iter().filter(|directory| directory.goes());
        let stuck: Vec<(PathBuf, String)> =
            going.filter_map(|directory| Some((directory.before.clone(), self.obstacle(directory)?))).collect();
        let found = !stuck.is_empty();
        self.moved.hold(stuck);
        found
    }

    fn obstacle(&self, directory: &MovedDirectory) -> Option<String> {
        let before = &directory.before;
        let (Some(parent), Some(spot)) = (before.parent(), self.spot(before)) else {
            return Some("its directory is gone".into());
        };
        if !self.will_be_directory(parent) {
            return Some("its directory is gone".into());
        }
        let free = self.look_spot(before, &spot).is_some_and(|there| there.is_absent()) || self.is_cleared(before);
        (!free).then(|| "something else is in its place".into())
    }

    /// Returns whether the run's replacement for an earlier file is gone, or goes.
    fn is_cleared(&self, before: &Path) -> bool {
        let fate = self.entry(before).and_then(|entry| self.fates.get(&entry).copied());
        matches!(fate, Some(RemovalDecision::Goes | RemovalDecision::Gone))
    }

    /// Returns whether an earlier path will be a directory after the undo.
    pub(super) fn will_be_directory(&self, before: &Path) -> bool {
        if let Some(moved) = self.moved.of_before(before) {
            return moved.at != DirectoryPlace::Lost;
        }
        let there = self.spot(before).and_then(|spot| self.look_spot(before, &spot));
        let Some(was) = self.point.before.get(before) else {
            return there.is_some_and(|node| node.is_directory());
        };
        match there {
            _ if !was.is_directory() => false,
            Some(node) if node.is_directory() => true,
            // Another process removed the directory.
            Some(node) if node.is_absent() && self.left(before).is_directory() => false,
            Some(node) => {
                let above = before.parent().is_some_and(|parent| self.will_be_directory(parent));
                above && (node.is_absent() || self.is_cleared(before))
            }
            None => false,
        }
    }
}
