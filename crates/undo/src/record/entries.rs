//! The earlier paths of the things that change.

use std::path::{Path, PathBuf};

use super::Recorder;

impl Recorder {
    /// Returns the earlier path of an entry. `None` in a directory that the run made.
    pub(super) fn entry(&mut self, now: &Path) -> Option<PathBuf> {
        let (Some(parent), Some(name)) = (now.parent(), now.file_name()) else { return Some(now.to_owned()) };
        if self.directory.as_ref().is_none_or(|(directory, _)| directory != parent) {
            self.directory = Some((parent.to_owned(), self.names.origin_of_directory(parent)));
        }
        self.directory.as_ref()?.1.as_ref().map(|directory| directory.join(name))
    }

    /// Returns whether the run made the directory of this path, or nothing of before is at the path for another reason.
    pub fn has_made_directory(&mut self, now: &Path) -> bool {
        now.parent().is_some() && self.entry(now).is_none()
    }

    /// Like [`Self::entry`], if the entry is not recorded yet.
    pub(super) fn new_entry(&mut self, now: &Path) -> Option<PathBuf> {
        self.entry(now).filter(|entry| !self.before.contains_key(entry))
    }
}
