//! The names of files that have several names.

use super::catalog_entry::{CatalogEntry, CatalogKey, InodeIdentity, is_gone};
use super::followed_tree::{FollowedTree, WatchTarget};
use super::unread_reports::FileReports;
use super::watch_failure::TreeWatchFailure;
use super::watch_limits::MAX_LINK_WATCHES;
use crate::ChangedFileKind;

impl FollowedTree {
    /// Looks for the other names of files with several names, in one pass. Returns whether more files have to be read.
    pub(super) fn find_links(&mut self) -> Result<bool, TreeWatchFailure> {
        let wanted = std::mem::take(&mut self.links.to_find);
        if wanted.is_empty() {
            return Ok(false);
        }
        let mut found = Vec::new();
        for (id, directory) in self.catalog.directories() {
            for (name, entry) in &directory.entries {
                let is_file = entry.node.kind == ChangedFileKind::File;
                if let Some(mark) = wanted.get(&entry.inode).filter(|_| is_file) {
                    found.push((entry.inode, (id, name.clone()), *mark));
                }
            }
        }
        let mut is_more = false;
        for (inode, key, mark) in found {
            let known = self.links.count(inode);
            if self.links.add(inode, key.clone()) > known {
                // The file was read when it had one name, and may have been written by another name since.
                self.marks.add(key, FileReports { closed: true, by_link: true, ..mark });
                is_more = true;
            }
        }
        for inode in wanted.into_keys() {
            self.watch_outside_names(inode)?;
        }
        Ok(is_more)
    }

    /// Adds a report to the other names of a file.
    pub(super) fn mark_other_names(&mut self, inode: InodeIdentity, key: &CatalogKey, mark: FileReports) {
        for other in self.links.names(inode).into_iter().filter(|name| name != key) {
            self.marks.add(other, mark);
        }
    }

    /// Handles the loss of a name of a file that had several names: the name is gone, or belongs to another file now.
    pub(super) fn forget_link(&mut self, key: &CatalogKey, before: &CatalogEntry) {
        self.links.remove(before.inode, key);
        for name in self.links.names(before.inode) {
            // The number of names differs now, and a process that has the file open by the lost name can still write.
            self.marks.add(name, FileReports { closed: true, by_link: true, ..FileReports::default() });
        }
        if self.links.count(before.inode) == 0
            && let Some(watch) = self.links.watches.remove(&before.inode)
        {
            self.watch.remove(watch);
            self.forget_watch(watch);
        }
    }

    /// Watches a file that has names unknown to the tree.
    fn watch_outside_names(&mut self, inode: InodeIdentity) -> Result<(), TreeWatchFailure> {
        let Some(name) = self.links.names(inode).into_iter().next() else { return Ok(()) };
        let all = self.catalog.entry(&name).map_or(0, |entry| entry.links as usize);
        if self.links.count(inode) >= all || self.links.watches.contains_key(&inode) {
            return Ok(());
        }
        let root = self.root().display().to_string();
        let is_full = self.links.watches.len() >= MAX_LINK_WATCHES || !self.budget.take();
        let path = self.catalog.path_of(&name);
        let added = if is_full { None } else { Some(self.watch.add_file(&path)) };
        match added {
            Some(Ok(watch)) => {
                self.watched.insert(watch, WatchTarget::File(inode));
                self.links.watches.insert(inode, watch);
            }
            // The name has just gone. A report of its removal follows, and leads to the other names.
            Some(Err(error)) if is_gone(&error) => self.budget.give(1),
            failed => {
                let why = || format!("many files have names outside of {root}, by which they may have been changed");
                self.trouble.standing.get_or_insert_with(why);
                if failed.is_some() {
                    self.budget.give(1);
                }
            }
        }
        Ok(())
    }
}
