//! Files with several names.

use std::collections::{HashMap, HashSet};

use super::catalog_entry::{CatalogKey, InodeIdentity};
use super::unread_reports::FileReports;
use sys::TreeWatchId;

/// The names of files that have several names.
#[derive(Debug, Default)]
pub struct HardLinks {
    names: HashMap<InodeIdentity, HashSet<CatalogKey>>,
    /// Watches of files that have more names outside of the tree.
    pub watches: HashMap<InodeIdentity, TreeWatchId>,
    /// Files whose names have not all been looked for, with the reports on the known names.
    pub to_find: HashMap<InodeIdentity, FileReports>,
    /// Whether a file was written to by a name that came and went. The file may have another name in the tree.
    pub has_passed: bool,
}

impl HardLinks {
    /// Records the reports on a name that came and went without being read.
    pub fn on_passing_name(&mut self, mark: Option<FileReports>) {
        self.has_passed |= mark.is_some_and(|mark| mark.written || mark.closed);
    }

    /// Adds a name. Returns the number of known names.
    pub fn add(&mut self, inode: InodeIdentity, key: CatalogKey) -> usize {
        let names = self.names.entry(inode).or_default();
        names.insert(key);
        names.len()
    }

    /// Removes a name. Returns whether it was known.
    pub fn remove(&mut self, inode: InodeIdentity, key: &CatalogKey) -> bool {
        let Some(names) = self.names.get_mut(&inode) else { return false };
        let was_name = names.remove(key);
        if names.is_empty() {
            self.names.remove(&inode);
        }
        was_name
    }

    /// Returns the names that are known.
    pub fn names(&self, inode: InodeIdentity) -> Vec<CatalogKey> {
        self.names.get(&inode).into_iter().flatten().cloned().collect()
    }

    /// Returns the number of known names.
    pub fn count(&self, inode: InodeIdentity) -> usize {
        self.names.get(&inode).map_or(0, HashSet::len)
    }
}
