//! Reads the reported files and the new directories.

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::GIT;
use super::catalog_entry::{CatalogEntry, CatalogKey, DirectoryId, is_gone};
use super::followed_tree::FollowedTree;
use super::unread_reports::FileReports;
use super::watch_failure::TreeWatchFailure;
use super::watch_limits::MAX_COMPARED_FILES;
use crate::ReceiptCompleteness;
use undo::coverage_gaps::named;

impl FollowedTree {
    /// Reads every file that has a mark, until no marks are left. Files in directories whose new place is not known yet
    /// keep their marks.
    pub(super) fn read_marked_files(&mut self, deadline: Option<Instant>) -> Result<(), TreeWatchFailure> {
        let (mut kept, mut kept_new) = (Vec::new(), Vec::new());
        loop {
            self.enter_new(&mut kept_new)?;
            let marks = self.marks.take();
            if marks.is_empty() && !self.find_links()? {
                if self.compare_after_passing() {
                    continue;
                }
                kept.into_iter().for_each(|(key, mark)| self.marks.add(key, mark));
                self.marks.new = kept_new;
                return Ok(());
            }
            for (key, mark) in marks {
                if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                    return Err(TreeWatchFailure::Incomplete);
                }
                if self.has_path(key.0) {
                    self.read_marked_file(&key, mark)?;
                } else {
                    kept.push((key, mark));
                }
            }
        }
    }

    /// Watches and reads the directories that are new in the catalog, and the directories in them. Keeps directories
    /// whose new place is not known yet.
    fn enter_new(&mut self, kept: &mut Vec<CatalogKey>) -> Result<(), TreeWatchFailure> {
        while let Some(key) = self.marks.new.pop() {
            let entry = self.catalog.entry(&key);
            if entry.is_none_or(|entry| !entry.is_directory() || entry.directory.is_some()) {
                continue;
            }
            if self.has_path(key.0) {
                let path = self.catalog.path_of(&key);
                self.enter_directory(key, path)?;
            } else {
                kept.push(key);
            }
        }
        Ok(())
    }

    /// Returns whether the place of a directory is known. It is unknown while the directory is being renamed.
    fn has_path(&self, directory: DirectoryId) -> bool {
        self.moving.is_empty() || self.catalog.is_attached(directory)
    }

    fn read_marked_file(&mut self, key: &CatalogKey, mark: FileReports) -> Result<(), TreeWatchFailure> {
        if self.catalog.directory(key.0).is_none_or(|directory| directory.is_summed_up) {
            return Ok(());
        }
        let path = self.catalog.path_of(key);
        let version = self.next_version();
        let now = match CatalogEntry::read(&path, version) {
            Ok(now) => now,
            Err(error) => return self.on_unreadable(&path, &error),
        };
        match (self.catalog.entry(key).copied(), now) {
            (None, None) => {}
            (None, Some(now)) => {
                self.on_new_file(key, &path, now)?;
                // The path may be another name of a known file that was written by that name.
                let mark = FileReports { closed: true, replaced: false, by_link: true, ..mark };
                self.links.to_find.entry(now.inode).and_modify(|known| *known |= mark);
                if now.is_linked() {
                    self.mark_other_names(now.inode, key, mark);
                }
            }
            (Some(_), None) => self.remove_entry(key),
            (Some(before), Some(now)) => self.compare_entry(key, &path, mark, (before, now))?,
        }
        Ok(())
    }

    /// Handles a file at a path at which no file was known. It is new, or its old name was reported and its new name
    /// was not.
    pub(super) fn on_new_file(
        &mut self,
        key: &CatalogKey,
        path: &Path,
        now: CatalogEntry,
    ) -> Result<(), TreeWatchFailure> {
        let is_it = |entry: &CatalogEntry| now.inode.is_unique() && entry.inode == now.inode;
        if let Some((entry, moving)) = self.take_moving(is_it) {
            return self.place_renamed(key, entry, moving);
        }
        self.report_before(path, None);
        self.add_entry(key, path, now)
    }

    fn compare_entry(
        &mut self,
        key: &CatalogKey,
        path: &Path,
        mark: FileReports,
        (before, mut now): (CatalogEntry, CatalogEntry),
    ) -> Result<(), TreeWatchFailure> {
        let is_same_file = before.inode == now.inode && before.node.kind == now.node.kind;
        if !is_same_file && (before.is_directory() || now.is_directory()) {
            self.remove_entry(key);
            self.report_before(path, None);
            return self.add_entry(key, path, now);
        }
        // A program can write through a mapping, of which nothing is reported, and set the time of the content back.
        let is_touched = before.changed != now.changed
            && !mark.by_link
            && before.links == now.links
            && before.node.metadata == now.node.metadata;
        let may_be_written = mark.written
            || mark.replaced
            || (mark.closed && (before.written != now.written || is_touched))
            || (mark.missed && before.changed != now.changed);
        let is_same_content = is_same_file && before.node.bytes == now.node.bytes && !may_be_written;
        if is_same_content || now.is_directory() {
            now.keep_version(&before);
        }
        now.directory = before.directory;
        if now.is_directory() && now.directory.is_none() && !key.1.is_empty() {
            // The directory had another name when it was to be watched.
            self.marks.new.push(key.clone());
        }
        if now.node != before.node {
            self.report_before(path, Some(&before.node));
        }
        if before.is_linked() && !(is_same_file && now.is_linked()) {
            self.forget_link(key, &before);
        }
        let is_linked = now.is_linked();
        if is_linked && !mark.by_link {
            self.mark_other_names(now.inode, key, FileReports { by_link: true, replaced: false, ..mark });
        }
        self.put_entry(key, path, now);
        Ok(())
    }

    /// Adds a new entry, with everything in it.
    pub(super) fn add_entry(
        &mut self,
        key: &CatalogKey,
        path: &Path,
        entry: CatalogEntry,
    ) -> Result<(), TreeWatchFailure> {
        self.count_file()?;
        self.put_entry(key, path, entry);
        self.count_below(key.0, 1)?;
        if entry.is_directory() {
            self.marks.new.push(key.clone());
        }
        Ok(())
    }

    /// Marks everything if a file was written to by a name that came and went. Returns whether there is anything to
    /// read. A large tree is not read.
    fn compare_after_passing(&mut self) -> bool {
        if !std::mem::take(&mut self.links.has_passed) || self.windows.is_empty() {
            return false;
        }
        if self.counters.files > MAX_COMPARED_FILES {
            let why = "a file was written to by a name that is gone, and may have another name that was not found";
            self.windows.note_trouble(ReceiptCompleteness::Partial, why);
            return false;
        }
        self.mark_everything();
        true
    }

    /// Marks everything that is or was in the tree, for a comparison.
    pub(super) fn mark_everything(&mut self) {
        let directories: Vec<_> =
            self.catalog.directories().filter(|(_, it)| !it.is_summed_up).map(|(id, _)| id).collect();
        for id in directories {
            let path = self.catalog.path(id);
            let known = self.catalog.directory(id).into_iter().flat_map(|directory| directory.entries.keys()).cloned();
            let there = fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.file_name());
            let names: Vec<_> = known.chain(there).filter(|name| name != GIT).collect();
            for name in names {
                self.marks.add((id, name), FileReports { missed: true, ..FileReports::default() });
            }
        }
        self.git.mark_all_changed();
    }

    /// Handles a file that the system does not show.
    pub(super) fn on_unreadable(&mut self, path: &Path, error: &std::io::Error) -> Result<(), TreeWatchFailure> {
        if is_gone(error) {
            return Ok(());
        }
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => {
                let why = || format!("{} cannot be read", named(path));
                self.trouble.standing.get_or_insert_with(why);
                Ok(())
            }
            _ => Err(TreeWatchFailure::of(path, error)),
        }
    }
}
