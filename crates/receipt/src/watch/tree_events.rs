//! Reports of the system. They change the catalog at once, and mark the files to be read later.

use std::ffi::OsString;

use super::GIT;
use super::catalog_entry::{CatalogEntry, CatalogKey, DirectoryId};
use super::followed_tree::{FollowedTree, HalfReportedRename, LostReports, WatchTarget};
use super::tree_catalog::ROOT;
use super::tree_repositories::is_lock;
use super::unread_reports::FileReports;
use super::watch_failure::TreeWatchFailure;
use sys::{TreeChange, TreeEvent};

impl FollowedTree {
    /// Handles a report. Reports come in the order of the changes.
    pub(super) fn on_event(&mut self, event: TreeEvent) -> Result<(), TreeWatchFailure> {
        if event.change == TreeChange::Lost {
            self.trouble.lost = Some(LostReports::Overflow);
            return Ok(());
        }
        self.count_report(&event);
        let directory = match self.watched.get(&event.watch).copied() {
            Some(WatchTarget::Directory(directory)) => directory,
            Some(WatchTarget::File(inode)) => {
                if event.change == TreeChange::Unwatched {
                    self.links.watches.remove(&inode);
                    self.forget_watch(event.watch);
                } else {
                    for name in self.links.names(inode) {
                        self.mark_file(name, event.change);
                    }
                }
                return Ok(());
            }
            Some(WatchTarget::Git) => {
                self.git.on_event(&event);
                if event.change == TreeChange::Unwatched {
                    self.forget_watch(event.watch);
                }
                return Ok(());
            }
            None => return Ok(()),
        };
        let root_is_gone = matches!(event.change, TreeChange::MovedItself | TreeChange::Unwatched);
        if directory == ROOT && root_is_gone {
            return Err(TreeWatchFailure::Root { root: self.root().to_owned() });
        }
        if event.change == TreeChange::Unwatched {
            self.forget_watch(event.watch);
            return Ok(());
        }
        if event.name == GIT {
            let file = self.catalog.path(directory).join(super::ignore_rules::FILE);
            self.reread_rules(directory, &file);
            return Ok(());
        }
        if event.name.is_empty() {
            if directory == ROOT {
                self.mark_file((ROOT, OsString::new()), event.change);
            }
            return Ok(());
        }
        self.on_change((directory, event.name), event.change)
    }

    fn count_report(&mut self, event: &TreeEvent) {
        // Only windows compare the numbers.
        if self.windows.is_empty() || event.change == TreeChange::Unwatched {
            return;
        }
        let is_other = match self.watched.get(&event.watch) {
            Some(WatchTarget::Git) if is_lock(event) => return,
            Some(WatchTarget::Git) => true,
            Some(WatchTarget::Directory(directory)) => self.is_ignored(*directory, event),
            Some(WatchTarget::File(_)) | None => false,
        };
        let reports = &mut self.counters.reports;
        let count = if is_other { &mut reports.others } else { &mut reports.files };
        *count += 1;
    }

    /// Returns whether git ignores the file of a report.
    fn is_ignored(&self, id: DirectoryId, event: &TreeEvent) -> bool {
        let Some(directory) = self.catalog.directory(id) else { return false };
        let is_ignored = || {
            let is_directory = directory.entries.get(&event.name).is_some_and(CatalogEntry::is_directory);
            directory.rules.ignores_path(&self.catalog.path(id).join(&event.name), is_directory)
        };
        directory.ignored.is_some() || is_ignored()
    }

