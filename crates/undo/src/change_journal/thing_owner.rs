//! The owner of each thing that is at a touched path at the end of a run: the run, or another program. An undo removes
//! only the run's own. [`super::foreign_changes`] has the evidence.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use confine_listener::name_key;

use super::ChangeJournal;
use super::foreign_changes::RemovalKind;
use crate::path_state::{FileIdentity, FileTime, PathState};

/// The owner of the thing at a path at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThingOwner {
    /// The run's, as far as can be told.
    Own,
    /// The run's, and another program has changed it since.
    Changed,
    /// Another program's.
    Others,
}

impl ChangeJournal {
    /// Records that from now on each change of the run is announced before it is made, and so are the names that it may
    /// make in directories of its own, by [`ChangeJournal::announce_names`]. Whatever else is there at the end belongs
    /// to another program.
    pub fn expect_announced_changes(&mut self) {
        (self.others.tells, self.others.names) = (true, Some(HashSet::new()));
    }

    /// Records names that the run may make in directories of its own, by their keys.
    pub fn announce_names(&mut self, keys: impl IntoIterator<Item = u64>) {
        if let Some(names) = &mut self.others.names {
            names.extend(keys);
        }
    }

    /// Records that the run may make and remove names without an announcement. Everything counts as its own then.
    pub fn stop_announcements(&mut self) {
        (self.others.tells, self.others.names) = (false, None);
    }

    /// Records that no process of the run will change a file without another call, apart from these inodes.
    pub fn begin_rest(&mut self, open: HashSet<u64>) {
        self.others.rests.begin(open);
    }

    /// Records that a process of the run is about to change a file again.
    pub fn end_rest(&mut self) {
        self.others.rests.end();
    }

    /// Records that the run is about to remove a thing, or to move it away.
    pub(super) fn note_going(&mut self, path: &Path, thing: Option<FileIdentity>) {
        if self.others.tells
            && let Some(entry) = self.earlier_entry(path)
        {
            self.others.gone.insert(entry, RemovalKind::Removed(thing));
        }
    }

    /// Records that the run may put something at a path.
    pub(super) fn note_coming(&mut self, path: &Path) {
        if !self.others.gone.is_empty()
            && let Some(entry) = self.earlier_entry(path)
        {
            self.others.gone.entry(entry).and_modify(|going| *going = RemovalKind::Replaced);
        }
    }

    /// Returns whether another program removed the thing that was at an earlier path.
    pub(super) fn is_removed_by_others(&self, entry: &Path, before: &PathState) -> bool {
        self.others.tells && !before.is_absent() && !self.others.gone.contains_key(entry)
    }

    /// Returns the owner of the thing at a path. `directory` is the inode of its directory, if the run made that.
    pub(super) fn owner_of(&mut self, path: &Path, state: &PathState, directory: Option<u64>) -> ThingOwner {
        let entry = self.earlier_entry(path);
        let before = entry.as_ref().and_then(|entry| self.before.get(entry));
        let is_removed = match entry.as_ref().and_then(|entry| self.others.gone.get(entry)) {
            Some(RemovalKind::Removed(thing)) if self.others.tells && *thing != state.id() => {
                return ThingOwner::Others;
            }
            going => matches!(going, Some(RemovalKind::Removed(_))),
        };
        if let (Some(names), Some(directory), Some(name)) = (&self.others.names, directory, path.file_name())
            && !names.contains(&name_key(directory, name.as_bytes()))
        {
            return ThingOwner::Others;
        }
        let PathState::File(file) = state else { return ThingOwner::Own };
        let inode = file.meta.id.inode;
        let is_same = matches!(before, Some(PathState::File(before)) if before.is_untouched(file));
        if is_same || !self.others.rests.covers(file.ctime, inode) || !sys::has_own_clock(path) {
            return ThingOwner::Own;
        }
        let is_new = before.is_none_or(PathState::is_absent);
        let born = || fs::symlink_metadata(path).and_then(|data| data.created()).ok().map(FileTime::from);
        let is_made = is_removed || is_new && born().is_some_and(|born| self.others.rests.covers(born, inode));
        if is_made { ThingOwner::Others } else { ThingOwner::Changed }
    }
}
