//! Files with several names.

use std::collections::{HashMap, HashSet};

use super::entry::{Inode, Key};
use super::marks::Mark;
use sys::TreeWatchId;

/// The names of files that have several.
#[derive(Debug, Default)]
pub struct Links {
    names: HashMap<Inode, HashSet<Key>>,
    /// Watches of files that have names outside of the tree, too.
    pub watches: HashMap<Inode, TreeWatchId>,
    /// Files whose names have not all been looked for, and the reports on the known names.
    pub to_find: HashMap<Inode, Mark>,
}

impl Links {
    /// Adds a name. Returns how many are known.
    pub fn add(&mut self, inode: Inode, key: Key) -> usize {
        let names = self.names.entry(inode).or_default();
        names.insert(key);
        names.len()
    }

    /// Removes a name. Returns whether it was one.
    pub fn remove(&mut self, inode: Inode, key: &Key) -> bool {
        let Some(names) = self.names.get_mut(&inode) else { return false };
        let was_name = names.remove(key);
        if names.is_empty() {
            self.names.remove(&inode);
        }
        was_name
    }

    /// Returns the names that are known.
    pub fn names(&self, inode: Inode) -> Vec<Key> {
        self.names.get(&inode).into_iter().flatten().cloned().collect()
    }

    /// Returns how many names are known.
    pub fn count(&self, inode: Inode) -> usize {
        self.names.get(&inode).map_or(0, HashSet::len)
    }
}
