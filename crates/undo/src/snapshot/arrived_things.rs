//! New things in a tree: made, or moved there.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::open_directory::OpenDirectory;
use crate::path_lookup::read_state;
use crate::path_state::{FileIdentity, PathState};

/// The current places of earlier directories.
#[derive(Debug, Default)]
pub(super) struct ArrivedThings {
    /// Directories that are not at their earlier place, by their earlier paths.
    pub gone: BTreeMap<PathBuf, FileIdentity>,
    /// The new things, by their current paths.
    pub new: BTreeMap<PathBuf, PathState>,
    /// The new directories, and the directories in them.
    directories: HashMap<FileIdentity, PathBuf>,
    /// The earlier directories, by their current paths.
    pub moved: BTreeMap<PathBuf, (PathBuf, FileIdentity)>,
}

impl ArrivedThings {
    /// Adds a new thing.
    pub fn add(&mut self, path: PathBuf, state: PathState, until: Instant) {
        if let PathState::Directory(meta) = &state {
            self.directories.insert(meta.id, path.clone());
            if let Ok(directory) = OpenDirectory::root(&path) {
                self.add_below(&directory, &path, meta.id.device, until);
            }
        }
        self.new.insert(path, state);
    }

    fn add_below(&mut self, directory: &OpenDirectory, path: &Path, device: u64, until: Instant) {
        for name in directory.names(until).ok().flatten().unwrap_or_default() {
            let Ok(PathState::Directory(meta)) = read_state(&directory.reach(&name)) else { continue };
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
    pub fn find(&mut self, before: &Path, id: FileIdentity) -> Option<PathBuf> {
        let now = self.directories.remove(&id)?;
        self.moved.insert(now.clone(), (before.to_owned(), id));
        Some(now)
    }
}
