//! A tree of directories as it was last seen.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::catalog_entry::{CatalogEntry, CatalogKey, DirectoryId};
use super::ignore_rules::IgnoreRules;
use sys::TreeWatchId;

/// The root of every catalog.
pub const ROOT: DirectoryId = 0;

/// A directory.
#[derive(Debug)]
pub struct CatalogDirectory {
    /// Entry of the directory in the directory above. The root has none.
    pub place: Option<CatalogKey>,
    /// Entries of the directory, by name.
    pub entries: HashMap<OsString, CatalogEntry>,
    /// The number of the directory's watch.
    pub watch: TreeWatchId,
    /// The rules by which git ignores files in the directory.
    pub rules: IgnoreRules,
    /// The highest ignored directory that contains this directory, or this directory itself.
    pub ignored: Option<DirectoryId>,
    /// Entries at all depths. Counted for the highest ignored directories only.
    pub count: usize,
    /// Whether the directory is large and ignored: only changes of its own entries are seen, and it lists no entries.
    pub is_summed_up: bool,
}

/// Directories with their entries.
#[derive(Debug, Default)]
pub struct TreeCatalog {
    root: PathBuf,
    directories: HashMap<DirectoryId, CatalogDirectory>,
    next: DirectoryId,
}

impl TreeCatalog {
    /// Creates a catalog, whose root is added later.
    pub fn new(root: PathBuf) -> Self {
        Self { root, ..Self::default() }
    }

    /// Returns the path of the root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Adds a directory. The first directory is the root.
    pub fn add(&mut self, directory: CatalogDirectory) -> DirectoryId {
        let id = self.next;
        self.next += 1;
        self.directories.insert(id, directory);
        id
    }

    /// Returns a directory, if this number is still in use.
    pub fn directory(&self, id: DirectoryId) -> Option<&CatalogDirectory> {
        self.directories.get(&id)
    }

    /// Returns a directory for a change.
    pub fn directory_mut(&mut self, id: DirectoryId) -> Option<&mut CatalogDirectory> {
        self.directories.get_mut(&id)
    }

    /// Removes a directory, without the directories in it.
    pub fn remove(&mut self, id: DirectoryId) -> Option<CatalogDirectory> {
        self.directories.remove(&id)
    }

    /// Returns all directories.
    pub fn directories(&self) -> impl Iterator<Item = (DirectoryId, &CatalogDirectory)> {
        self.directories.iter().map(|(id, directory)| (*id, directory))
    }

    /// Returns an entry.
    pub fn entry(&self, key: &CatalogKey) -> Option<&CatalogEntry> {
        self.directories.get(&key.0)?.entries.get(&key.1)
    }

    /// Returns the path of a directory.
    pub fn path(&self, id: DirectoryId) -> PathBuf {
        let mut names: Vec<&OsStr> = Vec::new();
        let mut at = id;
        while let Some((parent, name)) = self.directories.get(&at).and_then(|directory| directory.place.as_ref()) {
            names.push(name);
            at = *parent;
        }
        let mut path = self.root.clone();
        path.extend(names.into_iter().rev());
        path
    }

    /// Returns the path of an entry.
    pub fn path_of(&self, key: &CatalogKey) -> PathBuf {
        let mut path = self.path(key.0);
        // The root itself is an entry without a name.
        if !key.1.is_empty() {
            path.push(&key.1);
        }
        path
    }

    /// Finds the entry at a path below the root.
    pub fn find(&self, path: &Path) -> Option<(CatalogKey, &CatalogEntry)> {
        let names: Vec<_> = path.strip_prefix(&self.root).ok()?.iter().collect();
        let Some((last, above)) = names.split_last() else {
            let key = (ROOT, OsString::new());
            return self.entry(&key).map(|entry| (key.clone(), entry));
        };
        let mut at = ROOT;
        for name in above {
            at = self.directories.get(&at)?.entries.get(*name)?.directory?;
        }
        let entry = self.directories.get(&at)?.entries.get(*last)?;
        Some(((at, (*last).to_owned()), entry))
    }

    /// Returns the summed up directory in which a path lies.
    pub fn summed_up(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.root).ok()?;
        let mut at = ROOT;
        let mut above = self.root.clone();
        for name in below {
            let directory = self.directories.get(&at)?;
            if directory.is_summed_up {
                return Some(above);
            }
            at = directory.entries.get(name)?.directory?;
            above.push(name);
        }
        None
    }

    /// Returns whether a directory and all directories above it are in their places.
    pub fn is_attached(&self, id: DirectoryId) -> bool {
        let mut at = id;
        while let Some(directory) = self.directories.get(&at) {
            let Some(place) = &directory.place else { return true };
            if self.entry(place).and_then(|entry| entry.directory) != Some(at) {
                return false;
            }
            at = place.0;
        }
        false
    }

    /// Returns whether both directories are equal, or the first lies below the second.
    pub fn is_below(&self, id: DirectoryId, above: DirectoryId) -> bool {
        let mut at = Some(id);
        while let Some(id) = at {
            if id == above {
                return true;
            }
            at = self.directories.get(&id).and_then(|directory| directory.place.as_ref()).map(|(parent, _)| *parent);
        }
        false
    }

    /// Returns a directory and all directories below it, each before the directories in it.
    pub fn below(&self, id: DirectoryId) -> Vec<DirectoryId> {
        let mut found = vec![id];
        let mut at = 0;
        while let Some(id) = found.get(at) {
            if let Some(directory) = self.directories.get(id) {
                found.extend(directory.entries.values().filter_map(|entry| entry.directory));
            }
            at += 1;
        }
        found
    }
}
