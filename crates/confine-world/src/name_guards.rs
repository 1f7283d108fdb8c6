//! Names that must not be created.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A directory in which some names are protected, do not exist, and must not be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardedDirectory {
    /// The device and the inode of the directory.
    pub directory: (u64, u64),
    /// Path of the directory.
    pub path: PathBuf,
    /// The names.
    pub names: Vec<OsString>,
}

/// All names that must not be created in a world.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameGuards {
    /// The directories, each once.
    pub directories: Vec<GuardedDirectory>,
}

impl NameGuards {
    /// Returns whether this name must not be created in the directory with this device and inode.
    pub fn forbids_name(&self, directory: (u64, u64), name: &OsStr) -> bool {
        let guarded = self.directories.iter().filter(|guarded| guarded.directory == directory);
        guarded.flat_map(|guarded| &guarded.names).any(|guarded| guarded == name)
    }

    /// Returns whether one of the names exists.
    pub(super) fn are_broken(&self) -> bool {
        let exists = |guarded: &GuardedDirectory| {
            guarded.names.iter().any(|name| guarded.path.join(name).symlink_metadata().is_ok())
        };
        self.directories.iter().any(exists)
    }

    /// Adds a name. `path` is the directory's.
    pub(super) fn add(&mut self, directory: (u64, u64), path: PathBuf, name: OsString) {
        match self.directories.iter_mut().find(|guarded| guarded.directory == directory) {
            Some(guarded) if guarded.names.contains(&name) => {}
            Some(guarded) => guarded.names.push(name),
            None => self.directories.push(GuardedDirectory { directory, path, names: vec![name] }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_guarded_in_its_directory_alone() {
        let mut guards = NameGuards::default();
        guards.add((1, 2), "/a".into(), ".envrc".into());
        guards.add((1, 2), "/a".into(), ".envrc".into());
        guards.add((1, 2), "/a".into(), ".idea".into());
        guards.add((1, 3), "/b".into(), ".vscode".into());
        assert_eq!(guards.directories.len(), 2);
        assert_eq!(guards.directories[0].names.len(), 2);
        for (directory, name, expected) in
            [((1, 2), ".idea", true), ((1, 3), ".idea", false), ((2, 2), ".idea", false), ((1, 2), ".ide", false)]
        {
            assert_eq!(guards.forbids_name(directory, OsStr::new(name)), expected, "{directory:?} {name}");
        }
    }
}
