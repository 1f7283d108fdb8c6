//! Directories and entries that come, go and move.
//!
//! A rename has two halves. Between them the renamed file has a path of its own. The second half is missing if the new
//! directory was not watched yet. The file is then found there by its inode and its time of birth.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::GIT;
use super::catalog_entry::{CatalogEntry, CatalogKey, DirectoryId, InodeIdentity, is_gone};
use super::change_window::renamed;
use super::followed_tree::{FollowedTree, LostReports, WatchTarget};
use super::ignore_rules::IgnoreRules;
use super::tree_catalog::{CatalogDirectory, ROOT};
use super::unread_reports::FileReports;
use super::watch_failure::TreeWatchFailure;
use super::watch_limits::SUMMED_UP_ENTRIES;
use sys::TreeWatchId;
use undo::coverage_gaps::named;

impl FollowedTree {
    /// Watches and reads the root.
    pub(super) fn read_root(&mut self) -> Result<(), TreeWatchFailure> {
        let path = self.root().to_owned();
        let key = (ROOT, OsString::new());
        let version = self.next_version();
        let entry = CatalogEntry::read(&path, version).map_err(|error| TreeWatchFailure::of(&path, &error))?;
        let entry =
            entry.filter(CatalogEntry::is_directory).ok_or_else(|| TreeWatchFailure::Root { root: path.clone() })?;
        self.watch_directory(None, &path)?;
        self.put_entry(&key, &path, entry);
        self.read_entries(ROOT, &path)
    }

    /// Watches a new directory, then reads it, and continues with the directories in it.
    pub(super) fn enter_directory(&mut self, key: CatalogKey, path: PathBuf) -> Result<(), TreeWatchFailure> {
        if let Some(id) = self.watch_directory(Some(key), &path)? {
            self.read_entries(id, &path)?;
        }
        Ok(())
    }

    /// Watches a new directory. Returns its number if its entries have to be read.
    fn watch_directory(
        &mut self,
        place: Option<CatalogKey>,
        path: &Path,
    ) -> Result<Option<DirectoryId>, TreeWatchFailure> {
        let (watch, now) = match self.add_watch(path) {
            Ok(added) => added,
            Err(RefusedWatch::Failure(failure)) => return Err(failure),
            Err(RefusedWatch::System(error)) => return self.on_unreadable(path, &error).map(|()| None),
        };
        let known_as = place.as_ref().and_then(|place| self.catalog.entry(place)).map(|entry| entry.inode);
        if let Some(place) = &place
            && known_as != Some(now)
        {
            // Another directory has this name by now.
            if !self.watched.contains_key(&watch) {
                self.watch.remove(watch);
                self.budget.give(1);
            }
            self.marks.add(place.clone(), FileReports { replaced: true, ..FileReports::default() });
            return Ok(None);
        }
        if let Some(WatchTarget::Directory(known)) = self.watched.get(&watch).copied() {
            // The kernel knows the directory by another path: it was renamed and the report is on its way, or it has
            // two paths.
            return self.on_known_directory((known, now), place, path);
        }
        let above = place.as_ref().and_then(|(parent, _)| self.catalog.directory(*parent));
        let (rules, ignored) =
            above.map_or((IgnoreRules::default(), None), |above| (above.rules.clone(), above.ignored));
        let is_ignored = ignored.is_none() && place.is_some() && rules.ignores_directory(path);
        let is_summed_up = is_ignored && has_many_entries(path);
        let rules = if ignored.is_some() || is_ignored { rules } else { self.rules_of(path, &rules) };
        let entries = HashMap::new();
        let directory =
            CatalogDirectory { place: place.clone(), entries, watch, rules, ignored, count: 0, is_summed_up };
        let id = self.catalog.add(directory);
        if is_ignored && let Some(directory) = self.catalog.directory_mut(id) {
            directory.ignored = Some(id);
        }
        self.watched.insert(watch, WatchTarget::Directory(id));
        self.set_directory(place.as_ref(), id);
        if is_summed_up {
            self.windows.note_summed_up(path);
            return Ok(None);
        }
        Ok(Some(id))
    }

