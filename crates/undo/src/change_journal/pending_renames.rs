//! Renames that may or may not have happened yet.

use std::io;

use super::ChangeJournal;
use crate::manifest::{ManifestRecord, RecordedRename};
use crate::path_lookup::read_state;

/// Renames of files that are checked before each change.
const PENDING: usize = 32;

impl ChangeJournal {
    /// Gives up renames of files that have failed, because their calls were answered long ago. A rename across file
    /// systems fails for each file. Renames of directories stay, because they decide where later paths lead.
    pub(super) fn drop_failed_renames(&mut self) {
        let is_of_file = |moving: &RecordedRename| !moving.directory && moving.swap != Some(true);
        let mut surplus = self.pending.iter().filter(|moving| is_of_file(moving)).count().saturating_sub(PENDING);
        self.pending.retain(|moving| {
            let goes = surplus > 0 && is_of_file(moving);
            surplus -= usize::from(goes);
            !goes
        });
    }

    /// Records the renames that have happened by now.
    pub(super) fn confirm_renames(&mut self) -> io::Result<()> {
        for moving in std::mem::take(&mut self.pending) {
            if read_state(&moving.to)?.id() == Some(moving.id) {
                self.writer.append(&ManifestRecord::Renamed(moving.clone()))?;
                moving.apply(&mut self.names);
                self.directory = None;
            } else {
                self.pending.push(moving);
            }
        }
        Ok(())
    }
}
