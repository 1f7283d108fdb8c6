//! New things in a tree: made, or moved there.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::directory::Directory;
use crate::look::look;
use crate::node::{FileId, Node};

/// The current places of earlier directories.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Directories that are not at their earlier place, by their earlier paths.
    pub gone: BTreeMap<PathBuf, FileId>,
    /// The new things, by their current paths.
    pub new: BTreeMap<PathBuf, Node>,
    /// The new directories, and the directories in them.
    directories: HashMap<FileId, PathBuf>,
    /// The earlier directories, by their current paths.
    pub moved: BTreeMap<PathBuf, (PathBuf, FileId)>,
}

impl Places {
    /// Adds a new thing.
    pub fn add(&mut self, path: PathBuf, node: Node, until: Instant) {
        if let Node::Directory(meta) = &node {
            self.directories.insert(meta.id, path.clone());
            if let Ok(directory) = Directory::root(&path) {
                self.add_below(&directory, &path, meta.id.device, until);
            }
        }
        self.new.insert(path, node);
    }

    fn add_below(&mut self, directory: &Directory, path: &Path, device: u64, until: Instant) {
        for name in directory.names(until).ok().flatten().unwrap_or_default() {
            let Ok(Node::Directory(meta)) = look(&directory.reach(&name)) else { continue };
            let below = path.join(&name);
            if meta.id.device == device
                && let Ok(inner) = directory.inside(&name)
            {
                self.add_below(&inner, &below, device, until);
            }
            self.directories.insert(meta.id, below);
        }
    }

    /// Returns the current path of a directory that is not at its earlier place.
    pub fn find(&mut self, before: &Path, id: FileId) -> Option<PathBuf> {
        let now = self.directories.remove(&id)?;
        self.moved.insert(now.clone(), (before.to_owned(), id));
        Some(now)
    }
}