    fn set_directory(&mut self, place: Option<&CatalogKey>, id: DirectoryId) {
        let Some((parent, name)) = place else { return };
        let entry = self.catalog.directory_mut(*parent).and_then(|parent| parent.entries.get_mut(name));
        if let Some(entry) = entry {
            entry.directory = Some(id);
        }
    }

    /// Returns the rules inside a directory, which may be the top of a repository.
    fn rules_of(&mut self, path: &Path, above: &IgnoreRules) -> IgnoreRules {
        match fs::symlink_metadata(path.join(GIT)) {
            Ok(_) => {
                self.git.mark_for_rereading(path.to_owned());
                let common = crate::git::GitRepository::open(path).map(|repository| repository.common);
                common.map_or_else(|| above.inside(path), |common| IgnoreRules::of_repository(path, &common))
            }
            Err(_) => above.inside(path),
        }
    }

    /// Reads the entries of a watched directory.
    fn read_entries(&mut self, id: DirectoryId, path: &Path) -> Result<(), TreeWatchFailure> {
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => return self.on_unreadable(path, &error),
        };
        for entry in entries {
            let name = match entry {
                Ok(entry) => entry.file_name(),
                Err(error) => return self.on_unreadable(path, &error),
            };
            let key = (id, name);
            if key.1 == GIT || self.catalog.entry(&key).is_some() {
                continue;
            }
            // The directory may have been summed up meanwhile.
            if self.catalog.directory(id).is_none_or(|directory| directory.is_summed_up) {
                return Ok(());
            }
            let path = path.join(&key.1);
            let version = self.next_version();
            match CatalogEntry::read(&path, version) {
                Ok(Some(entry)) => self.on_new_file(&key, &path, entry)?,
                Ok(None) => {}
                Err(error) => self.on_unreadable(&path, &error)?,
            }
        }
        Ok(())
    }

    /// Handles a directory that is known by another path.
    fn on_known_directory(
        &mut self,
        (known, inode): (DirectoryId, InodeIdentity),
        place: Option<CatalogKey>,
        path: &Path,
    ) -> Result<Option<DirectoryId>, TreeWatchFailure> {
        let Some(key) = place else { return Ok(None) };
        let is_known = |entry: &CatalogEntry| entry.directory == Some(known);
        if let Some((entry, moving)) = self.take_moving(is_known) {
            return self.place_renamed(&key, entry, moving).map(|()| None);
        }
        let from = self.catalog.directory(known).and_then(|known| known.place.clone());
        let Some(from) = from.filter(|from| self.catalog.entry(from).is_some_and(is_known)) else {
            // The directory has no place.
            for below in self.catalog.below(known) {
                self.remove_directory(below);
            }
            return self.watch_directory(Some(key), path);
        };
        let old = self.catalog.path(known);
        let is_at = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| InodeIdentity::of(&found) == inode);
        // The directory may have been renamed between two of these calls.
        if [old.as_path(), path, path, &old].into_iter().all(is_at) {
            let why = || format!("{} and {} are the same directory", named(&old), named(path));
            self.trouble.standing.get_or_insert_with(why);
            return Ok(None);
        }
        let Some(entry) = self.take_entry(&from) else { return Ok(None) };
        // Files in it may have been looked for at its old path.
        self.trouble.is_racing = true;
        self.report_before(&old, Some(&entry.node));
        self.windows.rename_files(&old, path);
        self.windows.rename_repositories(&old, path);
        self.git.rename(&old, path);
        self.place_moved(&key, path, entry)?;
        Ok(None)
    }

    /// Puts an entry into the catalog, and remembers it if it has several names.
    pub(super) fn put_entry(&mut self, key: &CatalogKey, path: &Path, entry: CatalogEntry) {
        let Some(directory) = self.catalog.directory_mut(key.0) else { return };
        directory.entries.insert(key.1.clone(), entry);
        if entry.is_linked() && self.links.add(entry.inode, key.clone()) < entry.links as usize {
            self.links.to_find.entry(entry.inode).or_default();
        }
        if key.1 == super::ignore_rules::FILE {
            self.reread_rules(key.0, path);
        }
    }

    pub(super) fn reread_rules(&mut self, id: DirectoryId, file: &Path) {
        let place = self.catalog.directory(id).and_then(|directory| directory.place.clone());
        let above = place.and_then(|(parent, _)| Some(self.catalog.directory(parent)?.rules.clone()));
        let Some(path) = file.parent() else { return };
        let rules = self.rules_of(path, &above.unwrap_or_default());
        if let Some(directory) = self.catalog.directory_mut(id) {
            directory.rules = rules;
        }
    }

    /// Takes an entry out of its directory, to put it elsewhere.
    pub(super) fn take_entry(&mut self, key: &CatalogKey) -> Option<CatalogEntry> {
        let entry = self.catalog.directory_mut(key.0)?.entries.remove(&key.1)?;
        if let Some(ignored) = self.catalog.directory(key.0).and_then(|directory| directory.ignored) {
            let all = entry.directory.map_or(1, |directory| self.count_of(directory) + 1);
            if let Some(ignored) = self.catalog.directory_mut(ignored) {
                ignored.count = ignored.count.saturating_sub(all);
            }
        }
        if entry.is_linked() {
            self.links.remove(entry.inode, key);
        }
        Some(entry)
    }

    /// Puts a renamed entry at its new place.
    pub(super) fn place_moved(
        &mut self,
        key: &CatalogKey,
        path: &Path,
        entry: CatalogEntry,
    ) -> Result<(), TreeWatchFailure> {
        let Some(parent) = self.catalog.directory(key.0) else { return Ok(()) };
        let (above, rules) = (parent.ignored, parent.rules.clone());
        if entry.directory.is_some_and(|id| self.catalog.is_below(key.0, id)) {
            // The report is stale: other directories have the names by now.
            self.remove_taken(key, (path, path), &entry);
            self.trouble.lost.get_or_insert(LostReports::Race);
            return Ok(());
        }
        self.put_entry(key, path, entry);
        let mut count = 1;
        if let Some(id) = entry.directory {
            count += self.count_of(id);
            if let Some(directory) = self.catalog.directory_mut(id) {
                directory.place = Some(key.clone());
            }
            let top = above.or_else(|| rules.ignores_directory(path).then_some(id));
            self.set_ignored(id, top, count - 1);
        }
        self.count_below(key.0, count)
    }

    /// Sets the highest ignored directory of a directory and of all below it.
    fn set_ignored(&mut self, id: DirectoryId, top: Option<DirectoryId>, count: usize) {
        for below in self.catalog.below(id) {
            if let Some(directory) = self.catalog.directory_mut(below) {
                directory.ignored = top;
                directory.count = if top == Some(below) { count } else { 0 };
            }
        }
    }

    /// Returns the number of entries below a directory at all depths.
    fn count_of(&self, id: DirectoryId) -> usize {
        let below = self.catalog.below(id).into_iter();
        below.filter_map(|id| self.catalog.directory(id)).map(|directory| directory.entries.len()).sum()
    }

    /// Counts new entries of a directory. An ignored directory that becomes large is summed up from now on.
    pub(super) fn count_below(&mut self, id: DirectoryId, count: usize) -> Result<(), TreeWatchFailure> {
        let Some(top) = self.catalog.directory(id).and_then(|directory| directory.ignored) else { return Ok(()) };
        let Some(directory) = self.catalog.directory_mut(top) else { return Ok(()) };
        directory.count += count;
        if directory.count < SUMMED_UP_ENTRIES || directory.is_summed_up {
            return Ok(());
        }
        directory.is_summed_up = true;
        let path = self.catalog.path(top);
        self.windows.note_summed_up(&path);
        for below in self.catalog.below(top).into_iter().skip(1) {
            self.remove_directory(below);
        }
        let entries = self.catalog.directory_mut(top).map(|directory| std::mem::take(&mut directory.entries));
        self.forget_entries(top, entries.unwrap_or_default());
        Ok(())
    }

    /// Handles the removal of an entry with everything in it.
    pub(super) fn remove_entry(&mut self, key: &CatalogKey) {
        let path = self.catalog.path_of(key);
        if let Some(entry) = self.take_entry(key) {
            self.remove_taken(key, (&path, &path), &entry);
        }
    }

    /// Handles the removal of an entry that has been taken out of its directory. The entry was at one path, and the
    /// windows know it by another path.
    pub(super) fn remove_taken(&mut self, key: &CatalogKey, (was, path): (&Path, &Path), entry: &CatalogEntry) {
        self.counters.files = self.counters.files.saturating_sub(1);
        self.report_before(path, Some(&entry.node));
        if let Some(id) = entry.directory {
            for below in self.catalog.below(id) {
                self.report_removed_entries(below, (path, was));
            }
            for below in self.catalog.below(id) {
                self.remove_directory(below);
            }
            self.git.mark_all_below(was);
        }
        if entry.is_linked() {
            self.forget_link(key, entry);
        }
        self.windows.remove(path);
    }

    /// Reports to the windows the entries of a directory below a removed directory that was at another path before.
    fn report_removed_entries(&mut self, id: DirectoryId, (top, was): (&Path, &Path)) {
        let Some(directory) = self.catalog.directory(id) else { return };
        let path = self.catalog.path(id);
        if directory.is_summed_up {
            self.windows.note_summed_up(&renamed(&path, top, was));
        }
        if !self.windows.is_empty() {
            for (name, entry) in &directory.entries {
                self.windows.record_before(&path.join(name), Some(&entry.node));
            }
        }
    }

    fn remove_directory(&mut self, id: DirectoryId) {
        let Some(directory) = self.catalog.remove(id) else { return };
        self.watch.remove(directory.watch);
        self.forget_watch(directory.watch);
        self.forget_entries(id, directory.entries);
    }

    fn forget_entries(&mut self, id: DirectoryId, entries: HashMap<OsString, CatalogEntry>) {
        self.counters.files = self.counters.files.saturating_sub(entries.len());
        for (name, entry) in entries {
            if entry.is_linked() {
                self.forget_link(&(id, name), &entry);
            }
        }
    }

    /// Adds a watch on a directory, and returns its id and the inode of the directory.
    fn add_watch(&mut self, path: &Path) -> Result<(TreeWatchId, InodeIdentity), RefusedWatch> {
        if !self.budget.take() {
            let (root, most) = (self.root().to_owned(), self.budget.most);
            return Err(RefusedWatch::Failure(TreeWatchFailure::Directories { root, most }));
        }
        match self.watch.add(path) {
            Ok((watch, metadata)) => {
                if self.watched.contains_key(&watch) {
                    self.budget.give(1);
                }
                Ok((watch, InodeIdentity::of(&metadata)))
            }
            Err(error) => {
                self.budget.give(1);
                let is_usual = is_gone(&error) || error.kind() == io::ErrorKind::PermissionDenied;
                Err(if is_usual {
                    RefusedWatch::System(error)
                } else {
                    RefusedWatch::Failure(TreeWatchFailure::of(path, &error))
                })
            }
        }
    }

    pub(super) fn forget_watch(&mut self, watch: TreeWatchId) {
        if self.watched.remove(&watch).is_some() {
            self.budget.give(1);
        }
    }
}

/// Why a directory is not watched.
enum RefusedWatch {
    Failure(TreeWatchFailure),
    System(io::Error),
}

/// Returns whether a directory has so many entries at all depths that it is summed up.
fn has_many_entries(path: &Path) -> bool {
    let mut count = 0;
    let mut directories = vec![path.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            count += 1;
            if count >= SUMMED_UP_ENTRIES {
                return true;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                directories.push(entry.path());
            }
        }
    }
    false
}
