//! The earlier paths of the things that change.

use std::path::{Path, PathBuf};

use super::ChangeJournal;
use crate::path_map::split;

impl ChangeJournal {
    /// Returns the earlier path of an entry. `None` in a directory that the run made.
    pub(super) fn earlier_entry(&mut self, now: &Path) -> Option<PathBuf> {
        let Some((parent, name)) = split(now) else { return Some(now.to_owned()) };
        let earlier = self.earlier_directory(parent)?;
        // Most directories are where they were.
        let is_there = earlier.as_os_str() == parent.as_os_str();
        Some(if is_there { now.to_owned() } else { earlier.join(name) })
    }

    /// Returns the earlier path of a directory. `None`: the run made it, or nothing of before is there.
    fn earlier_directory(&mut self, now: &Path) -> Option<&Path> {
        if self.directory.as_ref().is_none_or(|(directory, _)| directory.as_os_str() != now.as_os_str()) {
            self.directory = Some((now.to_owned(), self.names.earlier_path_of_directory(now)));
        }
        self.directory.as_ref()?.1.as_deref()
    }

    /// Returns whether the run made the directory with this path, or nothing of before is there for another reason.
    pub fn has_made(&mut self, directory: &Path) -> bool {
        self.earlier_directory(directory).is_none()
    }

    /// Like [`Self::earlier_entry`], if the entry is not recorded yet.
    pub(super) fn unrecorded_entry(&mut self, now: &Path) -> Option<PathBuf> {
        self.earlier_entry(now).filter(|entry| !self.before.contains_key(entry))
    }
}