    fn on_change(&mut self, key: CatalogKey, change: TreeChange) -> Result<(), TreeWatchFailure> {
        if self.catalog.directory(key.0).is_some_and(|directory| directory.is_summed_up) {
            let path = self.catalog.path(key.0);
            if self.catalog.is_attached(key.0) {
                self.windows.note_summed_up(&path);
            }
            // A move from here into the tree counts as a creation.
            return Ok(());
        }
        match change {
            TreeChange::Removed => {
                let mark = self.marks.remove(&key);
                if self.catalog.entry(&key).is_none() {
                    self.links.on_passing_name(mark);
                }
                self.remove_entry(&key);
            }
            TreeChange::MovedFrom(pair) => self.on_moved_from(key, pair),
            TreeChange::MovedTo(pair) => self.on_moved_to(key, pair)?,
            _ => self.mark_file(key, change),
        }
        Ok(())
    }

    fn mark_file(&mut self, key: CatalogKey, change: TreeChange) {
        let mark = FileReports {
            written: change == TreeChange::Written,
            closed: change == TreeChange::Closed,
            replaced: change == TreeChange::Created,
            ..FileReports::default()
        };
        self.marks.add(key, mark);
    }

    fn on_moved_from(&mut self, key: CatalogKey, pair: u32) {
        let path = self.catalog.path_of(&key);
        let mark = self.marks.remove(&key);
        let entry = self.take_entry(&key);
        let name = OsString::from(format!("\0{pair}"));
        let limbo = self.root().join(&name);
        if let Some(entry) = &entry {
            self.trouble.is_racing |= entry.is_directory();
            if let Some(directory) = entry.directory.and_then(|id| self.catalog.directory_mut(id)) {
                directory.place = Some((ROOT, name));
            }
            self.report_before(&path, Some(&entry.node));
            self.windows.rename_files(&path, &limbo);
        }
        // In an exchange of two names, the other file has this name now.
        self.marks.add(key.clone(), FileReports::default());
        self.moving.insert(pair, HalfReportedRename { key, path, entry, mark, limbo });
    }

    fn on_moved_to(&mut self, key: CatalogKey, pair: u32) -> Result<(), TreeWatchFailure> {
        let moving = self.moving.remove(&pair);
        let Some((entry, moving)) = moving.and_then(|moving| Some((moving.entry?, moving))) else {
            // The entry comes from elsewhere, or is not known yet.
            self.marks.add(key, FileReports { replaced: true, ..FileReports::default() });
            return Ok(());
        };
        self.place_renamed(&key, entry, moving)
    }

    /// Puts a renamed entry at its new place.
    pub(super) fn place_renamed(
        &mut self,
        key: &CatalogKey,
        entry: CatalogEntry,
        moving: HalfReportedRename,
    ) -> Result<(), TreeWatchFailure> {
        let path = self.catalog.path_of(key);
        self.marks.remove(key);
        match self.catalog.entry(key) {
            Some(replaced) => {
                let node = replaced.node;
                self.report_before(&path, Some(&node));
                self.remove_entry(key);
            }
            None => self.report_before(&path, None),
        }
        self.windows.rename_files(&moving.limbo, &path);
        self.windows.rename_repositories(&moving.path, &path);
        self.git.rename(&moving.path, &path);
        self.place_moved(key, &path, entry)?;
        // A read makes sure that it is the same file.
        self.marks.add(key.clone(), moving.mark.unwrap_or_default());
        Ok(())
    }

    /// Takes the old half of a rename whose new half is this file, though the new half was not reported.
    pub(super) fn take_moving(
        &mut self,
        is_it: impl Fn(&CatalogEntry) -> bool,
    ) -> Option<(CatalogEntry, HalfReportedRename)> {
        let pair =
            self.moving.iter().find(|(_, moving)| moving.entry.as_ref().is_some_and(&is_it)).map(|(pair, _)| *pair);
        let moving = self.moving.remove(&pair?)?;
        Some((moving.entry?, moving))
    }

    /// Removes the entries that were renamed to a place outside of the tree.
    pub(super) fn drop_moved_out(&mut self) {
        for (_, moving) in std::mem::take(&mut self.moving) {
            match moving.entry {
                Some(entry) => self.remove_taken(&moving.key, (&moving.path, &moving.limbo), &entry),
                None => self.links.on_passing_name(moving.mark),
            }
        }
    }
}
