//! Names that must not be created.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use confine_world::NameGuards;

/// The device and the inode of a directory.
pub(super) type GuardedDirectoryId = (u64, u64);

/// Guarded names with their directories. The name is looked up first: most creations need no look at their directory.
///
/// Names are compared without regard to the case of ASCII letters, because a file system may ignore case, too.
#[derive(Debug, Default)]
pub(super) struct GuardedNames(HashMap<Vec<u8>, Vec<GuardedDirectoryId>>);

impl GuardedNames {
    /// Adds guards.
    pub fn add(&mut self, guards: &NameGuards) {
        for guarded in &guards.directories {
            for name in &guarded.names {
                self.0.entry(comparable_name(name)).or_default().push(guarded.directory);
            }
        }
    }

    /// Returns the directories in which a name must not be created. `None`: no directory.
    pub fn directories(&self, name: &[u8]) -> Option<&[GuardedDirectoryId]> {
        // Most names are short, and no guarded name is longer than this.
        let mut lower = [0_u8; 255];
        let lower = lower.get_mut(..name.len())?;
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        self.0.get(&*lower).map(Vec::as_slice)
    }
}

fn comparable_name(name: &OsString) -> Vec<u8> {
    name.as_bytes().to_ascii_lowercase()
}
