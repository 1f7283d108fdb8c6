//! Records the new things of a tree.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::arrived_things::ArrivedThings;
use super::open_directory::OpenDirectory;
use super::tree_comparison::TreeComparison;
use crate::manifest::RecordedRename;
use crate::path_lookup::read_state;
use crate::path_state::PathState;

impl TreeComparison<'_> {
    /// Records the new things, outer things first.
    pub(super) fn write_new(&mut self) -> io::Result<()> {
        let ArrivedThings { new, mut moved, .. } = std::mem::take(&mut self.places);
        let mut all: BTreeMap<PathBuf, Option<PathState>> = moved.keys().map(|path| (path.clone(), None)).collect();
        for (path, state) in new {
            all.entry(path).or_insert(Some(state));
        }
        for (path, state) in all {
            match (moved.remove(&path), state) {
                (Some((before, id)), _) => {
                    let from = self.journal.names().current_path(&before);
                    self.journal.note_moved(RecordedRename { from, to: path, id, directory: true, swap: None })?;
                }
                (None, Some(state)) if self.holds_unkept(&path, &state) => {
                    self.journal.record_gap(&path, "it has a file of before that is not kept, and stays")?;
                }
                (None, Some(state)) => self.journal.note_made(&path, state.is_directory())?,
                (None, None) => {}
            }
        }
        Ok(())
    }

    /// Returns whether a new entry is an earlier file that is not kept, or contains one. Such an entry must not be
    /// removed.
    fn holds_unkept(&self, path: &Path, state: &PathState) -> bool {
        if self.unkept.is_empty() {
            return false;
        }
        match state {
            PathState::File(file) => self.unkept.contains(&file.meta.id),
            PathState::Directory(_) => OpenDirectory::root(path).is_ok_and(|directory| self.has_unkept(&directory)),
            _ => false,
        }
    }

    fn has_unkept(&self, directory: &OpenDirectory) -> bool {
        let names = directory.names(self.until).ok().flatten();
        let is_unkept = |name: &OsStr| match read_state(&directory.reach(name)) {
            Ok(PathState::File(file)) => self.unkept.contains(&file.meta.id),
            Ok(PathState::Directory(_)) => directory.inside(name).is_ok_and(|inner| self.has_unkept(&inner)),
            Ok(_) => false,
            Err(_) => true,
        };
        // If the time is up, the directory may contain one.
        names.is_none_or(|names| names.iter().any(|name| is_unkept(name)))
    }
}
